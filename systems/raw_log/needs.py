"""What search in the raw log needs of its environment: a server's address, the files of a model, and packages."""

from __future__ import annotations

from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.raw_log.rerank.params import CrossEncoderParams


def require(params: RawLogParams) -> None:
    """See that all of it is there; no server is asked and no model loaded.

    Raises:
        UserError: an address or a file is missing; a package is not installed.
    """
    if params.index.backend == "elasticsearch":
        from memtrial.systems.stores.textindex_server import require as require_index

        require_index()
    if isinstance(params.rerank, CrossEncoderParams) and params.mode != "agent":  # an agent asks no reranker
        from memtrial.systems.raw_log.rerank.cross_encoder import require as require_encoder

        require_encoder(params.rerank)
