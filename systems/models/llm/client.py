"""The one way to a language model: asked or replayed, recorded, counted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from pydantic import BaseModel

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.budget import Budget, require_prices
from memtrial.systems.models.llm.dialect import dialect_of
from memtrial.systems.models.llm.embedding import embed_texts
from memtrial.systems.models.llm.endpoint import Endpoint
from memtrial.systems.models.llm.exchange import Exchange, Tally
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.limiter import Clock, Limiter, MonotonicClock
from memtrial.systems.models.llm.messages import ChatMessage, Tool, clean_messages
from memtrial.systems.models.llm.outcome import AuthRejected, Reply, RunStop, Status, Usage
from memtrial.systems.models.llm.prices import PriceTable, cost_of, price_of
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore, StoredCall
from memtrial.systems.models.llm.structured import UnusableError, read_object, shape_of

Replay = Literal["off", "prefer", "only"]
Phase = Literal["ingest", "query", "evaluation"]

_FLAGS = re.compile(r"((?:\[[\w:]+\])*) ?(.*)", re.DOTALL)


class Client:
    """Asks one model.

    Nothing is opened and no key is read before a request has to be sent, so a replay needs neither.

    Args:
        settings: which model, where and how.
        store: where calls are recorded and looked up; None records nothing.
        ledger: where tokens and money are counted.
        replay: ``off`` asks even where an earlier run has recorded a reply; ``prefer`` asks what is not recorded;
            ``only`` asks nothing.
        budget: is asked before every request; the model must have a price then.
        limiter: shared by clients of the same endpoint; each has its own otherwise.
        endpoint: shared by clients of the same endpoint, its connections and its limiter too; its owner closes it.
        prices: the price table; the built-in one otherwise.
        clock: for tests.

    Raises:
        UserError: a budget is set and the model's price is unknown.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        store: CallStore | None = None,
        ledger: Ledger | None = None,
        replay: Replay = "off",
        budget: Budget | None = None,
        limiter: Limiter | None = None,
        prices: PriceTable | None = None,
        clock: Clock | None = None,
        endpoint: Endpoint | None = None,
    ) -> None:
        """Open nothing yet."""
        self.settings = settings
        self.replay: Replay = replay
        self._own = endpoint is None
        self.endpoint = endpoint or Endpoint(settings, limiter)
        self._store, self._ledger, self._budget = store, ledger, budget
        self._clock: Clock = clock or MonotonicClock()
        self._price = price_of(settings.model, settings.price, prices)
        self._identity = settings.identity()
        self._exchange: Exchange | None = None
        self._asked: dict[str, asyncio.Future[StoredCall]] = {}
        if budget is not None and replay != "only":
            require_prices(budget.limit_usd, {settings.model: self._price})

    def __repr__(self) -> str:
        """Name the model and the endpoint."""
        return f"Client({self.settings.model!r} at {self.settings.public_url!r}, replay={self.replay!r})"

    @property
    def limiter(self) -> Limiter:
        """How many requests may be under way."""
        return self.endpoint.limiter

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
        """Ask, or serve what is recorded.

        Args:
            role: plan, extract, rerank, read, judge, …
            messages: the prompt.
            schema: the reply must be an object of this shape; it is in ``Reply.parsed`` then.
            repeat: number of the repeat; repeats share a reply at temperature 0 only.
            phase: for the ledger.
            trial: for the ledger.
            tools: that the model may call; what it calls is in ``Reply.tool_calls`` then. Without any, a call is the
                outcome ``tool_call``.

        Returns:
            The outcome; whatever goes wrong with this one call is a status, never an exception.

        Raises:
            RunStop: quota, key or budget rule out every further call.
            UserError: the key cannot be used, or the package is not installed.
        """
        began = self._clock.now()
        messages = clean_messages(messages)
        shape = shape_of(schema) if schema is not None else None
        key = (
            ""
            if self._store is None
            else self._store.key(self._identity, messages, shape, repeat, [tool.wire() for tool in tools])
        )
        mine: list[Reply] = []

        async def ask() -> StoredCall:
            reply, call = await self._ask(role, messages, schema, tools, phase, trial, began)
            mine.append(reply)
            return call

        call, shared = await self._call(key, ask)
        if call is None:
            return Reply("not_recorded", detail=self._missing(role))
        own = None if shared or not mine else mine[0]
        if own is None or (own.text, own.status, own.tool_calls) != (call.text, call.status, call.tool_calls):
            own = _from_record(call, schema)
        reply = own
        if self._ledger is not None:
            usd = cost_of(call.usage, self._price)
            self._ledger.add(
                role, phase, trial, self.settings.model, call.usage, usd, replayed=shared, status=reply.status
            )
        return reply

    async def embed(self, texts: Sequence[str], *, phase: Phase = "ingest", trial: str = "") -> list[list[float]]:
        """Return a vector for each text, in order; recorded and replayed text by text.

        Raises:
            ModelCallError: the endpoint gives none, or one is not recorded and nothing may be asked.
            RunStop: as for :meth:`complete`.
        """
        try:
            return await embed_texts(
                texts,
                identity=self._identity,
                settings=self.settings,
                store=self._store,
                ledger=self._ledger,
                price=self._price,
                replay=self.replay,
                exchange=self._open,
                phase=phase,
                trial=trial,
            )
        except RunStop:
            if self._ledger is not None:
                self._ledger.stopped()
            raise

    async def aclose(self) -> None:
        """Close the connections; the store is its owner's to close."""
        self._exchange = None
        if self._own:
            await self.endpoint.aclose()

    def _open(self) -> Exchange:
        if self._exchange is None:
            settings = self.settings
            dialect = dialect_of(settings.public_url, settings.model)
            try:
                self._exchange = Exchange(settings, self.endpoint, dialect, self._clock, self._budget, self._price)
            except UserError as error:  # the key cannot be used, and will not be able to for the next call
                self.endpoint.stop = AuthRejected(str(error), Reply("auth", detail=str(error)))
                raise self.endpoint.stop from None
        return self._exchange

    async def _call(self, key: str, ask: Any) -> tuple[StoredCall | None, bool]:
        """Return the call and whether it cost this asker nothing; None where it is not recorded and must not be asked."""
        store = self._store
        if self.replay == "only":
            found = None if store is None else store.outcome(key)
            return found, found is not None
        if store is None:
            return await ask(), False
        if self.replay == "prefer":
            return await store.once(key, ask)
        flight = self._asked.get(key)
        while flight is not None:
            with suppress(asyncio.CancelledError):
                call = await asyncio.shield(flight)
                if call.good:
                    return call, True
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
            flight = None if self._asked.get(key) is flight else self._asked.get(key)
        flight = self._asked[key] = asyncio.get_running_loop().create_future()
        try:
            call = await ask()
            store.put(key, call)
            flight.set_result(call)
            return call, False
        finally:
            flight.cancel()  # changes nothing where there is a result

    async def _ask(
        self,
        role: str,
        messages: list[ChatMessage],
        schema: type[BaseModel] | None,
        tools: Sequence[Tool],
        phase: Phase,
        trial: str,
        began: float,
    ) -> tuple[Reply, StoredCall]:
        tally = Tally()
        try:
            heard, parsed = await self._open().ask(messages, schema, tally, tools)
        except RunStop as stop:
            if self._ledger is not None:
                self._ledger.stopped()
            if self._ledger is not None and tally.usage is not None:  # a first reply that a second should have mended
                usd = cost_of(tally.usage, self._price)
                self._ledger.add(role, phase, trial, self.settings.model, tally.usage, usd, status="invalid")
            stop.reply.wall_ms = (self._clock.now() - began) * 1000.0
            raise
        reply = Reply(
            heard.status,
            text=heard.text,
            parsed=parsed,
            usage=tally.usage or Usage(),
            detail=heard.detail,
            service_ms=tally.service_ms,
            wall_ms=(self._clock.now() - began) * 1000.0,
            attempts=tally.attempts,
            model=heard.model,
            flags=tuple(tally.flags),
            tool_calls=heard.tool_calls,
        )
        call = StoredCall(
            status=reply.status,
            text=reply.text,
            finish_reason=heard.finish_reason,
            usage=tally.usage,
            service_ms=reply.service_ms or 0.0,
            wall_ms=reply.wall_ms,
            attempts=reply.attempts,
            model=self.settings.model,
            base_url=self.settings.public_url,
            echoed=reply.model,
            role=role,
            phase=phase,
            trial=trial,
            detail="".join(f"[{flag}]" for flag in reply.flags) + (f" {reply.detail}" if reply.detail else ""),
            tool_calls=reply.tool_calls,
        )
        return reply, call

    def _missing(self, role: str) -> str:
        if self._store is None:
            return "nothing may be asked with --replay only, and there is no record"
        return self._store.missing(role, self.settings.model)


def _from_record(call: StoredCall, schema: type[BaseModel] | None) -> Reply:
    found = _FLAGS.fullmatch(call.detail)
    flags, detail = (found[1], found[2]) if found is not None else ("", call.detail)
    status: Status = call.status  # type: ignore[assignment]
    parsed: BaseModel | None = None
    if call.good and schema is not None and not call.tool_calls:
        try:
            parsed = read_object(call.text, schema)
        except UnusableError as error:  # the record was edited, or validation has become stricter
            status, detail = "invalid", f"the recorded reply does not fit: {error}"
    return Reply(
        status,
        text=call.text,
        parsed=parsed,
        usage=call.usage or Usage(),
        detail=detail,
        service_ms=call.service_ms or None,
        wall_ms=call.wall_ms,
        attempts=call.attempts,
        replayed=True,
        recorded_ms=call.service_ms or None,
        model=call.echoed,
        flags=tuple(re.findall(r"\[([\w:]+)\]", flags)),
        tool_calls=call.tool_calls,
    )
