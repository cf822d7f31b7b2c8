"""Facts about tickets and complaints, returns, and missing parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.leftover import LABELS_EN, chunks
from memtrial.systems.structured.extraction.noise import small_talk
from memtrial.systems.structured.node import State

_LIST = re.compile(r"\s*(?:,|、|，|;|；|\band\b|&|\bnor\b|\bor\b|以及|还有|和|跟|与)\s*")
_ARTICLE = re.compile(
    r"^(?:the|an?|my|any|no|your|its|also|even|either|plus|and|oh|with|those|these|that|this)\s+", re.IGNORECASE
)
_FILLER_EN = re.compile(
    r"^(?:so|ok|okay|right|erm|look|hi|hi again|hello|well|oh|btw|hey|just wondering|sorry|sadly|the|my|a|an|i|it|is|was|that|and|but|because|as|since|how do|can|to|in|on|of|about|like|for|be|could|would|should|something|rather|please|with|at|has|have|does|again|once more|still|yet|by the way)\s+|\s+(?:please|thanks|pls|haha|again|once more|like before|by the way|so|is|the|of|on|in|for|with|and|my|it|to|a|box|parcel|now)$",
    re.IGNORECASE,
)
_FILLER_ZH = re.compile(
    r"^(?:那个|对了|嗯|话说|我说|哎|亲|请教下|顺便|喏|我|这|你们|的|是|要|想要|想|就|都|也|还|又|再|有|啊|呀|嘛|能|可以|让|把|给|里面|里|盒子里|原因是|因为|主要是|最好是|其实|那种|用着用着|才用几次就|老是|还是|照样|再次|一事|近日|出现异常|本人使用|我购买)"
    r"|(?:谢谢|哈|辛苦|麻烦啦|不急|好吧|吧|啊|呀|吗|了|的|呢|哦|那种感觉|这个|这块|让我犹豫|一事)$"
)


def trimmed(text: str, language: str) -> str:
    """Drop fillers from both ends."""
    pattern = _FILLER_ZH if language == "zh" else _FILLER_EN
    for _ in range(8):
        shorter = pattern.sub("", text, count=1).strip(" ,，.。:：-–…~～!！")
        if shorter == text or not shorter:
            break
        text = shorter
    return text


def free_text(case: Case, *cut: re.Pattern[str]) -> str:
    """Return the longest piece of the text outside the entities, cut at cue words, without fillers."""
    spans = [(m.start, m.end) for m in case.said.mentions]
    spans += [m.span() for pattern in cut for m in pattern.finditer(case.text)]
    found = [trimmed(p, case.said.language) for p in chunks(case.text, spans) if not small_talk(p)]
    return max(found, key=len, default="")


_CLAUSE = re.compile(r"[,，.。;；:：!！?？…—\n()（）]+|\s[-–]\s")
_TOKEN = re.compile(r"[\w\u4e00-\u9fff]")


def told_apart(case: Case, cue: re.Pattern[str], marker: re.Pattern[str], *cut: re.Pattern[str]) -> str:
    """Return what a text gives for an attribute, told from the words that speak of the attribute itself.

    It is what follows a marker such as "because" in its clause (or precedes it, in the groups ``before`` and ``lead``); else what stands in the clauses without the
    attribute's own words; else the longest unknown piece.
    """
    for match in marker.finditer(case.text):
        lead = next((name for name in ("before", "lead") if match.groupdict().get(name)), "")
        if lead:
            start, end = match.span(lead)
        else:
            stop = _CLAUSE.search(case.text, match.end())
            start, end = match.end(), stop.start() if stop else len(case.text)
        told = _longest(case, start, end, cut)
        if len(told) > 1:
            return told
    at, apart = 0, ""
    for stop in [*_CLAUSE.finditer(case.text), None]:
        end = stop.start() if stop else len(case.text)
        piece = case.text[at:end]
        if _TOKEN.search(piece) and not cue.search(piece):
            apart = max(apart, _longest(case, at, end, cut), key=len)
        at = stop.end() if stop else end
    return apart if len(apart) > 1 else free_text(case, *cut)


def _longest(case: Case, start: int, end: int, cut: Sequence[re.Pattern[str]]) -> str:
    part = case.text[start:end]
    # a reason may name a feature ("the battery life is short"); what it is about must not be in it
    held = [m for m in case.said.mentions if m.kind != "topic" or case.memory.features.get(m.key) == "plan"]
    spans = [(m.start - start, m.end - start) for m in held if m.start >= start and m.end <= end]
    spans += [m.span() for pattern in cut for m in pattern.finditer(part)]
    found = [trimmed(p, case.said.language) for p in chunks(part, spans) if not small_talk(p)]
    return max(found, key=len, default="")


def whole_clause(case: Case) -> str:
    """Return the longest piece of the text outside the entities, whatever words are in it."""
    return free_text(case)


def tickets(case: Case) -> Iterator[Draft]:
    """What a message says of a ticket: opened, closed or opened again, and what is done about it."""
    ticket = case.said.first("ticket")
    if not ticket or case.said.voice not in ("record", "staff"):
        return
    filed = case.learner.filed.get(ticket)
    product, ids = case.thing("product")
    if filed and filed.product and not case.said.first("product"):
        product, ids = filed.product, (filed.message_id,)
    owner = filed.customer if filed and filed.customer else case.customer
    base = {"owner": owner, "also": (product,) if product else ()}
    known = case.memory.current((owner, ticket, "ticket_state"))
    if known is None and not (cues.CLOSED.search(case.text) and not case.said.first("product")):
        yield Draft("ticket_state", "open", "text", ticket, state="open", fact_type="complaint", ids=ids, **base)  # type: ignore[arg-type]
        if case.said.voice == "record" and product:
            symptom = max(case.rest(), key=len, default="")
            if symptom:
                yield Draft("symptom", symptom, "text", product, owner, "open", "complaint", also=(ticket,))
        return
    again = bool(cues.REOPENED.search(case.text))
    closed = bool(cues.CLOSED.search(case.text)) and not again
    if not again and not closed:
        # wording unknown: something under way keeps a case open, something done to an open one settles it
        under_way = bool(_UNDER_WAY.search(case.text))
        again = known is not None and known.state == "resolved" and under_way
        closed = known is not None and known.state == "open" and not under_way and bool(_DONE.search(case.text))
    state: State = "open" if again else "resolved" if closed else (known.state if known else "open")
    if again or closed:
        value = "open" if again else "resolved"
        yield Draft("ticket_state", value, "text", ticket, state=state, fact_type="complaint", ids=ids, **base)  # type: ignore[arg-type]
    done = told_apart(case, _STATE, _NEVER, _TICKET_TALK)
    if done:
        yield Draft("handling", done, "text", ticket, state=state, fact_type="complaint", ids=ids, **base)  # type: ignore[arg-type]


_UNDER_WAY = re.compile(
    r"正在|在(?=[\u4e00-\u9fff])|中(?:$|[，,。；;）)])|等待|待|将|安排|要求?|重新|未|没|还(?:得|要|需)|\b(?:is|are|being|will|to be|waiting|awaiting|pending|under|in progress|in \w+$|arranged|requested|ordered|on order|escalated|again)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"了(?:$|[，,。；;！!：:])|已|完(?!全)|好了|\b(?:\w+ed|done|swapped|sent|paid|fixed|over|off|concludes?)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(r"(?!)")
_STATE = re.compile(
    rf"{cues.REOPENED.pattern}|{cues.CLOSED.pattern}|^\W*(?:状态|目前|现在|处理(?:中|结果)?|status|state)\W*$",
    re.IGNORECASE,
)
_TICKET_TALK = re.compile(
    r"\b(?:is closed on our side|closed|we've settled|settled|all done with|closing \S+ now|closing|so i'm ticking it off|that wraps up|is live again|i've put|back on the list|has been opened once more|open again|"
    r"re-?opened|you're right|goes on|picking|up again|back to open|active again|case|done|resolved|ticket)\b"
    r"|状态|现状|工单|您的|已关闭|关闭|完结|办结|归档|结了|处理完毕|这边|关单了?|办好啦|画句号了|重新打开了?|继续跟|恢复处理|恢复(?=[:：，,])|又把|激活了|再开|没算完|重开|再次处理中|撤销完结",
    re.IGNORECASE,
)


def complaints(case: Case) -> Iterator[Draft]:
    """A fault that the customer reports."""
    product = case.said.first("product")
    if not product or not cues.TROUBLE.search(case.text):
        return
    symptom = whole_clause(case)
    if symptom:
        yield Draft("symptom", symptom, "text", product, case.customer, "open", "complaint")


def returns(case: Case) -> Iterator[Draft]:
    """Why the customer sends something back."""
    product = case.said.first("product")
    if not product or not cues.RETURN.search(case.text):
        return
    if cues.ASKS_REFUND.search(case.text) and not _WANTS_REFUND.search(case.text):
        return
    reason = told_apart(case, _RETURNING, _REASON, _RETURN_TALK)
    if reason:
        yield Draft("return_reason", reason, "text", product, case.customer)


_WANTS_REFUND = re.compile(
    r"\b(?:please|kindly|want to|like to|want you to|have to) (?:\w+ )?refund\b|\bwant (?:my|the) money\b|(?:请|麻烦|帮我|想要?|要求)[^，,]{0,4}退款",
    re.IGNORECASE,
)
_RETURNING = re.compile(
    rf"{cues.RETURN.pattern}|不想(?:留|要)|不(?:太|是很|怎么)?(?:合适|满意|想要)|帮我|办理?|可以吗|能不能"
    r"|\b(?:not (?:quite )?(?:right|happy|satisfied)|not for me|doesn't suit|no use|would like|want to|can you|could you|arrange)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:因为|由于|原因(?:是|就是)?|理由(?:是)?|主要是|毕竟)\s?[:：，,]?\s?|\b(?:because(?: of)?|since|due to|owing to|as it|reason(?: is| being)?\s?:?|on account of)\s",
    re.IGNORECASE,
)
_RETURN_TALK = re.compile(
    r"\b(?:i'd like to return|has to go back|can i send|how do i return|returning|it's a no from me on|please take|take|isn't staying|sadly|send back|back|return)\b"
    r"|想退了?|退货|能退吗|我不要了|不要了|申请退一下|原因是|帮我走|的退货|不太满意|退吧|得寄回去|申请退",
    re.IGNORECASE,
)


def missing(case: Case) -> Iterator[Draft]:
    """Parts that lack in a box; one more of them; one found after all."""
    said = case.said
    product = said.first("product")
    last = case.focus.last("missing", said.message.sender)
    if product:
        if cues.MISSING.search(case.text) and not cues.FOUND.search(case.text) and (items := _items(case)):
            yield Draft("missing", "; ".join(items), "text", product, case.customer)
        return
    if last is None:
        return
    spot = (last.owner, last.subject, "missing")
    current = case.memory.current(spot) or last
    lacking = current.value.split("; ")
    low = case.text.lower()
    back = [item for item in lacking if item.lower() in low]
    if (back and cues.FOUND.search(case.text)) or (back and not cues.MISSING.search(case.text)):
        left = [item for item in lacking if item not in back]
        yield Draft("missing", "; ".join(back), "text", last.subject, last.owner, "retracted", ids=current.message_ids)
        if left:
            yield Draft("missing", "; ".join(left), "text", last.subject, last.owner, ids=current.message_ids)
    elif not back and (cues.MISSING.search(case.text) or cues.MORE.search(case.text)) and (items := _items(case)):
        value = "; ".join([*lacking, *items[:1]])
        yield Draft("missing", value, "text", last.subject, last.owner, ids=current.message_ids)


_MISSING_TALK = re.compile(
    r"\b(?:come to think of it|where's|where is|where are|absent|gone|nor|sorted|box of|package|packaging|arrived|incomplete|another thing|another|thing|things|there was|there were|included|include|receive|received|left out|not|supplied|enclosed|has|have|and i|i|came without|unpacked|can't find|not in|box|parcel|is here but|didn't come|somebody forgot|someone forgot|forgot|with my|no sign of|in the|just noticed|isn't there|aren't there|make that|looked everywhere|is missing|are missing|missing|add|to that|either|as well|too|plus|also|oh|without|but|is here)\b"
    r"|包装里|包装|配件|不全|不齐|缺少|忘了?(?:放|装|给|发)?|没收到|没发|而且|一样|怎么|清点下来|清点|差|好像|连|落下|其实|发现|打开一看|都|盒子里|少了|拆了|没看到|漏发|没给我装|那单|收到|里面翻遍了|里面|没有|哦对|也没有|还差|再加一个|没见着|刚发现|也漏了|同样没给|另外|也缺|缺|漏|少|没给|没见|没装|也",
    re.IGNORECASE,
)


def _is_filler(item: str) -> bool:
    return item[-1] in "里中内" or item.lower() in LABELS_EN or small_talk(item) or not any(c.isalpha() for c in item)


def _asides(case: Case) -> list[tuple[int, int]]:
    """Return what only leads up to what lacks (打开一看，没有支架), and drawn faces."""
    return [m.span() for m in _SETTING.finditer(case.text)]


_SETTING = re.compile(
    r"(?:打开|拆开|开箱|查看|检查|清点|收到|到手|拿到)[^，,。；;：:！!？?、和]{0,6}[，,。；;：:！!？?]|配件[^，,]{0,2}(?:不全|不齐)|\[[\u4e00-\u9fff]{1,4}\]"
)


def _items(case: Case) -> list[str]:
    spans = [(m.start, m.end) for m in case.said.mentions]
    spans += _asides(case)
    spans += [m.span() for p in (_MISSING_TALK, cues.MISSING, cues.MORE) for m in p.finditer(case.text)]
    items: list[str] = []
    for piece in chunks(case.text, spans):
        for part in _LIST.split(piece):
            item = _ARTICLE.sub("", trimmed(_ARTICLE.sub("", part.strip()), case.said.language)).strip()
            if 1 < len(item) < 40 and not cues.MISSING.fullmatch(item) and not _is_filler(item):
                items.append(item)
    return list(dict.fromkeys(items))[:6]
