"""States and their opposites: open and closed, approved and refused, and what is undecided."""

from __future__ import annotations

import re

from memtrial.systems.models.reader import cues

# opposites: what says the first, what says the second; the last mention in a sentence is the state it ends in
_OPPOSITES = [
    (r"\b(?:re-?)?open(?:ed|s)?\b|\bpending|\bactive|\bunresolved|\bunsettled|\bongoing|\blive again|\bin progress|\bstill (?:on|working|waiting|at it|looking)\b|撤销(?:完结|关闭|结案)|没有?结|重新|重开|又开|未结|处理中|进行中|打开|开着|新建|挂着",
     r"\bclos(?:ed?|ing)\b|\bresolved|\bsettled|\bcompleted|\bfinished|\bexpired|\bsolved|\bwraps? (?:\w+ )?up|\bwrapped up|\bover and done|\bdone with|\bdealt with|\bdone\b|关闭|关单|关了|解决|结案|结单|结了|结束|办结|完结|完成|过期|失效|结掉|归档|画句号"),
    (r"\bin stock|\bavailable|有货|现货|在售", r"\bout of stock|\bsold out|\bunavailable|\bdiscontinued|缺货|无货|售罄|下架|停产"),
    (r"\bapprov\w*|\baccept\w*|\bgrant\w*|\bagree\w*|\bcame through|\bwent through|\bsaid yes|\bconfirmed|\bcertain\b|\bdefinite\w*|\bfor sure\b|\ballowed|\bpermitted|\bsign(?:ed)? up|批准|批了|批下来|同意|通过|接受|答应|下来了|申请到|办下来|确定|落实|准了",
     r"\breject\w*|\bdeclin\w*|\brefus\w*|\bdenied|\bturned down|\bfell through|\bis off\b|\bno go\b|拒绝|驳回|打回|不批|没批|没过|没通过|没下来|黄了|没戏|泡汤"),
    (r"\bkeep|\bkept|保留", r"\bcancel\w*|\breturned|取消|退货|退掉"),
    (r"\blikes?\b|\bloves?\b|\benjoy\w*|喜欢", r"\bhates?\b|\bdislikes?\b|讨厌"),
    (r"\bfree\b|免费|包邮", r"\bcharged?\b|\bfee\b|收费|自费"),
    (r"\binclu\w+|包含|包括", r"\bexclu\w+|不含"),
]  # fmt: skip
_STATES = [(re.compile(a, re.IGNORECASE), re.compile(b, re.IGNORECASE)) for a, b in _OPPOSITES]
_AGREEMENT = _STATES[2]
# neither yes nor no yet, whatever was asked to have happened
_UNDECIDED = re.compile(
    r"\bsleep on it\b|\bthink (?:about|it over|on it)\b|\bthinking (?:about|it over)\b|\bnot (?:yet|sure)\b|\bhesitat\w*|\bundecided\b|\bno promises\b|\bno idea\b|\bmaybe\b|\bput in for\b|\bask first\b|\bhave to ask\b|\bcan(?:no|')t promise\b|\blet me (?:see|think|check)\b|\bon the fence\b|\bputs? me off\b|\bworr\w+|\bbothers?\b|\btry to\b|\btorn\b|\bsecond thoughts\b|\bsnag\b|\byes or no\b|\bunsure\b|\bhold(?:ing)? off\b|\bnot convinced\b|\bno rush\b|\bsee (?:if|whether)\b"
    r"|斟酌|不一定|请示|也许|没准|说不好|考虑|再想|犹豫|顾虑|纠结|不敢(?:打)?(?:包票|保证)|不保证|还没(?:定|想)|不急|卡在|拿不定|下不了决心|观望|没想好|试试|争取|尽量|担心|看看能不能",
    re.IGNORECASE,
)
_RESTRICTED = re.compile(
    r"\bonly\b(?! \d)|\b(?:limited|restricted|reserved) (?:to|for)\b|\bexclusive(?:ly)?\b|仅(?!供)|只(?:有|在|能|开放|支持|对|给)|限(?=[一-鿿]{1,6}(?:版|款|型))|专属|独占",
    re.IGNORECASE,
)


def states(question: str, text: str) -> tuple[int, int]:
    """Return which side of an opposition question and statement name: 1, -1, or 0 for neither; (0, 0) where none applies.

    The pair is the first one of which the question names a side. A statement that names neither but denies something
    counts for the other side, save with open and closed: "it won't start" closes no ticket.
    """
    for place, pair in enumerate(_STATES):
        asked = _state(pair, question)
        if asked:
            said = _state(pair, text)
            if not said and place > 0 and cues.negations(text) % 2 == 1:
                said = -1
            if said > 0 and pair is _AGREEMENT and cues.is_doubtful(text):
                said = -1
            return asked, said
    return 0, 0


def is_undecided(text: str) -> bool:
    """Tell whether a statement leaves the matter open: a hesitation or a half-promise."""
    return bool(_UNDECIDED.search(text))


def is_restricted(text: str) -> bool:
    """Tell whether a statement holds only under a condition or for one variant."""
    return bool(_RESTRICTED.search(text))


def speaks_of_state(question: str, text: str) -> bool:
    """Tell whether a statement says something about the state (open, approved, …) that a question asks about."""
    return all(states(question, text))


def _state(pair: tuple[re.Pattern[str], re.Pattern[str]], text: str) -> int:
    """Return 1 or -1 for the side of a pair that a text ends on, 0 where it names neither; a negation just before flips."""
    found = sorted(
        (match.start(), -match.end(), sign)
        for sign, pattern in zip((1, -1), pair, strict=True)
        for match in pattern.finditer(text)
    )
    state, covered = 0, 0
    for start, end, sign in found:
        # 撤销完结 takes a closing back: what lies inside a longer mention does not count
        if -end <= covered:
            continue
        covered = -end
        lead = text[max(0, start - (4 if text[start] >= "一" else 10)) : start]
        state = -sign if cues.negations(lead) % 2 == 1 else sign
    return state
