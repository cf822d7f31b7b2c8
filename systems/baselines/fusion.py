"""Joining rankings of different kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrial.systems.baselines.parts import in_deviations

Ranking = Sequence[tuple[int, float]]


def reciprocal_rank(rankings: Sequence[tuple[Ranking, float]], constant: int) -> list[tuple[int, float]]:
    """Add weight / (constant + rank) over the rankings (Cormack, Clarke and Büttcher, SIGIR 2009).

    Args:
        rankings: each with its weight; best first.
        constant: 60 in the paper; the larger, the less the first ranks stand out.
    """
    scores: dict[int, float] = {}
    for ranking, weight in rankings:
        for rank, (position, _) in enumerate(ranking, 1):
            scores[position] = scores.get(position, 0.0) + weight / (constant + rank)
    return _sorted(scores)


def added_scores(rankings: Sequence[tuple[Ranking, float]]) -> list[tuple[int, float]]:
    """Add scores in units of their standard deviation over all candidates.

    A candidate that a ranking did not return gets the lowest score which that ranking gave.

    Args:
        rankings: each with its weight.
    """
    known: list[tuple[Mapping[int, float], float]] = [
        (dict(ranking), weight) for ranking, weight in rankings if ranking
    ]
    candidates = sorted({position for scores, _ in known for position in scores})
    total = dict.fromkeys(candidates, 0.0)
    for scores, weight in known:
        lowest = min(scores.values())
        for position, score in zip(
            candidates, in_deviations([scores.get(p, lowest) - lowest for p in candidates]), strict=True
        ):
            total[position] += weight * score
    return _sorted(total)


def _sorted(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
