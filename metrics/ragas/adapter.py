"""How ragas' metrics ask: through memtrial's client, whose calls are recorded, replayed and counted, and never by themselves.

ragas takes anything that is an instance of its two abstract classes, so the classes here are registered with those rather
than derived from them: they can be read, typed and tested where ragas is not installed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar

from pydantic import BaseModel

from memtrial.datasets.errors import MissingExtraError
from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.role import ModelClient

ROLE = "ragas"
Shape = TypeVar("Shape", bound=BaseModel)
Embed = Callable[[str], Awaitable[Sequence[float]]]


class UnscoredError(Exception):
    """A metric cannot have a value for this answer.

    Attributes:
        reason: status of the call, or what is wrong with its reply; one word.
    """

    def __init__(self, reason: str, detail: str) -> None:
        """Keep the reason for counting."""
        super().__init__(detail)
        self.reason = reason


class AskingLLM:
    """The model as one metric asks it about one answer."""

    def __init__(self, client: ModelClient, *, trial: str = "") -> None:
        """Bind a client.

        Args:
            client: asks, records, replays and counts.
            trial: for the ledger.
        """
        self._client, self._trial = client, trial
        self._asked: dict[tuple[str, str], int] = {}
        self._statements: int | None = None
        self.usage = Usage()

    async def agenerate(self, prompt: str, response_model: type[Shape]) -> Shape:
        """Ask for an object.

        Raises:
            UnscoredError: there is none, or it is one that the metric would turn into a wrong number.
        """
        name = (response_model.__name__, prompt)
        repeat = self._asked[name] = self._asked.get(name, -1) + 1
        messages: list[ChatMessage] = [{"role": "user", "content": prompt}]
        reply = await self._client.complete(
            ROLE, messages, schema=response_model, repeat=repeat, phase="evaluation", trial=self._trial
        )
        self.usage += reply.usage
        if reply.status != "ok":
            raise UnscoredError(reply.status, reply.detail)
        if not isinstance(reply.parsed, response_model):
            raise UnscoredError("invalid", f"the reply is no {response_model.__name__}")
        self._check(reply.parsed)
        return reply.parsed

    def generate(self, prompt: str, response_model: type[Shape]) -> Shape:
        """Refuse: nothing here asks outside of the event loop."""
        raise NotImplementedError("only agenerate asks")

    def _check(self, reply: BaseModel) -> None:
        """Refuse what fits the form and would still become a number that means nothing.

        A text without statements is a perfect match to ragas, an empty classification scores 1, a verdict of 7 counts
        seven times, and verdicts on half of the statements are averaged as if they were all.
        """
        fields = dict(reply)
        for flag in _flags(reply):
            if flag not in (0, 1):
                raise UnscoredError("bad_verdict", f"a verdict is {flag}, but must be 0 or 1")
        statements = fields.get("statements")
        if isinstance(statements, list) and all(isinstance(s, str) for s in statements):
            if not any(s.strip() for s in statements):
                raise UnscoredError("no_statements", "the model found no statement in a text that is not empty")
            self._statements = len(statements)
        elif isinstance(statements, list) and self._statements is not None and len(statements) != self._statements:
            raise UnscoredError("verdicts_missing", f"{len(statements)} verdicts on {self._statements} statements")
        if set(fields) == {"TP", "FP", "FN"} and not any(fields.values()):
            raise UnscoredError("no_verdicts", "the model classified no statement")
        if "classifications" in fields and not fields["classifications"]:
            raise UnscoredError("no_verdicts", "the model classified no statement")
        if "question" in fields and not str(fields["question"]).strip():
            raise UnscoredError("no_question", "the model made no question from the answer")


class AskingEmbeddings:
    """Vectors for ragas; a text is embedded once, whoever asks and how many at the same time."""

    def __init__(self, embed: Embed) -> None:
        """Bind what embeds."""
        self._embed = embed
        self._tasks: dict[str, asyncio.Future[Sequence[float]]] = {}

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        """Return the vector of a text."""
        task = self._tasks.get(text)
        if task is None or task.cancelled():
            task = self._tasks[text] = asyncio.ensure_future(self._embed(text))
        return list(await asyncio.shield(task))

    async def aembed_texts(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        """Return the vectors of several texts."""
        return list(await asyncio.gather(*(self.aembed_text(text) for text in texts)))

    def embed_text(self, text: str, **_: Any) -> list[float]:
        """Refuse: nothing here asks outside of the event loop."""
        raise NotImplementedError("only aembed_text asks")


def _flags(reply: BaseModel) -> list[int]:
    """Return every yes-or-no number of a reply, also of the objects in it."""
    found: list[int] = []
    for name, value in reply:
        if name in ("verdict", "attributed", "noncommittal"):
            found.append(value)
        elif isinstance(value, list):
            found += [flag for item in value if isinstance(item, BaseModel) for flag in _flags(item)]
    return found


@lru_cache(maxsize=1)
def load_ragas() -> Any:
    """Import ragas' metrics and make it take the classes of this module.

    Raises:
        MissingExtraError: it is not installed, or not with versions of its dependencies with which it can be imported.
    """
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # read once, when it is first needed: must stand before the import
    try:
        collections = import_module("ragas.metrics.collections")
        llms, embeddings = import_module("ragas.llms.base"), import_module("ragas.embeddings.base")
    except ImportError as error:
        raise MissingExtraError("scoring with ragas", "ragas") from error
    llms.InstructorBaseRagasLLM.register(AskingLLM)
    embeddings.BaseRagasEmbedding.register(AskingEmbeddings)
    return collections
