"""Joining the channels that find candidates, with weights that follow the question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from pydantic import Field, model_validator

from memtrial.systems.base import Query, Trace
from memtrial.systems.baselines.fusion import added_scores, reciprocal_rank
from memtrial.systems.baselines.parts import Part, require_weight
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.models.reader.values_names import find_quoted
from memtrial.systems.models.times import find_times

Channel: TypeAlias = Literal["keyword", "vector", "metadata", "graph"]
CHANNELS: tuple[Channel, ...] = ("keyword", "vector", "metadata", "graph")

_EXACT_KINDS = frozenset({"id", "money", "percent", "date", "time", "email", "phone", "url"})
_VAGUE = re.compile(
    r"\b(?:that|this|those|some|one of (?:the|those)|the (?:one|thing|stuff)|something|sort of|kind of|like a)\b"
    r"|那个|这个|那种|那款|那台|某个|什么来着|之类|类似|大概",
    re.IGNORECASE,
)
_CHAIN = re.compile(
    r"\b(?:whose|the \w+ (?:of|for|behind) the \w+ (?:of|for|that|which|whose|who))\b|\bwho (?:manages|owns|handles|looks after|is (?:in charge|responsible))\b"
    r"|的[^，。？?]{1,12}的[^，。？?]{0,12}(?:是谁|哪位|谁|哪个)|(?:谁|哪位)[^，。？?]{0,6}(?:负责|在管|对接)",
    re.IGNORECASE,
)
_COLOUR = re.compile(
    r"\b(?:black|white|grey|gray|silver|gold|golden|red|blue|green|yellow|orange|purple|pink|brown|beige)\b"
    r"|[黑白灰银金红蓝绿黄橙紫粉棕]色",
    re.IGNORECASE,
)
# a model with its number, a size, a connector: 15 Pro, 256G, USB-C
_MODEL = re.compile(
    r"(?<![A-Za-z0-9-])(?:[A-Z]\w+\s\d+[A-Za-z]{0,2}(?:\s(?:Pro|Max|Plus|Mini|Ultra|Air|Lite))*|[A-Za-z]+\w*\s\d{1,4}\s(?:Pro|Max|Plus|Mini|Ultra|Air|Lite)"
    r"|\d+(?:\.\d+)?\s?(?:GB?|TB|MB|mAh|W|V|Hz|cm|mm|kg|inch|寸|英寸|毫安时?|瓦)|[A-Z]{2,}-[A-Z]|[A-Z]{2,}\d+)(?![A-Za-z0-9])"
)


class FusionParams(Part):
    """How the channels are joined.

    The bases are this project's: the seed design names none from which its own figures follow.

    Attributes:
        method: ``zscore`` adds scores in standard deviations, ``rrf`` adds reciprocal ranks.
        constant: of ``rrf``.
        keyword: base weight of full text.
        vector: base weight of vectors.
        metadata: base weight of memories found by the entities, states and times that the question names.
        graph: base weight of neighbours of these entities.
        dynamic: let weights follow the question.
        gain: share by which a context score of 1 raises a weight.
        exact_attributes: exact attributes in a question from which on words count most; 0 switches this off.
        exact_keyword: weight of full text then.
        exact_vector: weight of vectors then.
    """

    method: Literal["rrf", "zscore"] = "zscore"
    constant: int = Field(default=60, ge=0)
    keyword: float = Field(default=0.3, ge=0)
    vector: float = Field(default=0.45, ge=0)
    metadata: float = Field(default=0.15, ge=0)
    graph: float = Field(default=0.1, ge=0)
    dynamic: bool = True
    gain: float = Field(default=0.3, ge=0)
    exact_attributes: int = Field(default=3, ge=0)
    exact_keyword: float = Field(default=0.7, ge=0)
    exact_vector: float = Field(default=0.2, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, *CHANNELS)
        return self


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each channel for one question, and why each is what it is ("" where it is the base)."""

    by_channel: Mapping[Channel, float]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate after fusion: its id, joined score, and the channels that found it."""

    id: str
    score: float
    channels: tuple[Channel, ...]


def context_scores(query: Query, *, time_range: bool | None = None) -> dict[Channel, float]:
    """Return what the question says for each channel, in [0, 1]; a channel that it says nothing for is missing.

    A time range speaks for metadata (0.8) and a vague description for vectors (0.5), as in the seed design; a chain of
    relations ("the manager of the customer whose …") for the graph (0.8).

    Args:
        query: the question.
        time_range: whether it names a time range; None looks for one in its text.
    """
    text = query.text
    if time_range is None:
        time_range = any(found.kind != "vague" for found in find_times(text, query.asked_at, query.language))
    said: dict[Channel, float] = {}
    if time_range:
        said["metadata"] = 0.8
    if _VAGUE.search(text):
        said["vector"] = 0.5
    if _CHAIN.search(text):
        said["graph"] = 0.8
    return said


def exact_attributes(query: Query) -> list[str]:
    """Return the exact attributes that a question names: numbers, amounts, days, models, sizes, colours, quotations."""
    text = query.text
    language = language_of(text, query.language)
    spans = [(m.start(), m.end()) for pattern in (_MODEL, _COLOUR) for m in pattern.finditer(text)]
    values = [v for v in extract_values(text, query.asked_at, language) if v.kind in _EXACT_KINDS]
    spans += [(v.start, v.end) for v in [*values, *find_quoted(text)]]
    # longest first, so that "15" does not count beside "iPhone 15 Pro"
    taken: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span)):
        if all(end <= a or start >= b for a, b in taken):
            taken.append((start, end))
    return list(dict.fromkeys(text[start:end].strip().casefold() for start, end in sorted(taken)))


def channel_weights(query: Query, params: FusionParams, said: Mapping[Channel, float] | None = None) -> Weights:
    """Return the weights for one question: base × (1 + context score × gain), the seed design's formula.

    Three or more exact attributes set full text to 0.7 and vectors to 0.2 instead; the others share what is left of 1 as
    their bases do.

    Args:
        query: the question.
        params: bases and gain.
        said: context score by channel; None takes :func:`context_scores`.
    """
    base: dict[Channel, float] = {
        "keyword": params.keyword,
        "vector": params.vector,
        "metadata": params.metadata,
        "graph": params.graph,
    }
    if not params.dynamic:
        return Weights(base)
    exact = exact_attributes(query) if params.exact_attributes else []
    if exact and len(exact) >= params.exact_attributes:
        left = max(0.0, 1.0 - params.exact_keyword - params.exact_vector)
        rest = (params.metadata + params.graph) or 1.0
        base |= {
            "keyword": params.exact_keyword,
            "vector": params.exact_vector,
            "metadata": left * params.metadata / rest,
            "graph": left * params.graph / rest,
        }
        return Weights(base, f"{len(exact)} exact attributes ({', '.join(exact)}): words count most")
    said = context_scores(query) if said is None else said
    raised = {name: score for name, score in said.items() if score and base[name]}
    weights = {name: value * (1 + said.get(name, 0.0) * params.gain) for name, value in base.items()}
    told = ", ".join(f"{name} ×{1 + score * params.gain:.2f} (context {score:g})" for name, score in raised.items())
    return Weights(weights, told)


def fuse(
    found: Mapping[Channel, Sequence[tuple[str, float]]],
    weights: Weights,
    params: FusionParams,
    trace: Trace | None = None,
) -> list[Fused]:
    """Join the channels' rankings, best first; equal scores in the order of ids.

    Args:
        found: by channel, ids with the channel's own scores, best first.
        weights: of the channels; one of weight 0 is left out.
        params: the method.
        trace: receives the weights and their reason.
    """
    used = [name for name in CHANNELS if found.get(name) and weights.by_channel[name] > 0]
    ids = sorted({id for name in used for id, _ in found[name]})
    place = {id: number for number, id in enumerate(ids)}
    rankings = []
    for name in used:
        ranking = [(place[id], score) for id, score in found[name]]
        if params.method == "zscore" and name != "vector":
            # What has no word, anchor or neighbour in common scores 0 there. Without it a channel that finds one thing
            # alone, or several alike, would tell nothing.
            ranking += [(number, 0.0) for number in sorted({*place.values()} - {n for n, _ in ranking})]
        rankings.append((ranking, weights.by_channel[name]))
    joined = reciprocal_rank(rankings, params.constant) if params.method == "rrf" else added_scores(rankings)
    by: dict[str, list[Channel]] = {}
    for name in used:
        for id, _ in found[name]:
            by.setdefault(id, []).append(name)
    if trace is not None:
        trace.facts["fusion"] = {
            "weights": {name: round(value, 4) for name, value in weights.by_channel.items()},
            "found": {name: len(found[name]) for name in used},
            "reason": weights.reason,
        }
    return [Fused(ids[number], score, tuple(by[ids[number]])) for number, score in joined]
