"""One question to a model, with everything it may take: waiting, retries, another way of putting it, one repair."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from memtrial.systems.models.llm.budget import Budget, BudgetReached, worst_prompt_tokens
from memtrial.systems.models.llm.dialect import Dialect
from memtrial.systems.models.llm.endpoint import Endpoint
from memtrial.systems.models.llm.faults import Heard, RawReply, TransportFaultError, heard_from_fault
from memtrial.systems.models.llm.limiter import Clock
from memtrial.systems.models.llm.messages import ChatMessage, Tool, wire_message
from memtrial.systems.models.llm.outcome import (
    AuthRejected,
    BudgetSpent,
    EndpointUnreachable,
    ModelMissing,
    QuotaExhausted,
    Reply,
    RunStop,
    Usage,
)
from memtrial.systems.models.llm.prices import Price, cost_of
from memtrial.systems.models.llm.replies import read_reply
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.structured import (
    CutShortError,
    UnusableError,
    read_object,
    repair_turn,
    response_format,
    shape_of,
    with_instruction,
)

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0
# A service that wants to be left alone for longer has run into a limit per day; waiting it out is the user's choice.
_LONGEST_WISH_S = 300.0
# A server that is just starting comes up within a retry or two; one that has never been there is not waited for.
_TRIES_TO_CONNECT = 2


@dataclass(slots=True)
class Tally:
    """What a question has cost so far.

    Attributes:
        attempts: requests sent.
        usage: tokens of all replies of the model, None where it gave none.
        service_ms: time of the attempts that the model answered, None where it answered none.
        flags: in order of appearance.
        unclear: attempts that failed and may have been charged for.
    """

    attempts: int = 0
    usage: Usage | None = None
    service_ms: float | None = None
    flags: dict[str, None] = field(default_factory=dict)
    unclear: int = 0

    def add(self, heard: Heard, ms: float) -> None:
        """Count an attempt."""
        self.unclear += heard.billable
        if heard.usage is not None:
            self.usage = heard.usage if self.usage is None else self.usage + heard.usage
            if not heard.retry:
                self.service_ms = (self.service_ms or 0.0) + ms
        self.flags |= dict.fromkeys(heard.flags)


class Exchange:
    """Asks one model of one endpoint."""

    def __init__(
        self,
        settings: ModelSettings,
        endpoint: Endpoint,
        dialect: Dialect,
        clock: Clock,
        budget: Budget | None = None,
        price: Price | None = None,
    ) -> None:
        """Put the parts together; see :class:`~memtrial.systems.models.llm.client.Client`."""
        self._settings, self._endpoint, self._dialect = settings, endpoint, dialect
        self._transport, self._limiter = endpoint.transport, endpoint.limiter
        self._clock, self._budget, self._price = clock, budget, price
        self._random = random.Random(settings.seed)

    async def ask(
        self,
        messages: Sequence[ChatMessage],
        schema: type[BaseModel] | None,
        tally: Tally,
        tools: Sequence[Tool] = (),
    ) -> tuple[Heard, BaseModel | None]:
        """Ask until there is an outcome.

        Args:
            messages: cleaned.
            schema: shape of the object wanted, or None for text.
            tally: is added to, also where this raises.
            tools: that the model may call; with a schema, a reply that calls one is none of that shape, and needs not be.

        Raises:
            RunStop: quota, key or budget end the run.
        """
        settings = self._settings
        most = settings.max_tokens
        talk: list[ChatMessage] = []
        repaired = enlarged = False
        while True:
            heard = await self._chat(messages, talk, schema, most, tally, tools)
            problem, parsed = "", None
            plain = schema is None or bool(heard.tool_calls)
            if heard.status not in ("ok", "truncated") or (plain and not (tools and heard.status == "truncated")):
                return heard, None
            if heard.status == "ok" and schema is not None:
                try:
                    return heard, read_object(heard.text, schema)
                except CutShortError as error:
                    # Some servers call a cut reply finished; the count gives it away.
                    cut = heard.usage is not None and not heard.usage.estimated and heard.usage.completion >= most
                    problem = str(error)
                    if cut:
                        heard.status, heard.detail = "truncated", "the reply ends inside its JSON at max_tokens"
                except UnusableError as error:
                    problem = str(error)
            if heard.status == "truncated":
                if enlarged:
                    return heard, parsed
                enlarged, most = True, most * 2
                tally.flags["enlarged"] = None
            else:
                if repaired:
                    heard.status, heard.detail = "invalid", f"after one repair: {problem}"
                    return heard, parsed
                repaired, talk = True, repair_turn(heard.text, problem)
                tally.flags["repaired"] = None

    async def post(
        self,
        path: str,
        make: Callable[[], dict[str, Any]],
        read: Callable[[RawReply], Heard],
        tally: Tally,
        worst: tuple[int, int],
    ) -> Heard:
        """Send a request until it is answered, cannot be helped, or the retries are used up.

        Args:
            path: below the endpoint's address.
            make: returns the body; called for each attempt, as the dialect may have been learnt meanwhile.
            read: from a response to what it says.
            tally: is added to.
            worst: most tokens of prompt and reply, for the budget.

        Raises:
            RunStop: quota, key or budget end the run.
        """
        failures = 0
        while True:
            body = make()
            heard = await self._attempt(path, body, read, tally, worst)
            if heard.status in ("bad_request", "server_error") and self._dialect.learn(heard.complaint, body):
                continue
            stop = self._stopping(heard, tally, failures)
            if stop is not None:
                self._endpoint.stop = stop
                raise stop
            if not heard.retry or failures >= self._settings.max_retries:
                return heard
            if heard.wait_s is not None and heard.wait_s > _LONGEST_WISH_S:
                heard.detail += f"; the service asks for a pause of {heard.wait_s:.0f} s, longer than is waited for"
                return heard
            await self._clock.sleep(self._pause(failures, heard.wait_s))
            failures += 1

    async def _chat(
        self,
        messages: Sequence[ChatMessage],
        talk: Sequence[ChatMessage],
        schema: type[BaseModel] | None,
        most: int,
        tally: Tally,
        tools: Sequence[Tool],
    ) -> Heard:
        settings, dialect = self._settings, self._dialect
        sent: list[ChatMessage] = []

        def make() -> dict[str, Any]:
            told = messages if schema is None else with_instruction(messages, schema, dialect.mode)
            sent[:] = [*told, *talk]
            body: dict[str, Any] = {
                "model": settings.model,
                "messages": [wire_message(m) for m in sent],
                dialect.limit_name: most,
            }
            for name, value in (("temperature", settings.temperature), ("seed", settings.seed)):
                if name in dialect.dropped:
                    tally.flags[f"dropped:{name}"] = None
                elif value is not None:
                    body[name] = value
            if tools:
                body["tools"] = [tool.wire() for tool in tools]
            shape = None if schema is None else response_format(schema, dialect.mode)
            return body if shape is None else {**body, "response_format": shape}

        schema_chars = len(str(shape_of(schema))) + 200 if schema is not None and self._budget else 0
        schema_chars += sum(len(str(tool.wire())) for tool in tools) if self._budget else 0
        worst = (worst_prompt_tokens([*messages, *talk], schema_chars), most) if self._budget else (0, 0)
        return await self.post(
            "/chat/completions",
            make,
            lambda raw: read_reply(raw, settings.model, sent, tools=bool(tools)),
            tally,
            worst,
        )

    async def _attempt(
        self,
        path: str,
        body: Mapping[str, Any],
        read: Callable[[RawReply], Heard],
        tally: Tally,
        worst: tuple[int, int],
    ) -> Heard:
        async with self._limiter.slot() as generation:
            stop = self._endpoint.stop
            if stop is not None:  # found out while this one was waiting
                raise type(stop)(str(stop), Reply(stop.reply.status, detail=stop.reply.detail))
            held = None
            if self._budget is not None and self._price is not None:
                try:
                    held = await self._budget.reserve(*worst, self._price)
                except BudgetReached as error:
                    reply = Reply("budget", usage=tally.usage or Usage(), detail=str(error), attempts=tally.attempts)
                    raise BudgetSpent(str(error), reply) from None
            self._transport.prepare()
            tally.attempts += 1
            usd: float | None = None
            began = self._clock.now()
            try:
                try:
                    raw = await self._transport.post(path, body)
                    self._endpoint.reached = True
                    heard = read(raw)
                except TransportFaultError as fault:
                    self._endpoint.reached = self._endpoint.reached or fault.sent
                    heard = heard_from_fault(fault)
                if heard.usage is not None:
                    usd = cost_of(heard.usage, self._price)
                elif not heard.billable:
                    usd = 0.0
            finally:
                if held is not None and self._budget is not None:
                    self._budget.settle(held, usd)
            heard.detail = self._transport.redact(heard.detail)
            tally.add(heard, (self._clock.now() - began) * 1000.0)
            if heard.congested:
                self._limiter.refused(generation, heard.wait_s)
            elif heard.usage is not None:
                self._endpoint.answered = True
                self._limiter.succeeded(generation)
            return heard

    def _pause(self, failures: int, wish_s: float | None) -> float:
        """Return how long to wait: as the service says and a little more, else anything up to a doubling bound."""
        if wish_s:
            return wish_s + self._random.uniform(0.0, min(1.0, 0.1 * wish_s))
        return self._random.uniform(0.0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**failures))

    def _stopping(self, heard: Heard, tally: Tally, failures: int) -> RunStop | None:
        """Return what ends the run, where every further call would end as this attempt did."""
        settings, endpoint = self._settings, self._endpoint
        reply = Reply(heard.status, usage=tally.usage or Usage(), detail=heard.detail, attempts=tally.attempts)
        where = f"{settings.public_url} ({heard.detail})"
        if heard.status == "quota":
            return QuotaExhausted(
                f"the quota or balance of the account is used up at {where}; run the same command again once it is"
                " topped up: what finished is kept",
                reply,
            )
        if heard.status == "auth" and not self._transport.has_key:
            return AuthRejected(
                f"a key is wanted by {where}: set the environment variable {settings.api_key_env}", reply
            )
        if heard.status == "auth":
            return AuthRejected(
                f"the key in {settings.api_key_env} is not accepted for model {settings.model!r} by {where}", reply
            )
        if heard.status == "no_model" or (heard.nothing_there and not endpoint.answered):
            reply.status = "no_model"
            return ModelMissing(
                f"model {settings.model!r} is not found at {where}: correct the model's name, or the address, which"
                " mostly ends in /v1",
                reply,
            )
        if heard.untrusted:
            return EndpointUnreachable(
                f"the certificate of {where} is not trusted: name the file with your authority's certificate in the"
                " environment variable SSL_CERT_FILE, or correct the address",
                reply,
            )
        if heard.unreached and not endpoint.reached and failures >= min(_TRIES_TO_CONNECT, settings.max_retries):
            return EndpointUnreachable(
                f"nothing can be reached at {where}: start the server, or correct the address or the network, and run"
                " the same command again: what finished is kept",
                reply,
            )
        return None
