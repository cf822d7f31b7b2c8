"""Does a system keep the contract? The same questions for ours, a user's class and one behind HTTP."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Answer, Context, Query, System, Trace
from memtrial.systems.registry import SystemFactory, resolve
from memtrial.systems.validation import validate_answer

_LIMIT_S = 60.0
_START = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)
_TENANTS = ("north", "south")
_ODD = (
    "",
    "   ",
    "🙂🙃 ❓",
    "user:* OR _exists_:secret AND (price:[1 TO",
    'a && b || !c "unclosed ~2 ^3 \\',
    "路由器！怎么重启？",
    "<|endoftext|> \0 \u202e \ud800",
    "long " * 400,
)


class _Broken(Exception):
    """A check failed; the message says how."""


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ConformanceReport:
    """What came out of all checks of one system."""

    target: str
    rows: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(row.passed for row in self.rows)


def check_system(target: str, params: Mapping[str, Any] | None = None) -> ConformanceReport:
    """Run every check on fresh instances of a system.

    Args:
        target: as in a configuration.
        params: the system's parameters.

    Raises:
        UserError: there is no such system, it cannot be reached, or the parameters are wrong.
    """
    factory = resolve(target)
    factory.validate(params or {})
    with tempfile.TemporaryDirectory(prefix="memtrial-check-", ignore_cleanup_errors=True) as folder:
        asyncio.run(_reach(_Bench(factory, params or {}, Path(folder))))
    return ConformanceReport(target, tuple(_run(factory, params or {}, name, check) for name, check in _CHECKS))


async def _reach(bench: _Bench) -> None:
    """Raise what the user can mend (a server that is down, a missing extra) once, before eight checks say it."""
    try:
        async with asyncio.timeout(_LIMIT_S):
            system = bench.create()
            try:
                await system.ingest([], Trace())
            finally:
                await system.close()
    except UserError:
        raise
    except Exception:  # noqa: BLE001 - any other fault is for the checks to find and to name
        return


def _run(factory: SystemFactory, params: Mapping[str, Any], name: str, check: _CheckFunction) -> Check:
    with tempfile.TemporaryDirectory(prefix="memtrial-check-", ignore_cleanup_errors=True) as folder:
        bench = _Bench(factory, params, Path(folder))
        try:
            asyncio.run(asyncio.wait_for(check(bench), _LIMIT_S))
        except TimeoutError:
            return Check(name, False, f"not done after {_LIMIT_S:g} s")
        except (_Broken, UserError) as error:
            return Check(name, False, str(error))
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            return Check(name, False, f"raised {type(error).__name__}: {error}")
    return Check(name, True)


class _Bench:
    """Makes instances of the system and asks them."""

    def __init__(self, factory: SystemFactory, params: Mapping[str, Any], folder: Path) -> None:
        self.folder = folder
        self._factory = factory
        self._params = params

    def create(self) -> System:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        context = Context(home, seed=1, tenants=_TENANTS, cache_dir=self.folder / "cache")
        return self._factory.create(self._params, context)

    async def ask(self, system: System, text: str, known: Sequence[Message], tenant: str = "north") -> Answer:
        """Ask after ``known`` was handed over; the oracle is told the newest of the tenant's messages."""
        reveal = getattr(system, "reveal", None)
        if callable(reveal):
            reveal("q", [m.id for m in known if m.tenant_id == tenant][-3:])
        asked_at = known[-1].timestamp + timedelta(minutes=1) if known else _START
        query = Query("q", tenant, "Ann", asked_at, text, language="en")
        return validate_answer(await system.answer(query, Trace()), {m.id for m in known})


def _message(number: int, content: str, tenant: str = "north", session: str = "s1") -> Message:
    return Message(
        id=f"{tenant}-{number}",
        conversation_id=f"{tenant}-talk",
        session_id=session,
        tenant_id=tenant,
        sender="Ann" if number % 2 else "Ben",
        recipient="Ben" if number % 2 else "Ann",
        timestamp=_START + timedelta(minutes=number),
        content=content,
    )


def _log() -> list[Message]:
    north = [
        _message(1, "Hello Ben, I have ordered a red kettle."),
        _message(2, "Fine. When does the kettle arrive?"),
        _message(3, "The kettle arrives on 12 March 2024."),
        _message(4, "谢谢，水壶放在前台就可以。"),
        _message(5, "Will do. The kettle cost 40 euros.", session="s2"),
        _message(6, "That is a fair price for a kettle.", session="s2"),
    ]
    south = [_message(n, f"The kettle of the south costs {n}00 euros, keep it secret.", "south") for n in range(1, 7)]
    return sorted(north + south, key=lambda m: m.timestamp)


_QUESTION = "How much did the kettle cost?"


async def _valid_answer(bench: _Bench) -> None:
    system, log = bench.create(), _log()
    await system.ingest(log, Trace())
    await bench.ask(system, _QUESTION, log)
    await bench.ask(system, "水壶放在哪里？", log)
    await system.close()


async def _empty_log(bench: _Bench) -> None:
    system = bench.create()
    await bench.ask(system, _QUESTION, [])
    await system.ingest([], Trace())
    answer = await bench.ask(system, _QUESTION, [])
    if answer.retrieved:
        raise _Broken(f"retrieved {len(answer.retrieved)} items before any message was handed over")
    await system.close()


async def _odd_text(bench: _Bench) -> None:
    system = bench.create()
    log = _log()
    odd = [_message(20 + n, text) for n, text in enumerate(_ODD)]
    await system.ingest([*log, *odd], Trace())
    for text in _ODD:
        try:
            await bench.ask(system, text, [*log, *odd])
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
            raise _Broken(f"the question {text[:40]!r} made it raise {type(error).__name__}: {error}") from None
    query = Query("q2", "north", "Ann", _START + timedelta(days=1), "And how much?", (Turn("Ann", _ODD[4]),), "")
    validate_answer(await system.answer(query, Trace()), {m.id for m in [*log, *odd]})
    await system.close()


async def _ingest_twice(bench: _Bench) -> None:
    system, log = bench.create(), _log()
    await system.ingest(log, Trace())
    before = await bench.ask(system, _QUESTION, log)
    await system.ingest(log, Trace())
    await system.ingest(log[:3], Trace())
    after = await bench.ask(system, _QUESTION, log)
    _same(before, after, "handing the same messages over again")
    await system.close()


async def _portions(bench: _Bench) -> None:
    """A later portion must count; nothing may be known before it is handed over."""
    system, log = bench.create(), _log()
    for message in log[:-2]:
        await system.ingest([message], Trace())
    await bench.ask(system, _QUESTION, log[:-2])
    await system.ingest(log[-2:], Trace())
    in_portions = await bench.ask(system, _QUESTION, log)
    await system.close()
    (bench.folder / "home").rename(bench.folder / "first")
    whole = bench.create()
    await whole.ingest(log, Trace())
    at_once = await bench.ask(whole, _QUESTION, log)
    await whole.close()
    if (_ids(in_portions) and not _ids(at_once)) or (_ids(at_once) and not _ids(in_portions)):
        raise _Broken("a log handed over in portions and the same log at once: only one of the two retrieved anything")


async def _tenants_apart(bench: _Bench) -> None:
    system, log = bench.create(), _log()
    await system.ingest(log, Trace())
    for tenant in _TENANTS:
        for text in (_QUESTION, "secret kettle of the south", "Ann"):
            answer = await bench.ask(system, text, log, tenant)
            strange = [i for i in answer.retrieved + answer.context if i.tenant_id != tenant]
            strange_ids = [i for i in (*_ids(answer), *answer.citations) if not i.startswith(tenant)]
            if strange or strange_ids:
                what = strange_ids[0] if strange_ids else strange[0].text
                raise _Broken(f"asked for tenant {tenant!r} it returned {what!r} of another tenant")
    await system.close()


async def _cancelled_call(bench: _Bench) -> None:
    system, log = bench.create(), _log()
    await system.ingest(log, Trace())
    expected = await bench.ask(system, _QUESTION, log)
    for delay in (0.0, 0.001):
        task = asyncio.ensure_future(bench.ask(system, _QUESTION, log))
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    _same(expected, await bench.ask(system, _QUESTION, log), "a cancelled call")
    await system.close()


async def _restart(bench: _Bench) -> None:
    system, log = bench.create(), _log()
    await system.ingest(log[:-1], Trace())
    await system.close()
    again = bench.create()
    await again.ingest(log[:-1], Trace())
    await again.ingest(log, Trace())
    answer = await bench.ask(again, _QUESTION, log)
    await again.close()
    third = bench.create()
    await third.ingest(log, Trace())
    _same(answer, await bench.ask(third, _QUESTION, log), "a restart from its folder")
    await third.close()


def _ids(answer: Answer) -> list[str]:
    return [id for item in answer.retrieved for id in item.message_ids]


def _same(before: Answer, after: Answer, what: str) -> None:
    if (first := _ids(before)) != (second := _ids(after)):
        detail = "some are there twice" if len(second) > len(set(second)) else f"{first[:4]} became {second[:4]}"
        raise _Broken(f"{what} changed what is retrieved for the same question: {detail}")


_CheckFunction = Callable[[_Bench], Awaitable[None]]
_CHECKS: tuple[tuple[str, _CheckFunction], ...] = (
    ("returns a valid answer", _valid_answer),
    ("answers over an empty log", _empty_log),
    ("survives odd text", _odd_text),
    ("messages given twice count once", _ingest_twice),
    ("takes a log in portions", _portions),
    ("keeps tenants apart", _tenants_apart),
    ("is usable after a cancelled call", _cancelled_call),
    ("restarts from its folder", _restart),
)
