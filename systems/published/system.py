"""The ``published`` system: hands out the answers of a result file by question, with the verdicts published on them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.files import existing
from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.published.files import LOCOMO_CONVERSATIONS, PublishedAnswer, read_published
from memtrial.systems.published.files import fingerprint as file_fingerprint

FACT = "published"
"""Key in ``trace.facts`` under which the verdicts travel."""


class PublishedParams(BaseModel):
    """Parameters of ``published``.

    ``sha256`` is filled in from the files, so that changed answers make another trial; a stated one must fit them.
    ``unmatched``: a question without a published answer is an abstention, or an error of the system.
    """

    model_config = ConfigDict(extra="forbid")

    path: str = Field(description="a published result file, or a folder whose files make one run")
    unmatched: Literal["abstain", "error"] = "abstain"
    sha256: str = ""

    @model_validator(mode="after")
    def _fingerprinted(self) -> Self:
        found = file_fingerprint(existing(self.path, "system 'published', parameter 'path'"))
        if self.sha256 not in ("", found):
            raise UserError(
                f"system 'published': {self.path} has the SHA-256 {found[:12]}…, but {self.sha256[:12]}… is stated; "
                "the file has changed"
            )
        self.sha256 = found
        return self


class Published:
    """Answers from a published result file, by tenant and question text; it remembers and retrieves nothing.

    The verdicts on an answer are in its trace, as a second judge for the record. Where a text stands twice in a
    conversation a system cannot tell the questions apart: both get the first answer in order of the file's index.
    """

    Params: ClassVar[type[PublishedParams]] = PublishedParams
    gated: ClassVar[bool] = False

    def __init__(self, params: PublishedParams) -> None:
        """Use ``create``, which checks the parameters."""
        run = read_published(Path(params.path).expanduser())
        self._unmatched = params.unmatched
        self._name, self._judges = run.name, run.judges
        self._by_text: dict[str, dict[str, list[PublishedAnswer]]] = {}
        # The sort is stable: answers without an index keep the order of the file.
        for answer in sorted(run.answers, key=lambda a: -1 if a.index is None else a.index):
            here = self._by_text.setdefault(_normal(answer.question), {})
            here.setdefault(answer.conversation, []).append(answer)

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Read the file.

        Raises:
            UserError: it cannot be read, or is of no known format.
        """
        return cls(cls.Params.model_validate(dict(params)))

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """The answers were given long ago: nothing to take in."""

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Look the question up.

        Raises:
            LookupError: nothing was published on it and ``unmatched`` is ``error``.
        """
        found, why = self._find(query)
        if not found:
            trace.facts[FACT] = {"run": self._name, "matched": False}
            if self._unmatched == "error":
                raise LookupError(f"{self._name}: {why}")
            trace.warn(f"{self._name}: {why}; taken as abstaining")
            return Answer(abstained=True)
        chosen = found[0]
        if len({a.text for a in found}) > 1:
            trace.warn(f"{self._name}: {len(found)} answers to questions of the same text; the first is given")
        trace.facts[FACT] = {
            "run": self._name,
            "matched": True,
            "index": chosen.index,
            "same_text": len(found),
            "judges": list(self._judges),
            "verdicts": list(chosen.verdicts),
        }
        return Answer(chosen.text, abstained=not chosen.text.strip())

    async def close(self) -> None:
        """Nothing to let go of."""

    def _find(self, query: Query) -> tuple[list[PublishedAnswer], str]:
        here = self._by_text.get(_normal(query.text), {})
        if query.tenant_id in here:
            return here[query.tenant_id], ""
        # Pooled conversations share a tenant of another name; a text is then enough where only one conversation has it.
        if query.tenant_id not in LOCOMO_CONVERSATIONS:
            if len(here) == 1:
                return next(iter(here.values())), ""
            if here:
                return [], f"this text is asked in {len(here)} conversations and the tenant names none of them"
        return [], "no published answer to this question"


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
