"""What structured memory needs of its environment: where the servers are, and their packages."""

from __future__ import annotations

import os

from memtrial.datasets.errors import UnavailableError
from memtrial.systems.structured.params import StructuredParams

POSTGRES = "MEMTRIAL_POSTGRES_URL"


def records_url(params: StructuredParams) -> str:
    """Return the address of the memory records' server; "" where they stand in the system's folder.

    Raises:
        UnavailableError: they are to stand on a server, and none is named.
    """
    if params.records.backend != "postgres":
        return ""
    url = os.environ.get(POSTGRES, "")
    if not url:
        raise UnavailableError(f"records.backend is 'postgres', but the environment variable {POSTGRES} is not set")
    return url


def require(params: StructuredParams) -> None:
    """See that every server is named and its client installed; no server is asked.

    Raises:
        UserError: an address is missing, or is none; a package is not installed.
    """
    if url := records_url(params):
        from memtrial.systems.stores.records_engine import require_postgres

        require_postgres(url)
    if params.vectors.backend == "server":
        from memtrial.systems.stores.vectors_server import require as require_vectors

        require_vectors()
