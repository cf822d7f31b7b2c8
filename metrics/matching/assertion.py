"""Whether a value that is named is asserted as what holds, or named as past, denied, contrasted or in passing.

The last cue before the value in its clause decides, then a cue right after it. Cues are words of a kind, never of a question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from memtrial.metrics.matching.quantities import DATE, Value
from memtrial.metrics.matching.text import CHANGE_VERB, CJK, STOPWORDS, Text, content_words


class Status(Enum):
    """How a value is named."""

    ASSERTED = "asserted"
    NEW = "asserted as the newest"
    OLD = "named as past"
    DENIED = "denied"
    ASIDE = "named in passing"


_BEFORE = re.compile(
    # Words that look like a denial and are none.
    r"(?P<skip>\bnot\s(?:only|just|until|till|before|later\sthan|more\sthan|less\sthan|exceed(?:ing)?|sure|quite|to\sexceed)|\bno\s(?:later|more|less|fewer|earlier|sooner)\sthan"
    r"|\bnone\sother\sthan|\bnothing\sbut|\bno\s(?:doubt|problem|worries)|\bno\.\s?(?=\d)|不超过|不晚于|不迟于|不少于|不止|不低于|不高于|不仅|不但|不只|不光|不过|没问题|没错|不错|不变|非常|未来|别人|别的|"
    r"无锡|无论|无线|[区特级分性识个类告]别|不同|不少|不久|不然|没准|差不多|不得不|不管|不到|不足|是不是|有没有|要不要|能不能|不好意思)"
    r"|(?P<deny>\b(?:not|never|neither|nor|without|no\slonger|no|rather\sthan|instead\sof|in\splace\sof|wrong(?:ly)?|mistaken(?:ly)?|as\sopposed\sto|against|cancelled|canceled|withdrew|withdrawn|retracted|dropped\sthe|ruled\sout|"
    r"unlike|versus|vs\.?|except(?:\sfor)?|unless|apart\sfrom|aside\sfrom|other\sthan|excluding|besides)\b|n't\b"
    r"|不是|并非|并不|而非|而不是|不再|不|没有|没|未|别|非|勿|拒绝|取消|撤回|否认|作废|除了|除开|除非|区别于|不同于)"
    r"|(?P<new>\bso\s(?=(?:it|we|they|the|now|that|he|she|you|i)\b)|\b(?:therefore|hence|thus)\b|所以|因此|于是|只好|\b(?:now(?!\sthat)|currently|at\spresent|these\sdays|nowadays|current|latest|newest|new|updated|became|becomes|become|finally|eventually|ended\sup|since\sthen|later|afterwards|in\sfact|actually|instead)\b(?!\sof)"
    rf"|\b{CHANGE_VERB}\b[^;]{{0,60}}?\bto\b|\b(?:replaced|superseded|followed)\s(?:by|with)\b|\b(?:up|down)\sto\b|→|->|=>"
    r"|现在|目前|如今|眼下|最新|[改换变调降涨升减增提推延转移更][^,;。]{0,4}?(?:成|为|到|至|给|由|用|走|回|在|寄|发)|改|而是|最终|最后|后来|实际|新|应该是|只要|转归)"
    r"|(?P<old>\b(?:used\sto|previously|formerly|originally|initially|at\sfirst|earlier|until|till|old|older|former|previous|outdated|obsolete|supersed(?:es|ed|ing)|replac(?:es|ed|ing)|"
    r"up\sfrom|down\sfrom|before\sthat|before|prior|back\sthen|in\sthe\spast|last\s(?:year|month|week|time)|first\s(?:said|planned|quoted|agreed|wanted|booked)|was\sgoing\sto|were\sgoing\sto|"
    r"swap(?:s|ped|ping)?\s(?:\w+\s)?with|t(?:ook|akes|ake|aking)\sover(?:\sfrom)?|cover(?:s|ed|ing)?\sfor|(?:st(?:ands|ood|anding)|stepp(?:ed|ing)|steps|fill(?:ed|ing|s))\sin\sfor|inherit(?:ed|s)\sfrom|succeed(?:ed|s|ing)|"
    r"t(?:ook|akes)\sthe\splace\sof|in\sfor|on\sbehalf\sof|handed\sover\sby|instead\sof)\b"
    rf"|\b{CHANGE_VERB}\b(?:\s[^\s;]+){{0,5}}?\sfrom\b|(?:取代|代替|替代|替换|接替|顶替|接手|接管|替)了?|原来|原先|原定|原价|原本|原计划|原|本来|以前|之前|此前|先前|早先|早期|起初|最初|一开始|曾经?|旧|过去|(?:[月日号年天周]|\d)(?:之|以)?前|先(?:报|说|定|约|按|写|给|是|谈|要|订)|老(?:地址|价|版|规|口径|号|办法|流程|方案))"
    r"|(?P<reset>(?<![不并而还要若只也都再])是|但|\bis\b|\bare\b|\bbut\b|\bit's\b)"
)
_CHANGED_FROM = re.compile(rf"\b{CHANGE_VERB}\b.*\bfrom\s(?:the\s)?$")
_FROM_ZH = re.compile(r"[从由自]\s?$")
_CHANGES_ZH = re.compile(r"^[^,。;]{0,4}?[改换变调降涨升推延提减增转移]")
_AFTER_OLD = re.compile(
    r"^\W{0,2}(?:[\w'/]+\W+){0,3}?(?:(?:before|previously|earlier|originally|formerly|initially|at\sfirst|back\sthen|until|till|in\sthe\spast|last\syear)\b"
    r"|(?:is|was|are|were)\s(?:just\s|only\s)?(?:the\s|an?\s|his\s|her\s|my\s|our\s|their\s|your\s)?(?:old|previous|former|original|outdated|obsolete|initial|earlier|past|superseded|first)\b"
    r"|(?:was|were|is|are|has\sbeen|have\sbeen|had\sbeen|got|gets|being)\s(?:\w+\s)?(?:replaced|superseded|cancell?ed|dropped|withdrawn|retracted|called\soff|changed|moved|reversed|scrapped|revoked|corrected|"
    r"taken\sback|rejected|closed|resolved|overruled|updated|fixed|settled|refunded|completed|finished|raised|lowered|reduced|increased|rescheduled|postponed|renamed|rebranded|switched\soff|turned\soff|shut\sdown|phased\sout|discontinued|sold|stopped)\b)"
    r"|^\s?(?:→|->|=>)"
    rf"|^\s(?:\w+\s)?(?:handed|passed|gave|transferred|delegated|reassigned|left|{CHANGE_VERB})\s(?:\w+\s){{0,4}}?(?:over\s)?to\b"
    rf"|^\s?,?\s?(?:but|and|then)\s(?:was\s|were\s|got\s|then\s|it\s|they\s|later\s){{0,3}}{CHANGE_VERB}\b"
    r"|^\s(?:has\s|had\s)?(?:left\s(?:the|in|us|for|on|at|our|his|her)|resigned|quit|retired|moved\son)\b|^(?:已经?)?(?:走了|离开|辞职|调离|离职|退休|不干了|不做了)"
    r"|^[^,。;]{0,6}?(?:是|为)?(?:以前|之前|原来|原先|旧|早先|最初|起初|过去|老)(?:的|价|地址|口径|版|$)"
    r"|^[^,。;]{0,8}?(?:已经?|被|都|后来|现已|才|又)?(?:[改换变调降涨升推延转移更交传递][^,;。]{0,3}?(?:成|为|到|至|给))"
    r"|^[^,。;]{0,3}?(?:改|换|变|转)[成为到用走给]?$|^[^,。;]{0,3}?不(?:管|干|做|用|走|去|来|收|行)了?(?=$|[,。;])"
    r"|^[^,。;]{0,8}?(?:已经?|被|都|后来|早就|早)(?:\w{0,2})?(?:作废|取消|撤回|失效|过期|废止|推翻|收回|更正|停用|关闭|关了|完成|修复|修好|解决|办完|结清|退完|了结|离职|调走)"
)
_AFTER_RETRACTED = re.compile(
    r"^[^,。;]{0,12}?(?:作废|失效|过期了|废止|不再|取消|撤回|撤销|收回|反悔|算了|没成|没改成|不改了|黄了|推翻|更正)"
    r"|^\W{0,3}(?:(?:but|which|though|and|then|later|that|it|this|who)\s){0,3}(?:was|were|is|got|has\sbeen|had\sbeen)\s(?:later\s|then\s|since\s|subsequently\s|soon\s)?"
    r"(?:cancell?ed|withdrawn|retracted|called\soff|reversed|scrapped|revoked|corrected|taken\sback|overruled|dropped|replaced|superseded)\b"
)
_AFTER_DENIED = re.compile(
    r"^\W{0,2}(?:[\w']+\s){0,2}?(?:(?:is|was|are|were)(?:n't|\snot)\s(?:the|it|right|correct|valid|true|what|applicable|current|accurate|his|hers?|my|ours?|theirs?|yours?|for)\b"
    r"|(?:[\w']+\s){0,4}?(?:is|was|are|were)\s(?:wrong|incorrect|false|mistaken|invalid|a\smistake|an\serror)|do(?:es)?(?:n't|\snot)\s(?:apply|count|hold)|no\slonger|only\s(?:on|for|if|when|in|under|with|at)\b|fell\sthrough|never\shappened)"
    r"|^[^,。;]{0,6}?(?:不对|不正确|错的|错了|有误|不算|不作数|不适用|不再|没成|没有成|是错|之外|以外|除外|例外|不是(?:这|正确|最新|现在|对的|他|她|我|你))"
)
_NOW_NEXT = re.compile(
    r"^\W{0,3}(?:[a-z元块个只天度]+\s?)?[,;(。:]\s?(?:and\s|but\s|it'?s\s|it\sis\s|那|但是?|而|到)?(?:now|currently|these\sdays|today|since\sthen|later|then|afterwards|from\s\w+\son|现在|如今|目前|眼下|后来|之后|已改|现已|现|新)"
)
_BUT = re.compile(r"^(?:\s\w+){0,3}?[\s,;]{1,2}but\s[^.;,]{0,30}$|^[^。;,]{0,6},?(?:但|不过|可是?|而)[^。;,]{0,10}$")
_NOW_AFTER = re.compile(
    r"^\s?(?:[a-z]+\s)?(?:now|these\sdays|nowadays|currently|today|instead|since)\b|^[元块个天号点只件次]?[了起]"
)
_WEAK_BEFORE = re.compile(
    r"\b(?:was|were|had|been|counted|counting|starting|beginning|since|as\sof|from|times|plus|minus|per|each|of|other|another|different|if|when|until|till|via|versus|including|planned|scheduled|booked|supposed|meant|intended|quoted|announced|proposed|expected|says?|said|claims?|claimed|states?|stated|thought|believed|reported|suggested|for|with)\s(?:\w+\s)?$"
    r"|(?:当时|那时|自|从|按|由|每|以|加|减|乘|除以|其中|包括|另|别的|其他|其它|如果|即|含)\w{0,2}$|说|称|以为|写着|据说|[×x*+÷=]\s?[€$£¥]?$"
)
_WEAK_AFTER = re.compile(
    r"^\s?(?:[×x*+÷=]|(?:for|with|from)\s|(?:is|was|are|were)\s(?:for\s|from\s|at\s|with\s)?\w+'s\b|(?:is|was|are|were)\s(?:for|from|at|with)\s|(?:each|apiece|per\s\w+|a\shead|for\seach|times|plus|minus|of\s(?:which|them)|and\sthe\srest)\b|(?:was|were|belongs?|is)\s(?:for|from|at|to|with)?\s?(?:the\s)?(?:other|another|different)\b|起|开始|算起|[个只件台]?[的]?(?:时候|那次|那只|那边|那个)|/\s?(?:人|次|天|个|月|年))"
    rf"|^\w{{0,2}}是[{CJK}]{{1,6}}的$"
)
_CARRY = re.compile(rf"(?:[a-z']+\s?){{1,4}}|[{CJK}\w]{{1,7}}")
_FAR_EN, _FAR_ZH = 45, 7


# Words that name no statement of their own: what every answer to such a question may say, and hedges.
_GENERIC = frozenset(
    content_words(
        "cost price fee charge amount total pay answer value number date time day name also maybe perhaps probably possibly could might or either one "
        "and about around say call per month year week night hour again correction wait sorry sure certain exactly "
        "but so then well like only just alternatively may must should people thing get got go goes come take need want know"
    )
) | frozenset(
    "是要收元块共总可能也或大概另外应该估计猜觉得吧呢啊了的有在就这那个和与及跟还约左右每日天号一二三四五六七八九十几多少呀嘛等或者者"
)
_HEDGE = frozenset(content_words("think believe guess suppose assume reckon"))
_I = re.compile(r"\b(?:i|we)\b")
_JOIN = re.compile(
    r"\b(?:because|now\sthat|since|as|after|when|while|whereas|although|though|for|who|which|where)\b|因为|由于|而"
)


class Reader:
    """Reads the status of spans in one answer."""

    def __init__(
        self,
        text: Text,
        clauses: list[tuple[int, int]],
        values: tuple[Value, ...],
        spans: Sequence[tuple[int, int]],
        foreign: frozenset[str],
    ) -> None:
        """Hold the answer.

        Args:
            text: the normalised answer.
            clauses: its clauses.
            values: its typed values.
            spans: where accepted forms and lure values are named.
            foreign: names that the lures speak of and the question does not.
        """
        self.text = text
        self.clauses = clauses
        self.values = values
        self.spans = spans
        self.foreign = foreign

    def clause(self, start: int) -> int:
        """Index of the clause that holds a place."""
        for i, (_, end) in enumerate(self.clauses):
            if start < end:
                return i
        return len(self.clauses) - 1

    def status(self, start: int, end: int, rivals: list[tuple[int, int]], *, dated: bool = False) -> Status:
        """Read how the span is named.

        Args:
            start: where it starts.
            end: where it ends.
            rivals: spans of the other values found (gold and lures), for "12, now 8".
            dated: the span is a point in time, beside which "until" and "from" make an anchor, not a change.
        """
        index = self.clause(start)
        left, right = self.clauses[index]
        low = self.text.low
        before, after = self._words_before(self._reach(index, start), start), low[end : max(right, end)]
        nearest = min((s for s, _ in rivals if s >= end), default=len(low))
        after = after[: max(0, nearest - end)]
        if _AFTER_RETRACTED.match(low[end : min(nearest, end + 60)]):
            return Status.OLD
        status = self._after(low, end, after, nearest)
        if status is Status.DENIED:
            return status
        if _FROM_ZH.search(before) and _CHANGES_ZH.match(after):
            return Status.OLD
        cue = self._before(before, index, dated=dated)
        if cue in (Status.DENIED, Status.OLD, Status.ASIDE):
            return cue
        if status is Status.OLD and cue is not Status.NEW:
            return status
        if cue is Status.NEW or _NOW_AFTER.match(after):
            return Status.NEW
        if _WEAK_BEFORE.search(before) or _WEAK_AFTER.match(after):
            return Status.ASIDE
        clause = self.text.low[left:right]
        if any(name in clause for name in self.foreign):
            return Status.ASIDE
        return Status.ASSERTED

    def _words_before(self, left: int, start: int) -> str:
        """The words before a span, without what is itself a value named: the 没 of 没测完 denies nothing after it."""
        before = self.text.low[left:start]
        for s, e in self.spans:
            if left <= s and e <= start:
                before = before[: s - left] + "\0" * (e - s) + before[e - left :]
        return before

    def _reach(self, index: int, start: int) -> int:
        """Where the words that speak for a span begin: a parenthesis is spoken for by what stands before it."""
        left = self.clauses[index][0]
        if index and self.text.low[:start].endswith("("):
            return max([self.clauses[index - 1][0]] + [e for _, e in self.spans if e <= start])
        return left

    def own_statement(self, start: int, end: int, known: frozenset[str], after: int = -1) -> bool:
        """Say whether the clause of a span states something of its own about it: "Hanna, because Piet's car was sold".

        Args:
            start: where the span starts.
            end: where it ends.
            known: content words of the question.
            after: end of the accepted value named before; it must stand in another clause, or before a joining word.
        """
        if not self.clauses:
            return False
        left, right = self.clauses[self.clause(start)]
        if left < after:
            join = _JOIN.search(self.text.low, after, start)
            if join is None:
                return False
            left = join.end()
        elif after >= 0:
            head = self.clauses[self.clause(max(0, after - 1))]
            known = known | frozenset(content_words(self.text.low[head[0] : head[1]]))
        rest = self.text.low[left:start] + " " + self.text.low[end : max(right, end)]
        said = [w for w in content_words(rest) if w not in STOPWORDS]
        cjk = [w for w in said if w >= "\u3400"]
        if _I.search(rest):
            said = [w for w in said if w not in _HEDGE]
        novel = [w for w in said if w not in known and w not in _GENERIC and not (w.isdigit() and len(w) < 3)]
        return bool(novel) and (len(cjk) != 1 or len(said) > 1)

    def _after(self, low: str, end: int, after: str, nearest: int) -> Status | None:
        if _AFTER_DENIED.match(after):
            return Status.DENIED
        if _AFTER_OLD.match(after):
            return Status.OLD
        if nearest < len(low) and _BUT.match(low[end:nearest]):
            return Status.OLD
        then = _NOW_NEXT.match(low[end : end + 40])
        if then:
            place = end + then.end()
            if nearest - place < 40 or any(v.family != DATE and 0 <= v.start - place < 30 for v in self.values):
                return Status.OLD
        return None

    def _before(self, before: str, index: int, *, dated: bool) -> Status | None:
        if _CHANGED_FROM.search(before):
            return Status.OLD
        cues = [m for m in _BEFORE.finditer(before) if m.lastgroup != "skip"]
        last = cues[-1] if cues else None
        if last is None or (last.lastgroup == "reset" and not before[: last.start()].strip()):
            carried = self._carried(index, before)
            if carried is not None:
                return carried
        if last is None:
            return None
        distance = len(before) - last.end()
        if last.lastgroup == "deny":
            far = _FAR_ZH if last[0] >= "\u3400" else _FAR_EN
            return Status.DENIED if distance <= far else None
        if last.lastgroup == "old":
            if dated and distance <= 1 and last[0] in ("until", "till", "before", "之前", "earlier", "prior"):
                return Status.ASIDE
            return Status.OLD
        if last.lastgroup == "reset":
            # "The old fee is 12": the copula does not take back what came before it.
            earlier = [m for m in cues if m.lastgroup in ("old", "new")]
            if earlier:
                return Status.OLD if earlier[-1].lastgroup == "old" else Status.NEW
            return None
        return Status.NEW

    def _carried(self, index: int, before: str) -> Status | None:
        """A short adverbial clause speaks for the one after it: "Originally, 12"; 以前，12元."""
        if not index:
            return None
        left, right = self.clauses[index - 1]
        previous = self.text.low[left:right].strip()
        held = [v.start for v in self.values if v.family != DATE] + [s for s, _ in self.spans]
        if any(left <= start < right for start in held) or not _CARRY.fullmatch(previous):
            return None
        for match in reversed(list(_BEFORE.finditer(previous))):
            if match.lastgroup == "old":
                return Status.OLD
            if match.lastgroup == "new":
                return Status.NEW
        return None
