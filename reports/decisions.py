"""Why a system answered as it did: the decisions of its trace, a line each.

What memtrial's own systems record is told in words; a fact of another system, or one of a shape that is not known here, is
shown as its name with short JSON. Everything in a trace comes from a system or from the log: it is text and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrial.metrics.records import TraceSummary
from memtrial.reports.escape import one_line
from memtrial.reports.odd import ENTRIES, READ, as_json, entries, mapping, number, pairs, text, texts

MOST = 12
CHARS = 200
Facts = Mapping[str, Any]


def decisions(trace: TraceSummary, most: int = MOST, chars: int = CHARS) -> list[str]:
    """Tell why an answer came about, what decides most first.

    Args:
        trace: of one answer.
        most: number of lines, at least 1; where there are more, the last says how many are left out.
        chars: longest line.

    Returns:
        Lines without line breaks; none where a trace tells nothing.
    """
    lines = [f"{gate} {'open' if is_open else 'shut'}{f': {why}' if why else ''}" for gate, is_open, why in trace.gates]
    told: set[str] = set()
    for head, needs, write in _TOLD:
        if head in trace.facts and (line := write(trace.facts)):
            lines.append(line)
            told |= {head, *needs}
        if head == _BEFORE_SEARCH:
            lines += _caches(trace) + _warnings(trace)
    unknown = [name for name, value in trace.facts.items() if name not in told and not _silent(name, value)]
    left = len(lines) + len(unknown) - most
    lines += [f"{name.replace('_', ' ')}: {as_json(trace.facts[name])}" for name in unknown[:most]]
    shown = [one_line(line[:READ], chars) for line in lines[:most]]
    return [*shown[:-1], f"and {left + 1} more, which memtrial show tells"] if left > 0 else shown


def _caches(trace: TraceSummary) -> list[str]:
    hits = ", ".join(f"{name} {count}" for name, count in sorted(trace.cache_hits.items())[:ENTRIES])
    return [f"from cache: {hits}"] if hits else []


def _warnings(trace: TraceSummary) -> list[str]:
    one = [f"warning: {warning[:READ]}" for warning in trace.warnings[:2]]
    return [*one, f"and {len(trace.warnings) - 2} more warnings"] if len(trace.warnings) > 2 else one


def _gates(facts: Facts) -> str:
    """Tell what each gate said; one that is off or has nothing to say is left out."""
    said = []
    for name, verdict in pairs(facts["gates"]):
        why = text(mapping(verdict).get("reason"))
        if why not in ("", "off", "says nothing"):
            opens = mapping(verdict).get("open")
            said.append(f"{name} {'undecided' if opens is None else 'open' if opens is True else 'shut'} ({why})")
    most = number(mapping(facts["gates"]).get("max_items"))
    limit = [f"at most {most} memories"] if most else []
    # A gate that alone said anything stands in the decision already.
    return f"gates: {'; '.join([*said, *limit])}" if len(said) + len(limit) > 1 else ""


def _route(facts: Facts) -> str:
    route = mapping(facts["route"])
    to, by = text(route.get("to")), text(facts.get("answered_by"))
    if not to:
        return ""
    rule = text(route.get("rule"))
    why = ": ".join(part for part in (f"by rule {rule}" if rule else "", text(route.get("reason"))) if part)
    if facts.get("fell_back") is True:
        after = f"; {to} abstained, " + (f"{by} answered" if by and by != to else "and so did the other part")
    else:
        after = ""
    return f"route: {to}{f' {why}' if why else ''}{after}"


def _policy(facts: Facts) -> str:
    return _listed("policy", facts["policy"])


def _slot(facts: Facts) -> str:
    slot = mapping(facts["slot"])
    asked = " or ".join(texts(slot.get("attributes")))
    if not asked:
        return ""
    parts = [f"slot: {asked}"]
    if shape := text(slot.get("shape")):
        parts.append(f"({shape})")
    if things := ", ".join(texts(slot.get("things"))):
        parts.append(f"of {things}")
    if owner := text(slot.get("owner")):
        parts.append(f"for {owner}")
    if cue := text(slot.get("cue")):
        parts.append(f"by the words “{cue}”")
    filled = number(slot.get("filled"))
    ends = [f"facts that fit: {filled}"] if filled else []
    if slot.get("computed") is True:
        ends.append("answered from them without the reader")
    if left := number(slot.get("left_out")):
        ends.append(f"memories of other matters left out: {left}")
    return "; ".join([" ".join(parts), *ends])


def _plan(facts: Facts) -> str:
    plan = mapping(facts["plan"])
    made = []
    for one in entries(plan.get("instructions")):
        told = mapping(one)
        said = text(told.get("expression")) or text(told.get("name")) or text(told.get("words"))
        span = "–".join(text(told.get(end))[:10] for end in ("start", "end") if told.get(end))
        words = " ".join(part for part in (f"“{one_line(said, 40)}”" if said else "", span) if part)
        certain = " (certain)" if told.get("certain") is True else ""
        made.append(f"{text(told.get('kind')).replace('_', ' ')} {words}{certain}".strip())
    dropped = [
        f"{text(mapping(d).get('what'))}, as {text(mapping(d).get('why'))}"
        for d in entries(plan.get("dropped"))
        if isinstance(d, Mapping)
    ]
    # What gave way comes first: a long plan is cut at its end.
    relaxed = ", ".join(texts(plan.get("relaxed")))
    source = text(plan.get("source"))
    parts = [f"relaxed: {relaxed}"] if relaxed else []
    parts += [", ".join(filter(None, made))] if any(made) else []
    parts += [f"dropped: {'; '.join(dropped)}"] if dropped else []
    return f"plan{f' by {source}' if source else ''}: {'; '.join(parts)}" if parts else ""


def _fusion(facts: Facts) -> str:
    fusion = mapping(facts["fusion"])
    found = mapping(fusion.get("found"))
    weights = [
        f"{name} {number(weight)}{f' ({number(found[name])} found)' if name in found else ''}"
        for name, weight in pairs(fusion.get("weights"))
        if number(weight) not in ("", "0")
    ]
    why = text(fusion.get("reason"))
    return f"fusion: {', '.join(weights)}{f'; {why}' if why else ''}" if weights else ""


def _search(facts: Facts) -> str:
    kind = {"exact": "every vector compared", "hnsw": "by the graph index"}.get(text(facts["search"]))
    if kind is None:
        return ""
    parts = [f"{number(facts.get('vectors'))} vectors"] if number(facts.get("vectors")) else []
    parts += [f"{number(facts.get('dims'))} dimensions"] if number(facts.get("dims")) else []
    variance = facts.get("explained_variance")
    parts += [f"{variance:.1%} of the variance kept"] if isinstance(variance, float) else []
    if facts["search"] == "hnsw":
        parts += [f"{name} {number(facts.get(name))}" for name in ("ef", "ann_recall@10") if number(facts.get(name))]
    told = ", ".join(parts)
    return f"vector search: {kind}{f' ({told})' if told else ''}"


def _filtered(facts: Facts) -> str:
    left = mapping(facts["filtered"])
    names = {"state": "injected or retracted", "rivals": "about something else than the question names"}
    parts = [f"{number(n)} {names.get(name, name)}" for name, n in pairs(left) if number(n) not in ("", "0")]
    return f"filtered out: {', '.join(parts)}" if parts else ""


def _candidates(facts: Facts) -> str:
    """Count the messages; tiers, where a system has them."""
    found = facts["candidates"]
    if not isinstance(found, Sequence) or isinstance(found, str):
        return ""
    tiers = ", ".join(f"{name} {number(n)}" for name, n in pairs(facts.get("tiers")) if number(n))
    return f"candidates: {len(found)} messages recorded{f' (tiers: {tiers})' if tiers else ''}"


def _arbiter(facts: Facts) -> str:
    losers = [mapping(loser) for loser in entries(facts["arbiter"])]
    reasons = [text(loser.get("reason")) for loser in losers if loser]
    kept = list(dict.fromkeys(filter(None, reasons)))[:3]
    return f"arbiter: {len(facts['arbiter'])} gave way; {'; '.join(kept)}" if kept else ""


def _trust(facts: Facts) -> str:
    """Tell the trust of the first ranked, and of the very first what it is made of."""
    rows = [mapping(row) for _, row in pairs(facts["trust"])]
    scores = [number(row.get("score")) for row in rows]
    if not any(scores):
        return ""
    made = ", ".join(f"{name} {number(value)}" for name, value in pairs(rows[0]) if name != "score")
    of = ", ".join(texts(mapping(facts.get("trust_messages")).get(next(iter(mapping(facts["trust"])), ""), ""))[:3])
    first = f"{scores[0]}{f' of {of}' if of else ''}{f' ({made})' if made else ''}"
    return "trust of the first ranked: " + ", ".join([first, *filter(None, scores[1:5])])


def _agent(facts: Facts) -> str:
    steps = [mapping(step) for step in entries(facts["agent"])]
    told = []
    for step in steps:
        tool, error = text(step.get("tool")) or "no tool", text(step.get("error"))
        came = f"failed: {one_line(error, 40)}" if error else f"{number(step.get('hits')) or 0} hits"
        told.append(f"{tool} {one_line(text(step.get('arguments')), 50)} → {came}")
    return f"agent, {len(facts['agent'])} steps: {'; '.join(told)}" if any(steps) else ""


def _rerank(facts: Facts) -> str:
    done = mapping(facts["rerank"])
    kind, items = text(done.get("kind")), number(done.get("items"))
    merged = number(done.get("merged"))
    return f"reranked: {items} by {kind}{f', {merged} merged into others' if merged else ''}" if kind and items else ""


def _reader(facts: Facts) -> str:
    kind = text(facts["answer_kind"])
    if not kind:
        return ""
    sure = number(facts.get("reader_confidence"))
    computed = "computed from the question alone" if facts.get("computed") is True else ""
    return ", ".join(filter(None, [f"reader: answer of type {kind}", f"confidence {sure}" if sure else "", computed]))


def _listed(name: str, value: Any) -> str:
    said = texts(value)
    return f"{name}: {'; '.join(said)}" if said else ""


def _as_list(name: str, label: str = "") -> tuple[str, tuple[str, ...], Callable[[Facts], str]]:
    return name, (), lambda facts: _listed(label or name, facts[name])


#: The fact that a line is about, other facts that it tells as well, and how it is written; "" falls back on JSON.
_BEFORE_SEARCH = "slot"
_TOLD: tuple[tuple[str, tuple[str, ...], Callable[[Facts], str]], ...] = (
    ("gates", (), _gates),
    ("route", ("answered_by", "fell_back"), _route),
    ("policy", (), _policy),
    _as_list("authority"),
    (_BEFORE_SEARCH, (), _slot),
    ("arbiter", (), _arbiter),
    ("plan", (), _plan),
    ("filtered", (), _filtered),
    ("trust", ("trust_messages",), _trust),
    ("fusion", (), _fusion),
    ("candidates", ("tiers",), _candidates),
    ("rerank", (), _rerank),
    _as_list("history"),
    ("agent", (), _agent),
    _as_list("open", "left open"),
    ("search", ("vectors", "vectors_indexed", "dims", "ef", "explained_variance", "ann_recall@10"), _search),
    _as_list("graph"),
    ("answer_kind", ("reader_confidence", "computed"), _reader),
)
_OF_MACHINES = frozenset({"ann_searches", "replayed_ms"})
_MAY_BE_SILENT = frozenset({"gates", "filtered"})


def _silent(name: str, value: Any) -> bool:
    """Tell whether a fact that has no line needs none: it holds nothing, or nothing beyond what other lines tell."""
    return (
        value in (None, "", [], {}) or name in _OF_MACHINES or (name in _MAY_BE_SILENT and isinstance(value, Mapping))
    )
