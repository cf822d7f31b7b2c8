"""What calls to models used and cost, by role, phase, trial and model. What nobody knows is counted as unknown, never as 0."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from memtrial.systems.models.llm.calls import DUPLICATE, StoredCall
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.llm.prices import Price, cost_of, exact_usd, show_usd

Axis = Literal["role", "phase", "trial", "model"]
AXES: tuple[Axis, ...] = ("role", "phase", "trial", "model")

_E12 = 1_000_000_000_000

# The server took no such request on, so there is nothing to pay and no usage to miss.
UNBILLED = frozenset({"rate_limited", "quota", "auth", "bad_request", "no_model", "budget", "not_recorded"})


@dataclass(slots=True)
class Totals:
    """Sums over calls.

    Attributes:
        calls: calls that a model worked on, replayed ones included.
        replayed: those of them served from the record.
        failed: calls without a good reply, among them those that no model worked on.
        without_usage: calls for which the server told no usage; counted here where there was a text to count.
        unmeasured: those of them without any count.
        prompt: tokens sent, cached ones included.
        cached: those of them that the provider had cached.
        completion: tokens written, reasoning included.
        reasoning: those of them that were thought and not shown.
        estimated: tokens of prompt and completion that were counted here rather than told by the server.
        unpriced: calls of unknown cost.
        known_e12: cost of the calls whose cost is known, in trillionths of a dollar: whole numbers add up to the same sum
            in whatever order concurrent calls end.
        paid_e12: the part of it that was not replayed.
    """

    calls: int = 0
    replayed: int = 0
    failed: int = 0
    without_usage: int = 0
    unmeasured: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    estimated: int = 0
    unpriced: int = 0
    known_e12: int = 0
    paid_e12: int = 0

    @property
    def usd_known(self) -> float:
        """Cost of the calls whose cost is known: a lower bound as long as ``unpriced`` is not 0."""
        return self.known_e12 / _E12

    @property
    def usd_paid(self) -> float:
        """The part of it that was not served from the record."""
        return self.paid_e12 / _E12

    @property
    def usd(self) -> float | None:
        """The cost, or None as soon as the cost of one call is unknown."""
        return None if self.unpriced else self.usd_known

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens that are known."""
        return self.prompt + self.completion

    @property
    def estimated_share(self) -> float | None:
        """Share of the tokens that was counted here; None where there are none."""
        return self.estimated / self.tokens if self.tokens else None

    def show_cost(self) -> str:
        """Return the cost for display: ``unknown`` where the cost of any call is."""
        return show_usd(self.usd)

    def show_usage(self) -> str:
        """Return how far the token counts can be trusted, such as ``2 of 9 calls without usage``."""
        return f"{self.without_usage} of {self.calls} calls without usage"

    def include(self, other: Totals) -> None:
        """Add other sums to these."""
        for field in fields(Totals):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Ledger:
    """Counts calls as they end. Safe for threads.

    A call served from the record counts in full for whoever asked (that is what the system would have used alone), and
    as nothing in ``usd_paid``.
    """

    def __init__(self) -> None:
        """Start with nothing."""
        self._cells: dict[tuple[str, str, str, str], Totals] = {}
        self._lock = threading.Lock()

    def add(
        self,
        role: str,
        phase: str,
        trial: str,
        model: str,
        usage: Usage | None,
        usd: float | None,
        *,
        replayed: bool = False,
        status: str = "ok",
    ) -> None:
        """Count one call.

        Args:
            role: plan, extract, rerank, read, judge, …
            phase: ingest, query or evaluation.
            trial: label of the trial, "" outside of one.
            model: the model asked for.
            usage: its tokens; None where nobody knows them.
            usd: its cost; None where the price or the usage is unknown.
            replayed: served from the record.
            status: outcome of the call.
        """
        one = Totals(failed=int(status not in ("ok", DUPLICATE)))
        if status not in UNBILLED:
            _measure(one, usage, usd, replayed)
        with self._lock:
            self._cells.setdefault((role, phase, trial, model), Totals()).include(one)

    def stopped(self) -> None:
        """Take note that a call was not made, or not to its end, since the run has to end; here, nothing follows."""

    def add_stored(self, calls: Iterable[StoredCall], price: Callable[[str], Price | None]) -> None:
        """Count what a store holds: everything that was ever paid for in a run, over all its segments.

        Args:
            calls: from ``CallStore.calls()``; each counts once, for its first asker.
            price: the price of a model by name.
        """
        for call in calls:
            usd = cost_of(call.usage, price(call.model))
            self.add(call.role, call.phase, call.trial, call.model, call.usage, usd, status=call.status)

    def totals(self, *by: Axis) -> dict[tuple[str, ...], Totals]:
        """Return sums by the axes named, in the order of their names; ``totals()`` has one entry, under ``()``."""
        places = [AXES.index(axis) for axis in by]
        out: dict[tuple[str, ...], Totals] = {} if by else {(): Totals()}
        with self._lock:
            for name, cell in sorted(self._cells.items()):
                out.setdefault(tuple(name[place] for place in places), Totals()).include(cell)
        return out

    def total(self, **where: str) -> Totals:
        """Return the sum over the calls that match, such as ``total(phase="query", trial="bm25")``."""
        places = {AXES.index(axis): value for axis, value in where.items()}
        out = Totals()
        with self._lock:
            for name, cell in sorted(self._cells.items()):
                if all(name[place] == value for place, value in places.items()):
                    out.include(cell)
        return out

    def rows(self) -> list[dict[str, Any]]:
        """Return the sums as plain rows, for a manifest or to hand them from a worker to its parent."""
        with self._lock:
            return [{**dict(zip(AXES, name, strict=True)), **asdict(t)} for name, t in sorted(self._cells.items())]

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the rows of another ledger: a worker's, or an earlier segment's."""
        for row in rows:
            role, phase, trial, model = (str(row[axis]) for axis in AXES)
            sums = Totals(**{key: value for key, value in row.items() if key not in AXES})
            with self._lock:
                self._cells.setdefault((role, phase, trial, model), Totals()).include(sums)

    def line(self, limit_usd: float | None = None) -> str:
        """Return the live counter: calls, tokens with their estimated share, and money paid."""
        total = self.total()
        share = total.estimated_share
        estimated = f" ({share:.0%} estimated)" if share else ""
        paid = show_usd(total.usd_paid) if not total.unpriced else "cost unknown"
        if total.unpriced and total.usd_paid:
            paid = f"at least {show_usd(total.usd_paid)}"
        of = f" of {exact_usd(limit_usd)}" if limit_usd is not None else ""
        return (
            f"{total.calls:,} calls, {total.replayed:,} from the record, {total.tokens:,} tokens{estimated}, {paid}{of}"
        )


def _measure(one: Totals, usage: Usage | None, usd: float | None, replayed: bool) -> None:
    one.calls, one.replayed = 1, int(replayed)
    one.without_usage = int(usage is None or usage.estimated)
    one.unmeasured = int(usage is None)
    if usage is not None:
        one.prompt, one.cached = usage.prompt, usage.cached
        one.completion, one.reasoning = usage.completion, usage.reasoning
        one.estimated = usage.prompt + usage.completion if usage.estimated else 0
    if usd is None:
        one.unpriced = 1
    else:
        one.known_e12 = round(usd * _E12)
        one.paid_e12 = 0 if replayed else one.known_e12
