"""What became of a call: one of a closed set of outcomes, with its tokens and its times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.messages import ToolCall

Status = Literal[
    "ok",
    "refused",
    "filtered",
    "truncated",
    "empty",
    "tool_call",
    "invalid",
    "rate_limited",
    "quota",
    "timeout",
    "connection",
    "server_error",
    "bad_reply",
    "auth",
    "bad_request",
    "no_model",
    "budget",
    "not_recorded",
]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call.

    Attributes:
        prompt: tokens sent, the cached ones among them.
        cached: part of ``prompt`` that the server had in its cache.
        completion: tokens written, the reasoning among them.
        reasoning: part of ``completion`` that was thought and not shown.
        estimated: at least one of the counts was not told by the server but counted here.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    estimated: bool = False

    def __add__(self, other: Usage) -> Usage:
        """Add up two calls."""
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
            self.estimated or other.estimated,
        )


@dataclass(slots=True)
class Reply:
    """What came of one question to a model.

    Attributes:
        status: ``ok`` or what went wrong; only an ``ok`` reply is an answer.
        text: what the model wrote, also where it is not ``ok`` (a refusal's words, a cut text).
        parsed: the validated object where a schema was asked for and the status is ``ok``.
        usage: tokens of everything that was answered, repairs and cut replies included.
        detail: one sentence for people; holds no secret.
        service_ms: time the server took for the attempts that were answered with a reply of the model (one, or two with
            a repair or a retried cut); None where there was none.
        wall_ms: everything from the first attempt's queueing to the end: waiting, failed attempts, pauses.
        attempts: requests sent.
        replayed: served from the record, asked by nobody now.
        recorded_ms: ``service_ms`` of the recorded call where ``replayed``.
        model: the name the server gave its model, "" where it gave none.
        tool_calls: what the model wants done where tools were offered; ``text`` may be empty then.
        flags: what a reader of the report should know: ``truncated_by_server``, ``usage_missing``, ``model_mismatch``,
            ``extra_choices``, ``thinking_removed``, ``invalid_utf8``, ``dropped:PARAMETER``, ``repaired``, ``enlarged``.
    """

    status: Status
    text: str = ""
    parsed: Any | None = None
    usage: Usage = field(default_factory=Usage)
    detail: str = ""
    service_ms: float | None = None
    wall_ms: float = 0.0
    attempts: int = 0
    replayed: bool = False
    recorded_ms: float | None = None
    model: str = ""
    flags: tuple[str, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether this is an answer."""
        return self.status == "ok"


class RunStop(UserError):
    """Every further call would end the same way, so the run ends here, with one sentence and exit code 2."""

    def __init__(self, sentence: str, reply: Reply) -> None:
        """Keep the outcome of the call that found out.

        Args:
            sentence: what the user reads; holds no secret.
            reply: status ``quota``, ``auth``, ``no_model``, ``connection``, ``timeout`` or ``budget``; its usage is what
                the call had cost until then.
        """
        super().__init__(sentence)
        self.reply = reply


class QuotaExhausted(RunStop):
    """The account's quota or balance is used up."""


class AuthRejected(RunStop):
    """The key is missing, wrong, or not allowed to use the model."""


class ModelMissing(RunStop):
    """The endpoint has no such model, or the address is none of a model's endpoint."""


class EndpointUnreachable(RunStop):
    """No connection to the endpoint has ever come about, or its certificate is not trusted."""


class BudgetSpent(RunStop):
    """The next request could pass the budget; it was not sent."""


class ModelCallError(Exception):
    """A call that has no outcome object to put its failure into (embeddings) failed."""

    def __init__(self, reply: Reply) -> None:
        """Say what came of it."""
        super().__init__(f"{reply.status}: {reply.detail}")
        self.reply = reply
