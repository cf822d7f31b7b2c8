"""A model in one of its roles inside a system: asked, counted and timed in the trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from memtrial.datasets.wording import must
from memtrial.systems.base import Context, LlmCall, Span, Trace
from memtrial.systems.models.llm.messages import ChatMessage, Tool, text_of
from memtrial.systems.models.llm.outcome import Reply
from memtrial.systems.models.llm.prices import Price
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.prompts import Field as PromptField
from memtrial.systems.models.prompts import Prompt
from memtrial.systems.models.tokens import count_tokens

Phase = Literal["ingest", "query", "evaluation"]
Shape = TypeVar("Shape", bound=BaseModel)

_NOT_ASKED = frozenset({"budget", "not_recorded"})
# What makes an answer less than it looks; the other flags of a reply concern nobody but the one who debugs.
_WARNED = {
    "truncated_by_server": "the server cut the prompt",
    "model_mismatch": "another model than the one asked for answered",
}


class ModelRoleError(Exception):
    """A model gave no answer in its role. The runner turns this into an error outcome, never into an abstention.

    Attributes:
        role: of the model.
        status: as in ``Reply.status``.
    """

    def __init__(self, role: str, status: str, detail: str) -> None:
        """Say what became of the call; the detail holds no secret."""
        super().__init__(f"{role}: {status}" + (f": {detail}" if detail else ""))
        self.role = role
        self.status = status


class ModelClient(Protocol):
    """The part of the client that a role needs; ``settings.model``, where there, names the model in the trace."""

    async def complete(
        self,
        role: str,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel] | None = None,
        repeat: int = 0,
        phase: Phase = "query",
        trial: str = "",
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Ask, and return what came of it."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class ModelParams(BaseModel):
    """Settings of a model that a system names itself; what is None is taken from the run's settings for the role.

    The names are those of :class:`~memtrial.systems.models.llm.settings.ModelSettings`. They are written into the run's
    files, so nothing secret is accepted.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=(), hide_input_in_errors=True)

    model: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout_s: float | None = None
    max_retries: int | None = None
    max_concurrency: int | None = None
    price: Price | None = None

    @field_validator("*", mode="after")
    @classmethod
    def _as_in_settings(cls, value: Any, info: ValidationInfo) -> Any:
        name = info.field_name
        if value is None or name not in ModelSettings.model_fields or name == "price":
            return value
        try:
            settings = ModelSettings.model_validate({"model": "any", name: value})
        except ValidationError as error:
            raise ValueError(must(error.errors()[0])) from None
        if name == "base_url" and settings.public_url != value.rstrip("/"):
            raise ValueError("must hold no user, password or key, as it is written into the run's files")
        return value

    def overrides(self) -> dict[str, Any]:
        """Return the settings that are given."""
        given = {name: getattr(self, name) for name in ModelSettings.model_fields}
        return {name: value for name, value in given.items() if value is not None}


def settle_kind(value: Mapping[str, Any], kinds: Mapping[str, type[BaseModel]], where: str) -> dict[str, Any]:
    """Fill in which kind of part is meant, and let a change of ``kind`` alone take the others' defaults along.

    ``{model: NAME}`` alone means a model. A configuration is stored with every default filled in, so an axis
    ``reader.kind: [extractive, model]`` comes with the fields of the other kind.

    Args:
        value: parameters of the part.
        kinds: parameter models by kind, the default first.
        where: name of the part, for the error.
    """
    given = dict(value)
    names_model = given.get("model") is not None
    kind = given.setdefault("kind", "model" if names_model else next(iter(kinds)))
    own = kinds.get(kind) if isinstance(kind, str) else None
    if own is None:
        return given  # the union says what is allowed
    if names_model and "model" not in own.model_fields:
        raise ValueError(f"names a model, but is of the kind {kind!r}; set {where}.kind to 'model'")
    for other in kinds.values():
        for name, field in other.model_fields.items():
            if name not in own.model_fields and name in given and given[name] == _default_of(field):
                del given[name]
    return given


def _default_of(field: FieldInfo) -> Any:
    """Return a field's default as a stored configuration has it."""
    default = field.get_default(call_default_factory=True, validated_data={})
    return default.model_dump() if isinstance(default, BaseModel) else default


class ModelRole:
    """Asks one model in one role, for one system."""

    def __init__(
        self, role: str, client: ModelClient, *, phase: Phase = "query", trial: str = "", repeat: int = 0
    ) -> None:
        """Bind a client.

        Args:
            role: as in ``client_for``.
            client: asks the model.
            phase: whose time and money it is.
            trial: label of the trial, for the ledger.
            repeat: keeps the repeats of a trial apart where the temperature is above 0.
        """
        self.role = role
        self.client = client
        self._phase: Phase = phase
        self._trial, self._repeat = trial, repeat

    @classmethod
    def of(cls, role: str, context: Context, params: ModelParams, *, phase: Phase = "query") -> ModelRole:
        """Make the client from the run's settings and the system's own.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        from memtrial.systems.models.llm.factory import client_for  # a keyless run loads no client

        run = context.models
        client = client_for(role, context, params.overrides())
        return cls(role, client, phase=phase, trial=str(run.get("_trial", "")), repeat=int(run.get("_repeat", 0)))

    async def ask(
        self, prompt: Prompt, fields: dict[str, PromptField], schema: type[Shape], trace: Trace, span: Span
    ) -> Shape:
        """Ask for an object.

        Args:
            prompt: the template; its identity goes into the trace's facts.
            fields: what is filled in.
            schema: form of the reply.
            trace: gets usage, facts and warnings.
            span: from :func:`model_span`; gets the model's time.

        Raises:
            ModelRoleError: there is no usable reply: refused, cut, filtered, not reached, …
        """
        messages = prompt.render(**fields)
        trace.facts.setdefault("prompts", {})[prompt.role] = prompt.ident
        reply = await self.converse(messages, trace, span, schema=schema)
        if reply.status != "ok":
            raise ModelRoleError(self.role, reply.status, reply.detail)
        if not isinstance(reply.parsed, schema):
            raise ModelRoleError(self.role, "invalid", f"the reply is no {schema.__name__}")
        return reply.parsed

    async def converse(
        self,
        messages: Sequence[ChatMessage],
        trace: Trace,
        span: Span,
        *,
        schema: type[BaseModel] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Send a dialogue as it is, and return what came of it, whatever that is.

        Args:
            messages: everything said so far.
            trace: gets usage, tokens sent, and warnings.
            span: gets the model's time.
            schema: form of the reply; None for text.
            tools: that the model may call.
        """
        sent = trace.facts.setdefault("prompt_tokens", {})
        sent[self.role] = sent.get(self.role, 0) + sum(_count(text_of(m)) for m in messages)
        offered: dict[str, Any] = (
            {"tools": tools} if tools else {}
        )  # a client without tools will do where none are offered
        reply = await self.client.complete(
            self.role, messages, schema=schema, repeat=self._repeat, phase=self._phase, trial=self._trial, **offered
        )
        self._count(reply, trace, span)
        return reply

    async def aclose(self) -> None:
        """Close the client."""
        await self.client.aclose()

    def repeats(self, times: int) -> list[ModelRole]:
        """Return roles of the same client whose calls are kept apart, as no two repeats of a trial share a number.

        One for ``times`` 1 is like this role.
        """
        first = self._repeat * times
        return [
            ModelRole(self.role, self.client, phase=self._phase, trial=self._trial, repeat=first + n)
            for n in range(times)
        ]

    def _count(self, reply: Reply, trace: Trace, span: Span) -> None:
        if reply.status in _NOT_ASKED:
            return
        usage = reply.usage
        settings = getattr(self.client, "settings", None)
        trace.llm_calls.append(
            LlmCall(
                self.role,
                str(getattr(settings, "model", "") or reply.model),
                usage.prompt,
                usage.completion,
                usage.cached,
                usage.estimated,
            )
        )
        # A replayed call took what it took when it was first made, not what the look-up takes now.
        recorded = (reply.recorded_ms or 0.0) if reply.replayed else 0.0
        trace.replayed_ms += recorded
        span.model_ms += recorded if reply.replayed else reply.wall_ms
        for flag in reply.flags:
            if flag in _WARNED:
                trace.warn(f"{self.role}: {_WARNED[flag]} ({flag})")


def _count(text: str) -> int:
    """Count without keeping the text: whole prompts do not come again and would fill the cache."""
    return count_tokens.__wrapped__(text)


@contextmanager
def model_span(trace: Trace, stage: str) -> Iterator[Span]:
    """Time a stage like ``Trace.span``, and count in what replayed calls took when they were first made."""
    before = trace.replayed_ms
    span = Span(stage, 0.0)
    try:
        with trace.span(stage) as span:
            yield span
    finally:
        span.ms += trace.replayed_ms - before


__all__ = ["ModelClient", "ModelParams", "ModelRole", "ModelRoleError", "model_span", "settle_kind"]
