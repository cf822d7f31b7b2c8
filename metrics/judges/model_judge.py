"""A language model as a judge, asked through the same client, store and ledger as every other role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, create_model

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Question
from memtrial.metrics.judges.case import JudgeCase
from memtrial.metrics.judges.labels import JudgeLabel, Verdict
from memtrial.metrics.judges.parsing import parse_verdict
from memtrial.metrics.judges.rubrics import FAMILIES, Rubric, rubrics_of, select
from memtrial.metrics.records import Labels
from memtrial.systems.models.llm.messages import ChatMessage

Judged = Question | Labels | JudgeCase

NOT_ANSWERED = frozenset(
    {
        "connection",
        "timeout",
        "rate_limited",
        "server_error",
        "bad_reply",
        "quota",
        "auth",
        "bad_request",
        "no_model",
        "budget",
        "not_recorded",
    }
)
"""Statuses of calls to which no model said anything."""


class JudgeClient(Protocol):
    """The part of the client that a judge needs; ``settings`` (model, temperature, seed), where there, are checked."""

    async def complete(
        self,
        role: str,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel] | None = None,
        repeat: int = 0,
        phase: Literal["ingest", "query", "evaluation"] = "query",
        trial: str = "",
    ) -> Any:
        """Ask, and return a reply with status, text, usage and detail."""
        ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """The record of a judge's calls, whatever became of them; nothing is asked.

    A client serves good replies again and asks anew where the last one did not fit its form. A judge can often read the
    verdict in such a reply all the same, and must not pay for it twice.

    Attributes:
        look: looks a call up and counts nothing.
        serve: the same, and counts the call as replayed.
    """

    look: JudgeClient
    serve: JudgeClient


class ModelJudge:
    """Grades one answer a call.

    Tokens are charged to the phase ``evaluation``, never to the system that is judged.

    Attributes:
        name: how the judge is called.
        statuses: what became of its calls, by ``Reply.status``.
        complaint: the detail of the first call that was not answered.
    """

    def __init__(
        self, client: JudgeClient, rubric: str | Rubric = "ours", *, name: str = "", recorded: Recorded | None = None
    ) -> None:
        """Bind a client to a rubric.

        Args:
            client: asks the model.
            rubric: a family (``ours``, ``longmemeval``, ``locomo``), whose prompt is chosen by the question's labels, or
                one prompt for every question.
            name: how the judge is called in reports; the model's name by default.
            recorded: what earlier calls left, served where a verdict can be read in it.

        Raises:
            UserError: no such family, or the client's temperature is not 0 (a judge must not give two verdicts on one
                answer).
        """
        if isinstance(rubric, str):
            rubrics_of(rubric)
        settings = getattr(client, "settings", None)
        temperature = getattr(settings, "temperature", 0.0)
        if temperature != 0:
            raise UserError(
                f"the judge's temperature is {temperature:g}, but must be 0, so that it judges alike each time"
            )
        self._client, self._rubric, self._recorded = client, rubric, recorded
        self.statuses: Counter[str] = Counter()
        self.complaint = ""
        self.name = name or str(getattr(settings, "model", "") or "model")
        self._seed = getattr(settings, "seed", None)

    def describe(self) -> dict[str, Any]:
        """Return what a report prints about this judge: model, prompts with versions and hashes, temperature and seed."""
        rubrics = rubrics_of(self._rubric) if isinstance(self._rubric, str) else [self._rubric]
        return {
            "judge": self.name,
            "rubric": self._rubric if isinstance(self._rubric, str) else self._rubric.name,
            "prompts": [r.ident for r in rubrics],
            "temperature": 0.0,
            "seed": self._seed,
        }

    async def judge(
        self, labels: Judged, answer_text: str, *, abstained: bool = False, repeat: int = 0, trial: str = ""
    ) -> Verdict:
        """Grade an answer.

        Args:
            labels: the question, as loaded or as in a record.
            answer_text: untrusted; what it says about grades has no effect.
            abstained: the system's own flag, which settles the verdict without a call.
            repeat: asks once more where the client's store keeps repeats apart.
            trial: for the ledger.

        Returns:
            The verdict; ``unscored`` with the reason where the model gave none.
        """
        case = JudgeCase.of(labels)
        if abstained or not answer_text.strip():
            return Verdict("abstained", self.name, "the system abstained", status="rule")
        rubric = self._rubric if isinstance(self._rubric, Rubric) else select(self._rubric, case)
        judge = f"{self.name}/{rubric.ident}"
        request: dict[str, Any] = {
            "role": "judge",
            "messages": rubric.messages(case, answer_text),
            "schema": verdict_schema(rubric.labels, bool(case.lures) and "{{lures}}" in rubric.user),
            "repeat": repeat,
            "phase": "evaluation",
            "trial": trial,
        }
        if self._recorded is not None:
            found = await self._recorded.look.complete(**request)
            if (
                found.status == "invalid"
                and (old := _read(found, judge, rubric, case, answer_text)).label != "unscored"
            ):
                await self._recorded.serve.complete(**request)
                self.statuses[found.status] += 1
                return old
        reply = await self._client.complete(**request)
        self.statuses[reply.status] += 1
        if reply.status in NOT_ANSWERED and not self.complaint:
            self.complaint = str(reply.detail)
        return _read(reply, judge, rubric, case, answer_text)


def _read(reply: Any, judge: str, rubric: Rubric, case: JudgeCase, answer_text: str) -> Verdict:
    """Read a verdict out of a reply.

    A cut reply is never read, also where a verdict seems to stand in it; an unfitting form may hold an anchored one.
    """
    if reply.status not in ("ok", "invalid"):
        return Verdict("unscored", judge, f"{reply.status}: {reply.detail}", reply.usage, status=reply.status)
    parsed = parse_verdict(reply.text or "", answer=answer_text)
    if parsed.label not in (*rubric.labels, "unscored"):
        why = f"{parsed.label!r} is none of {', '.join(rubric.labels)}"
        return Verdict("unscored", judge, why, reply.usage, status=reply.status)
    lure = str(parsed.fields.get("lure") or "") if parsed.label == "wrong" else ""
    known = {kind for kind, _ in case.lures}
    return Verdict(
        parsed.label,
        judge,
        parsed.how if parsed.label == "unscored" else str(parsed.fields.get("reason") or parsed.how)[:500],
        reply.usage,
        lure if lure in known else "",
        reply.status,
    )


@lru_cache(maxsize=16)
def verdict_schema(labels: tuple[JudgeLabel, ...], lures: bool) -> type[BaseModel]:
    """Return the form of a reply; the reason comes before the verdict, so that it is thought of first."""
    fields: dict[str, Any] = {"reason": (str, ...)}
    if lures:
        fields["lure"] = (str, ...)
    fields["verdict"] = (Literal[labels], ...)
    return create_model("JudgeReply", __config__=ConfigDict(extra="forbid"), **fields)


__all__ = ["FAMILIES", "NOT_ANSWERED", "JudgeClient", "Judged", "ModelJudge", "Recorded", "verdict_schema"]
