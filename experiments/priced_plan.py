"""What a plan's calls to models will cost, from real prompts counted before anything is asked.

The low end has the shortest messages a system can show and replies of one token; the high end the longest ones and replies
as long as allowed. Where the messages shown are known beforehand the prompts are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memtrial.datasets.schema import Question
from memtrial.experiments.models import ModelOptions, model_parts
from memtrial.experiments.plan import Plan, Unit, query_of
from memtrial.experiments.priced_rows import Counted, sums
from memtrial.experiments.priced_search import search_prompts
from memtrial.systems.models.llm.prices import PriceTable, exact_usd, load_prices, price_of, show_usd
from memtrial.systems.models.llm.projection import PriceRange, count_prompt, price_range
from memtrial.systems.models.prompts import Field, load_prompt
from memtrial.systems.models.reader.shown import question_row
from memtrial.systems.models.reader.text import language_of

if TYPE_CHECKING:
    from memtrial.systems.models.llm.settings import ModelSettings

_RANKING = ("bm25", "vector", "bm25_vector")
_Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PricedRole:
    """One role of one trial on one data set.

    Attributes:
        calls: requests, the most that there can be; None where nobody can say how often this system asks.
        least_calls: requests that there will be at least; fewer than ``calls`` where it depends on what is found.
        prompt: least and most tokens of all prompts together.
        usd: least and most US dollars; None where the price or the number of calls is unknown.
    """

    trial: str
    dataset: str
    role: str
    model: str
    calls: int | None
    prompt: _Bounds | None
    usd: tuple[float, float] | None
    least_calls: int | None = None

    def __str__(self) -> str:
        """Return the line that ``--dry-run`` prints."""
        head = f"{self.trial} on {self.dataset}: {self.role} with {self.model}"
        if self.calls is None or self.prompt is None:
            return f"{head}, number of calls unknown, cost unknown"
        low, high = self.prompt
        tokens = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        usd = "unknown" if self.usd is None else f"{show_usd(self.usd[0])}–{show_usd(self.usd[1])}"
        if self.least_calls is None or self.least_calls == self.calls:
            return f"{head}, {self.calls:,} calls, {tokens} prompt tokens, cost {usd}"
        calls = f"{self.least_calls:,} to at most {self.calls:,} calls"
        return f"{head}, {calls}, {tokens} prompt tokens, cost {usd}, an upper estimate: what its limits allow"


def priced(plan: Plan, options: ModelOptions | None = None) -> list[PricedRole]:
    """Price every role of every trial of a plan.

    Raises:
        UserError: the price table cannot be read.
    """
    table = load_prices(None if options is None else options.prices)
    counts: dict[tuple[int, bool], Counted] = {}
    rows = []
    for unit in plan.units:
        parts: dict[str, list[tuple[str, ...]]] = {}
        for path, role in model_parts(unit.info.params):
            other = f"{role}:{'.'.join(path)}"
            parts.setdefault(other if other in unit.models else role, []).append(path)
        for name, settings in unit.models.items():
            role = name.partition(":")[0]
            found = [_prompts(unit, role, path, settings, counts) for path in parts.get(name, [])]
            known = [prompts for prompts in found if prompts is not None]
            every = [p for prompts in known for p in prompts] if found and len(known) == len(found) else None
            rows.append(_priced(unit, name, settings, every, table))
    return rows


def price_lines(plan: Plan, options: ModelOptions | None = None) -> list[str]:
    """Return what ``--dry-run`` says about models and money."""
    rows = priced(plan, options)
    table = load_prices(None if options is None else options.prices)
    known = [row.usd for row in rows if row.usd is not None]
    if len(known) == len(rows):
        total = f"cost: {show_usd(sum(low for low, _ in known))}–{show_usd(sum(high for _, high in known))}"
    elif known:
        total = f"cost: unknown, at least {show_usd(sum(low for low, _ in known))}"
    else:
        total = "cost: unknown"
    lines = [f"language model: {row}" for row in map(str, rows)]
    lines.append(
        f"{total}; from prompts counted now, low with the shortest messages and one token a reply, high with the longest"
        " messages and replies at max_tokens (where a search decides how often to ask: all that its limits allow); retries and repairs come on top, what is recorded or asked twice comes off;"
        f" {table.describe()}"
    )
    budget = None if options is None else options.budget_usd
    if budget is not None:
        lines.append(f"budget: {exact_usd(budget)}; the run stops before it has paid more")
    return lines


def _priced(
    unit: Unit, role: str, settings: ModelSettings, prompts: Sequence[_Bounds] | None, table: PriceTable
) -> PricedRole:
    info = unit.info
    if prompts is None:
        return PricedRole(info.trial, info.dataset, role, settings.model, None, None, None)
    # At temperature 0 the repeats ask the same, and that is paid once.
    times = info.repeats if settings.temperature > 0 else 1
    low, high = [p[0] for p in prompts if p[0]] * times, [p[1] for p in prompts] * times
    price = price_of(settings.model, settings.price, table)
    least: PriceRange = price_range(low, settings.max_tokens, price)
    most: PriceRange = price_range(high, settings.max_tokens, price)
    usd = None if least.low is None or most.high is None else (least.low, most.high)
    return PricedRole(info.trial, info.dataset, role, settings.model, len(high), (sum(low), sum(high)), usd, len(low))


def _prompts(
    unit: Unit, role: str, path: tuple[str, ...], settings: ModelSettings, counts: dict[tuple[int, bool], Counted]
) -> list[_Bounds] | None:
    """Return the bounds of every prompt of a role in a part of a system, or None where that cannot be foreseen."""
    params, target = unit.info.params, unit.info.target
    within = target == "hybrid" and path[0] == "raw_log"
    if within:
        params, target = params["raw_log"], "raw_log"
    found: list[_Bounds] = []
    for part in unit.data.corpora:
        captions = bool(params.get("captions", True))
        counted = counts.setdefault((id(part), captions), Counted(part, captions))
        bounds: Iterator[_Bounds] | list[_Bounds] | None
        if target == "raw_log":
            bounds = _search(role, params, settings, counted)
        else:
            count = _COUNTED.get(role)
            bounds = None if count is None else count(unit, counted, params[path[0]])
        if bounds is None:
            return None
        # Of a hybrid, the log may not be asked.
        found += [(0, high) for _, high in bounds] if within else bounds
    return found


def _search(role: str, params: Mapping[str, Any], settings: ModelSettings, counted: Counted) -> list[_Bounds] | None:
    found: list[_Bounds] = []
    for question in counted.part.questions:
        bounds = search_prompts(role, params, settings, counted, question)
        if bounds is None:
            return None
        found += bounds
    return found


def _read(unit: Unit, counted: Counted, reader: Mapping[str, Any]) -> Iterator[_Bounds] | None:
    if unit.info.target not in (*_RANKING, "no_memory", "recent", "full_context", "oracle", "summary"):
        return None

    def each() -> Iterator[_Bounds]:
        most = int(reader["max_context_tokens"])
        for question in counted.part.questions:
            query = query_of(question, question.id)
            language = language_of(query.text, query.language)
            fields: dict[str, Field] = {"messages": [], "question": question_row(query, language)}
            base = count_prompt(load_prompt("read", language).render(**fields))
            low, high = _context(unit, counted, question)
            yield base + min(low, most), base + min(high, most)

    return each()


def _context(unit: Unit, counted: Counted, question: Question) -> _Bounds:
    params, target = unit.info.params, unit.info.target
    if target == "no_memory":
        return 0, 0
    if target == "oracle":
        exact = sum(counted.row(counted.part.log[i]) for i in question.evidence if i in counted.part.log)
        return exact, exact
    tenant = question.tenant_id if params["tenant_filter"] else None
    seen = counted.before(tenant, question)
    if target == "recent":
        items = params["context_items"]
        exact = sum(counted.row(m) for m in seen[-items:]) if items else 0
        return exact, exact
    if target == "full_context":
        exact, left = 0, params["tokens"]
        for message in reversed(seen):
            left -= counted.rendered(message)
            if left < 0:
                break
            exact += counted.row(message)
        return exact, exact
    if target == "summary":
        turns, fold = params["turns"], params["fold"]
        newest = sums([counted.row(m) for m in reversed(seen[-(turns + fold) :])])
        # A line of the summary comes with the ids it is from.
        return newest[min(turns, len(newest) - 1)], newest[-1] + 3 * params["tokens"]
    items = min(params["context_items"], len(seen))
    short, long = counted.extremes(tenant, params["context_items"])
    return short[min(items, len(short) - 1)], long[min(items, len(long) - 1)]


def _summarise(unit: Unit, counted: Counted, summariser: Mapping[str, Any]) -> Iterator[_Bounds] | None:
    if unit.info.target != "summary":
        return None
    params = unit.info.params

    def each() -> Iterator[_Bounds]:
        for tenant in counted.tenants() if params["tenant_filter"] else [None]:
            held = counted.held(tenant)
            for first in range(0, len(held) - params["turns"] - params["fold"] + 1, params["fold"]):
                block = held[first : first + params["fold"]]
                language = language_of("\n".join(m.content for m in block))
                fields: dict[str, Field] = {"summary": [], "messages": [], "tokens": params["tokens"]}
                base = count_prompt(load_prompt("summarise", language).render(**fields))
                shown = min(sum(counted.row(m) for m in block), summariser["max_context_tokens"])
                yield base + shown, base + shown + 3 * params["tokens"]

    return each()


def _gate(unit: Unit, counted: Counted, gates: Mapping[str, Any]) -> Iterator[_Bounds]:
    for question in counted.part.questions:
        query = query_of(question, question.id)
        language = language_of(query.text, query.language)
        exact = count_prompt(load_prompt("gate", language).render(question=question_row(query, language)))
        yield exact, exact


_COUNTED: Mapping[str, Callable[..., Iterator[_Bounds] | None]] = {
    "read": _read,
    "summarise": _summarise,
    "gate": _gate,
}
