"""Reranking by a cross-encoder that the user has as an ONNX file: question and message are read together."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.rerank.params import CrossEncoderParams
from memtrial.systems.raw_log.rerank.ranked import MOST, Reranked, arranged, repeated, tier_order

_DOING = "reranking with a cross-encoder"
_PADS = ("[PAD]", "<pad>", "<|endoftext|>")
# A message is cut to its tokens anyway; a pasted book must not be tokenised whole for that.
_CHARS_PER_TOKEN = 16


class Pairs(Protocol):
    """Scores texts against a question."""

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a score in [0, 1] for each text."""
        ...


@dataclass(slots=True)
class OnnxPairs:
    """A session of ONNX Runtime with its tokenizer."""

    session: Any
    tokenizer: Any
    batch: int
    path: Path

    @classmethod
    def load(cls, params: CrossEncoderParams) -> OnnxPairs:
        """Load the files.

        Raises:
            MissingExtraError: the packages are not installed.
            UserError: a file is missing, or is none of its kind.
        """
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError(_DOING, "rerank") from None
        path, words = _files(params)
        runtime: Any = onnxruntime
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # its faults come as exceptions, and are told once
        try:
            session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 (the runtime has a class for each fault, and no common one)
            raise UserError(f"{path} cannot be loaded as an ONNX model: {_short(error)}") from None
        if "input_ids" not in (names := [i.name for i in session.get_inputs()]):
            raise UserError(f"{path} takes {', '.join(names)}, but a cross-encoder takes input_ids")
        try:
            tokenizer = Tokenizer.from_file(str(words))
        except Exception as error:  # noqa: BLE001 (it raises the bare class)
            raise UserError(f"{words} cannot be read as a tokenizer.json: {_short(error)}") from None
        tokenizer.enable_truncation(params.max_tokens, strategy="longest_first")
        pad = next((p for p in _PADS if tokenizer.token_to_id(p) is not None), None)
        tokenizer.enable_padding(pad_id=tokenizer.token_to_id(pad) if pad else 0, pad_token=pad or _PADS[0])
        return cls(session, tokenizer, params.batch, path)

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return a score in [0, 1] for each text.

        Raises:
            UserError: the model gives something else than one or two numbers for a pair.
        """
        parts = [self._batch(question, texts[at : at + self.batch]) for at in range(0, len(texts), self.batch)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _batch(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        pairs = self.tokenizer.encode_batch([(question, text) for text in texts])
        columns = {
            "input_ids": [pair.ids for pair in pairs],
            "attention_mask": [pair.attention_mask for pair in pairs],
            "token_type_ids": [pair.type_ids for pair in pairs],
        }
        taken = {i.name: np.array(columns[i.name], np.int64) for i in self.session.get_inputs() if i.name in columns}
        try:
            logits = np.asarray(self.session.run(None, taken)[0], np.float64)
        except Exception as error:  # noqa: BLE001 (as above)
            raise UserError(f"{self.path} fails on a pair of texts: {_short(error)}") from None
        if logits.shape == (len(texts), 2):
            logits = logits[:, 1] - logits[:, 0]
        elif logits.size != len(texts):
            raise UserError(
                f"{self.path} gives an array of shape {logits.shape} for {len(texts)} pairs, but a cross-encoder gives one"
                " number for each, or two"
            )
        if not np.isfinite(logits).all():
            raise UserError(f"{self.path} gives numbers that are not finite")
        return 1.0 / (1.0 + np.exp(-np.clip(logits.reshape(-1), -60.0, 60.0)))


class CrossEncoder:
    """Ranks candidates by a model that reads each together with the question.

    Args:
        params: settings.
        pairs: scores them.
        log: where neighbours are found.
        ident: of the model's file, for the trace.
    """

    def __init__(self, params: CrossEncoderParams, pairs: Pairs, log: Log | None, ident: str = "") -> None:
        """Bind the reranker to its model."""
        self._params, self._pairs, self._log, self._ident = params, pairs, log, ident

    @classmethod
    def of(cls, params: CrossEncoderParams, log: Log | None) -> CrossEncoder:
        """Load the model; raises what :meth:`OnnxPairs.load` does."""
        pairs = OnnxPairs.load(params)
        with pairs.path.open("rb") as file:
            ident = hashlib.file_digest(file, "sha256").hexdigest()[:12]
        return cls(params, pairs, log, f"{pairs.path.name}#{ident}")

    def rerank(self, query: Query, items: Sequence[Evidence], scores: Sequence[float], trace: Trace) -> list[Reranked]:
        """Return the items, best first; see :meth:`Reranker.rerank`."""
        trace.facts.setdefault("rerank", {})["model"] = self._ident
        most = _CHARS_PER_TOKEN * self._params.max_tokens
        values = self._pairs.score(query.text[:most], [self._text(item)[:most] for item in items])
        tens = [MOST * float(value) for value in values]
        by_tier = tier_order(scores)
        order = sorted(by_tier, key=lambda index: -round(tens[index], 9))
        return arranged(order, tens, {}, repeated(items, order, self._params.merge_hours))

    def _text(self, item: Evidence) -> str:
        log = self._log
        position = log.position.get(item.message_ids[0], -1) if log is not None and len(item.message_ids) == 1 else -1
        if log is None or position < 0 or not self._params.around:
            return item.text
        around = log.around(position, self._params.reach)
        return "\n".join(item.text if p == position else log.messages[p].content for p in around)


def require(params: CrossEncoderParams) -> None:
    """See that the files are there and the packages installed; nothing is loaded.

    Raises:
        MissingExtraError: the packages are not installed.
        UserError: a file is missing.
    """
    if find_spec("onnxruntime") is None or find_spec("tokenizers") is None:
        raise MissingExtraError(_DOING, "rerank")
    _files(params)


def _files(params: CrossEncoderParams) -> tuple[Path, Path]:
    path = Path(params.path).expanduser()
    if not path.is_file():
        raise UserError(f"rerank.path is {params.path!r}, but there is no such file; name the model's .onnx file")
    return path, _tokenizer_of(params, path)


def _tokenizer_of(params: CrossEncoderParams, path: Path) -> Path:
    if params.tokenizer:
        words = Path(params.tokenizer).expanduser()
        if not words.is_file():
            raise UserError(f"rerank.tokenizer is {params.tokenizer!r}, but there is no such file")
        return words
    for folder in (path.parent, path.parent.parent):
        if (words := folder / "tokenizer.json").is_file():
            return words
    raise UserError(f"no tokenizer.json beside {path}; name it as rerank.tokenizer")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


__all__ = ["CrossEncoder", "OnnxPairs", "Pairs"]
