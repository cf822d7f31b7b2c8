"""What the words of a question demand of the memories that may answer it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from pydantic import Field

from memtrial.systems.base import Query, Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.times import find_times
from memtrial.systems.structured.trust import SourceParams, Weighed
from memtrial.systems.structured.trust.consistency import Wants

Reading: TypeAlias = Literal["newest", "first", "history"]
MAX_QUESTION = 2000


def _words(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


_LAST = _words(
    r"(?:the )?last (?:time|order|one|purchase|visit|call|ticket|message)|(?:my|our) last|most recent(?:ly)?|latest"
    r"|previous(?:ly)?|earlier|recently|lately|the other day|(?:just|had) (?:now )?told",
    # "3月5日之前" and "周五之前" are deadlines
    r"上次|上一次|上回|(?<![\d日号月年天周点内一二三四五六末底午晚])之前|前几天|前些天|最近|最新|刚才|刚刚",
)
_BINDING = _words(
    r"contract(?:s|ual(?:ly)?)?|clauses?|terms (?:and conditions|of (?:service|use|sale|delivery|payment))"
    r"|(?:the|our|your|their|payment|delivery) terms|agreements?|legal(?:ly)?|liab(?:le|ility)|compliance|statutory"
    r"|by law|SLA|contract penalty",
    r"合同|条款|协议|法律|法规|法定|合规|违约|责任书|保密",
)
_FIRST = _words(
    r"original(?:ly)?|at first|initial(?:ly)?|in the beginning|first (?:said|told|quoted|promised|planned|agreed|announced)",
    r"最初|最早|起初|一开始|原本|原先|本来|当初|原来的?(?!如此)",
)
_HISTORY = _words(
    r"(?:since when|from (?:what|which) (?:date|day|month|version))|when (?:did|was|were|has|have)\b[^?]{0,60}?"
    r"\b(?:chang|start|beg[iau]n|add|introduc|switch|become|became|updat|rais|lower|drop)\w*"
    r"|history of|how (?:did|has|have)\b[^?]{0,60}?\bchanged?|used to|formerly|no longer|what changed",
    r"(?:什么时候|何时|哪天|几号|打?从?哪[天日]|从什么时候)起?[^，。？?]{0,12}?(?:开始|起|改|变|加[到上入]|新增|更新|启用|上线|支持)"
    r"|[打从自]哪[天日]起|是?几号加|什么时候(?:改|变)|以前|曾经|历史|变更记录|改过几次|怎么变",
)
_STATE = _words(
    r"status|still (?:open|pending|unresolved|active|valid)|(?:open|unresolved|pending|active) (?:case|ticket|complaint|issue)"
    r"|resolved|closed|settled|solved|fixed|progress|where do things stand|what(?:'s| is) happening|(?:un)?finished|cancell?ed",
    r"状态|进展|进度|还开着|还在处理|未解决|解决了|处理[到完好得]|结案|关闭|哪一?步|怎么样了|取消了",
)
_AS_OF = _words(
    r"as of|back (?:in|on|then)|at the time|at that time|by then|stood (?:on|at|in)|was (?:it|that) (?:on|in|at)"
    # only what changes with time: "what was the reason for my call on 5 March" asks about a day, not about its knowledge
    r"|(?:was|were) (?:the |my |our |your |his |her |their )[^?]{0,30}?\b(?:price|cost|fee|rate|status|state|polic(?:y|ies)"
    r"|rules?|limit|window|period|address|stock|balance|owner|manager|version|plan|deadline|quota|discount)\b[^?]{0,40}?"
    r" (?:on|in|back in)",
    r"截至|截止到|当时|那时|的时候|那会儿",
)


class PolicyParams(Part):
    """Which words have consequences.

    Attributes:
        enabled: heed any.
        last: "last time", 上次, 之前: old facts fade to nothing.
        authority: contract and terms demand sources above ``min_authority``.
        min_authority: the bound, which itself does not suffice.
        first: "originally", "when did … change", 什么时候开始 ask for the first version, or for all versions.
        as_of: a past time that is named together with "as of", "back in", 截至, 当时 is the time to read at.
        state: "still open?", 进展 ask how a matter stands, so that a closed one is an answer.
    """

    enabled: bool = True
    last: bool = True
    authority: bool = True
    min_authority: float = Field(default=0.9, ge=0, le=1)
    first: bool = True
    as_of: bool = True
    state: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """What a question demands.

    Attributes:
        last: old facts fade to nothing.
        min_authority: sources must be above it; None where any will do.
        reading: of a memory's versions, the newest, the first, or all as a history.
        as_of: the time at which to read; None for the time of asking.
        wants: what holds, how a matter stands, or how it was.
        reasons: each consequence with the words that caused it.
    """

    last: bool = False
    min_authority: float | None = None
    reading: Reading = "newest"
    as_of: datetime | None = None
    wants: Wants = "current"
    reasons: tuple[str, ...] = ()

    def record(self, trace: Trace) -> None:
        """Put the demands into a trace, where there are any."""
        if self.reasons:
            trace.facts["policy"] = list(self.reasons)


def make_policy(query: Query, params: PolicyParams) -> Policy:
    """Read a question's demands from its words (English and Chinese).

    Args:
        query: the question; its history is not heeded, as it is about what was said and not about what is asked.
        params: switches.
    """
    if not params.enabled:
        return Policy()
    text = query.text[:MAX_QUESTION]
    reasons: list[str] = []
    reading: Reading = "newest"
    wants: Wants = "current"
    if params.state and (found := _STATE.search(text)):
        wants = "state"
        reasons.append(f"{found[0]!r} asks how a matter stands: a closed one is an answer")
    if params.first and (found := _HISTORY.search(text)):
        reading, wants = "history", "history"
        reasons.append(f"{found[0]!r} asks for the history of versions")
    elif params.first and (found := _FIRST.search(text)):
        reading, wants = "first", "history"
        reasons.append(f"{found[0]!r} asks for the first version")
    as_of = _past_time(query, text) if params.as_of else None
    if as_of is not None:
        reasons.append(f"a past time is named: read as of {as_of:%Y-%m-%d %H:%M}")
    # Who asks for the beginning does not want old things to fade.
    last = None if reading != "newest" or as_of is not None or not params.last else _LAST.search(text)
    if last:
        reasons.append(f"{last[0]!r} asks for what was last: old facts fade without a floor")
    bound = _BINDING.search(text) if params.authority else None
    if bound:
        reasons.append(f"{bound[0]!r} demands sources of an authority above {params.min_authority:g}")
    return Policy(
        last=last is not None,
        min_authority=params.min_authority if bound else None,
        reading=reading,
        as_of=as_of,
        wants=wants,
        reasons=tuple(reasons),
    )


@dataclass(frozen=True, slots=True)
class Demanded:
    """Candidates after a demand for authority: those kept, those dropped, and what was done in words ("" for nothing)."""

    kept: tuple[Weighed, ...]
    dropped: tuple[Weighed, ...] = field(default=())
    reason: str = ""


def demand_authority(candidates: Sequence[Weighed], policy: Policy, sources: SourceParams) -> Demanded:
    """Keep the candidates whose sources are above the bound; where none is, those of the best source there is.

    Nothing at all would leave an answer to guesswork or to silence, where a weaker source with its trust beside it tells
    the reader what it is worth.
    """
    bound = policy.min_authority
    if bound is None or not candidates:
        return Demanded(tuple(candidates))
    worth = [sources.authority(c.node.fact) for c in candidates]
    best = max(worth)
    least, reason = bound, f"only sources of an authority above {bound:g}"
    if best <= bound:
        reason = f"no source of an authority above {bound:g}: the best there is has {best:.2f}"
    kept = [c for c, w in zip(candidates, worth, strict=True) if w > least or (best <= bound and w == best)]
    dropped = [c for c, w in zip(candidates, worth, strict=True) if not (w > least or (best <= bound and w == best))]
    return Demanded(tuple(kept), tuple(dropped), f"{reason}; {len(dropped)} of {len(candidates)} dropped")


def _past_time(query: Query, text: str) -> datetime | None:
    """Return the last moment of the latest past time that a question names as the time to read at; None without one."""
    if not _AS_OF.search(text):
        return None
    times = find_times(text, query.asked_at, query.language)
    ends = [found.end for found in times if found.kind != "vague" and found.end <= query.asked_at]
    return max(ends) - timedelta(microseconds=1) if ends else None
