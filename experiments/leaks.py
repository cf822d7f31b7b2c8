"""Does anything of one tenant reach another? A probe through the public protocol of any system.

Twin tenants (see ``leaks_world``) are asked for what only the other knows: outright, by the other's name, as a follow-up,
for the past, for everybody's, right after the other asked the same (a cache would answer), and at the same moment. Ranking,
context, answer and citations of every answer are looked through: for items of another tenant, for its messages, and for
its codes, which stand in one message each.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.experiments.leaks_world import PATHS, Probe, Secret, World, build_world, codes_in, draw_probes, query_of
from memtrial.metrics.statistics import wilson
from memtrial.systems.base import Answer, Context, Query, System, Trace
from memtrial.systems.registry import resolve

_PROBES_A_PAIR = 500
_SHOWN = 3
_TOLD_EVERY = 1_000
Progress = Callable[[int], None]


@dataclass(slots=True)
class LeakReport:
    """What came of the probes.

    Attributes:
        target: the system.
        tenants: how many there were.
        messages: how many were taken in.
        asked: probes that were answered, by path.
        leaked: of those, the ones in which anything of another tenant turned up, by path.
        items: what turned up, by where: ``ranking``, ``context``, ``citation``, ``answer``.
        errors: probes that ended in an exception; they prove nothing and count nowhere.
        own: questions of the twin that knows, and how many of them brought up what was asked for.
        examples: the first leaks in words.
        error: the first exception in words.
    """

    target: str
    tenants: int
    messages: int
    asked: Counter[str] = field(default_factory=Counter)
    leaked: Counter[str] = field(default_factory=Counter)
    items: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    own: list[bool] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def probes(self) -> int:
        """Probes that were answered."""
        return self.asked.total()

    @property
    def upper(self) -> float:
        """Upper end of the 95 % interval of the rate of leaks.

        Without any, 1 - 0.05^(1/n), of which the rule of three (3/n; Hanley and Lippman-Hand 1983) is the well-known
        approximation; otherwise Wilson's.
        """
        if not self.probes:
            return 1.0
        if not self.leaked.total():
            return -math.expm1(math.log(0.05) / self.probes)
        return wilson(self.leaked.total(), self.probes).high

    def render(self) -> str:
        """Return a line by path, the sum, and what a reader must know to judge it."""
        width = max(len(path) for path in PATHS)
        lines = [
            f"{path:<{width}}  {self.leaked[path]:>6} of {self.asked[path]:>6} probes leaked"
            for path in PATHS
            if self.asked[path]
        ]
        found = sum(self.own)
        lines.append(
            f"{self.target}: {self.leaked.total()} of {self.probes:,} probes leaked ({self.tenants} tenants, "
            f"{self.messages:,} messages); rate below {self.upper:.3%} with 95 % confidence"
        )
        if self.items:
            lines.append("turned up in: " + ", ".join(f"{where} {n}" for where, n in self.items.most_common()))
        lines += [f"for example: {text}" for text in self.examples]
        if self.own:
            lines.append(f"own questions, asked beside: {found} of {len(self.own)} brought up what was asked for")
            if found < 0.5 * len(self.own):
                lines.append("a system that finds little of its own leaks little: this says less than it seems to")
        if self.errors:
            lines.append(f"{self.errors} probes failed and count for nothing; the first: {self.error}")
        return "\n".join(lines)


def probe_leaks(
    target: str,
    params: Mapping[str, Any] | None = None,
    *,
    probes: int = 10_000,
    seed: int = 0,
    cache_dir: Path | None = None,
    progress: Progress | None = None,
) -> LeakReport:
    """Build twins, take in their log, half of it before half of the probes, and ask.

    Args:
        target: as in a configuration.
        params: the system's parameters.
        probes: how many questions.
        seed: of the log, the questions and the system.
        cache_dir: for embeddings.
        progress: is told now and then how many probes were asked.

    Raises:
        UserError: there is no such system, its parameters are wrong, or no probe was answered.
    """
    factory = resolve(target)
    factory.validate(params or {})
    world = build_world(max(2, -(-probes // _PROBES_A_PAIR)), seed)
    with tempfile.TemporaryDirectory(prefix="memtrial-probe-", ignore_cleanup_errors=True) as folder:
        context = Context(Path(folder), seed=seed, tenants=world.tenants, cache_dir=cache_dir)

        async def go() -> LeakReport:
            system = factory.create(params or {}, context)
            try:
                return await _Prober(target, system, world, progress).run(draw_probes(world, probes, seed))
            finally:
                await system.close()

        report = asyncio.run(go())
    if not report.probes:
        raise UserError(f"system {target!r} answered none of {report.errors} probes; the first error: {report.error}")
    return report


class _Prober:
    def __init__(self, target: str, system: System, world: World, progress: Progress | None) -> None:
        self._system, self._world, self._progress = system, world, progress
        self._report = LeakReport(target, len(world.tenants), len(world.messages))
        self._owner = {message.id: message.tenant_id for message in world.messages}
        self._code = {secret.code: secret.tenant for secret in world.secrets}
        self._number = 0

    async def run(self, drawn: Sequence[Probe]) -> LeakReport:
        """Ask about what was told so far, then take in the rest: a cache must not outlive what it was filled from."""
        messages = self._world.messages
        half = len(messages) // 2
        until = messages[half - 1].timestamp
        early = [probe for probe in drawn if probe.secret.told_at <= until][: len(drawn) // 2]
        late = Counter(drawn) - Counter(early)
        for part, own in ((messages[:half], early), (messages[half:], list(late.elements()))):
            await self._system.ingest(part, Trace())
            now = part[-1].timestamp + timedelta(seconds=1)
            for probe in own:
                await self._probe(probe, now)
                if self._progress is not None and self._number % _TOLD_EVERY == 0:
                    self._progress(self._number)
        return self._report

    async def _probe(self, probe: Probe, now: datetime) -> None:
        self._number += 1
        twin = query_of(probe, probe.twin, self._number, now)
        owner = query_of(probe, probe.secret.tenant, self._number, now)
        queries = [owner, twin] if probe.path in ("repeated", "together") else [twin]
        if probe.path == "together" and not getattr(self._system, "serial", False):
            answers = list(await asyncio.gather(*(self._ask(query) for query in queries)))
        else:
            answers = [await self._ask(query) for query in queries]
        if len(queries) == 2 and answers[0] is not None:
            self._report.own.append(_states(probe.secret, answers[0]))
        given = [(query, answer) for query, answer in zip(queries, answers, strict=True) if answer is not None]
        if answers[-1] is None:
            self._report.errors += 1
        else:
            self._report.asked[probe.path] += 1
        if sum(self._look_through(query, answer) for query, answer in given):
            self._report.leaked[probe.path] += 1

    async def _ask(self, query: Query) -> Answer | None:
        try:
            return await self._system.answer(query, Trace())
        except Exception as error:  # noqa: BLE001 - a system may raise anything
            self._report.error = self._report.error or f"{type(error).__name__}: {str(error)[:300]}"
            return None

    def _look_through(self, query: Query, answer: Answer) -> int:
        """Count what of the answer is another tenant's."""
        found = Counter[str]()
        for where, items in (("ranking", answer.retrieved), ("context", answer.context)):
            for item in items:
                if (
                    item.tenant_id != query.tenant_id
                    or any(self._is_foreign(id, query) for id in item.message_ids)
                    or self._states_foreign(item.text, query)
                ):
                    found[where] += 1
                    self._example(query, where, item.text)
        cited = [id for id in answer.citations if self._is_foreign(id, query)]
        found["citation"] = len(cited)
        if cited:
            self._example(query, "citation", cited[0])
        found["answer"] = int(self._states_foreign(answer.text, query))
        if found["answer"]:
            self._example(query, "answer", answer.text)
        self._report.items += found
        return found.total()

    def _is_foreign(self, id: str, query: Query) -> bool:
        return self._owner.get(id, query.tenant_id) != query.tenant_id

    def _states_foreign(self, text: str, query: Query) -> bool:
        return any(self._code.get(code, query.tenant_id) != query.tenant_id for code in codes_in(text))

    def _example(self, query: Query, where: str, text: str) -> None:
        if len(self._report.examples) < _SHOWN:
            self._report.examples.append(f"{query.tenant_id!r} asked {query.text!r}, {where}: {text[:120]!r}")


def _states(secret: Secret, answer: Answer) -> bool:
    held = (answer.text, *(item.text for item in (*answer.retrieved, *answer.context)))
    return any(secret.code in codes_in(text) for text in held)
