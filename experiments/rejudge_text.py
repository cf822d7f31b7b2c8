"""What graded answers look like on the terminal and in ``rejudged/summary.md``."""

from __future__ import annotations

from collections.abc import Iterable

from memtrial.metrics.judges.persisted import CorrectedRow, RankRow, RateRow, Rejudged, Score
from memtrial.metrics.statistics import FEW_CLUSTERS


def render(judges: Iterable[Rejudged]) -> str:
    """Return the table that is printed."""
    return "\n".join(line for judge in judges for line in lines_of(judge))


def lines_of(judge: Rejudged) -> list[str]:
    """Return what is printed of one judge, and stands in summary.md."""
    masked = "; questions with a gold answer in doubt are left out" if judge.mask else ""
    lines = [f"{judge.judge}{masked}"]
    width = max((len(f"{s.trial} on {s.dataset}") for s in judge.scores), default=0)
    for s in judge.scores:
        lines += _score_lines(s, width)
    lines += [f"  {_rank_line(r)}" for r in judge.ranks]
    for s in judge.scores:
        lines += [f"  ceiling, {s.trial} on {s.dataset}: {line}" for line in s.ceiling]
    for usage in judge.usage:
        usd = "unknown cost" if usage.usd is None else f"${usage.usd:.4f}"
        lines.append(
            f"  {usage.calls} calls about {usage.trial or 'planted answers'}, {usage.prompt + usage.completion} tokens, {usd}: evaluation, charged to no system"
        )
    return lines


def _score_lines(s: Score, width: int) -> list[str]:
    a = s.accuracy
    if a.value is None:
        shown = f"not scored (0 of {s.total})"
    else:
        few = a.clusters < FEW_CLUSTERS
        shown = f"{a.value:.3f} [{_around(a, few)}] ({s.credit:g} of {s.scored})"
    left = (
        f"; {s.total - s.scored} of {s.total} unscored, so between {s.low:.3f} and {s.high:.3f}"
        if s.scored < s.total
        else ""
    )
    kappa = "undefined" if s.kappa is None else f"{s.kappa:.3f}"
    name = f"{s.trial} on {s.dataset}"
    lines = [f"  {name:<{width}}  {shown}{left}; the run's own judge {s.own or 0:.3f}, kappa {kappa}"]
    for c in s.corrected:
        said = [part for part in c.status if part != "undecidable"]
        notes = f" ({', '.join(said)})" if said else ""
        around = _around(c, "few_clusters" in c.status)
        value = c.undecidable or ("undefined" if c.value is None else f"{c.value:.3f} [{around}]")
        lines.append(f"  {'':<{width}}  corrected by its errors on {c.kind} answers: {value}{notes}")
    return lines


def _around(row: RateRow | CorrectedRow, few: bool) -> str:
    """Return the interval over clusters and, where those are few, the one by question beside it."""
    text = "no interval" if row.low is None or row.high is None else f"{row.low:.3f}–{row.high:.3f}"
    if few and row.low_by_question is not None and row.high_by_question is not None:
        text += f"; by question {row.low_by_question:.3f}–{row.high_by_question:.3f}"
    return text


def _rank_line(rank: RankRow) -> str:
    return f"{rank.dataset}: {rank.text}"
