"""What customers say in passing: appointments, colours, doubts, occasions, serial numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memtrial.systems.models.reader.values_dates import in_month_of
from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.extraction.asking import asked
from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.learn import digits
from memtrial.systems.structured.extraction.leftover import chunks
from memtrial.systems.structured.extraction.noise import small_talk
from memtrial.systems.structured.extraction.orders import TODAY, days
from memtrial.systems.structured.extraction.service import told_apart, trimmed
from memtrial.systems.structured.node import Fact

_PLAN_EN = re.compile(
    r"\b[A-Z][\w+-]*(?:\s(?:and|-)?\s?[\w+-]+){0,2}\s(?:[Pp]lan|[Cc]over|[Ii]nsurance|[Pp]rotection|[Ww]arranty|[Pp]ackage|[Mm]embership|[Ss]ubscription|[Cc]are)\b"
)
_PLAN_ZH = re.compile(
    r"(?:要不要|需要|加一份|加份|份|吗|加个|加购|办个|推荐您?|看看|了解一下|现在有|给您|配个?|怎么样|顺便提一句|很多老客户|考虑|一下|搭配|试试|建议|来个|您|[，,。？?！!\s])+"
)
_PLAN_NAME_ZH = re.compile(r"^[\u4e00-\u9fffA-Za-z0-9+]{2,8}$")
_SHORT = 90


def plans(case: Case) -> None:
    """Learn the name of a service plan that the desk offers."""
    said = case.said
    if (
        said.voice != "staff"
        or not cues.OFFER.search(case.text)
        or said.first("product", "order", "ticket")
        or said.of_kind("money", "date", "id", "email")
    ):
        return
    if said.language == "en":
        match = _PLAN_EN.search(case.text)
        name = match.group() if match else ""
    else:
        names = [p for p in _PLAN_ZH.split(case.text) if _PLAN_NAME_ZH.match(p)]
        name = names[0] if len(names) == 1 else ""
    if name:
        key = case.learner.lexicon.add("topic", name).key
        case.memory.features.setdefault(key, "plan")
        case.focus.name("plan", key, said.message.id)


def doubts(case: Case) -> Iterator[Draft]:
    """A plan neither taken nor refused, and why."""
    named = [k for k in case.said.all("topic") if case.memory.features.get(k) == "plan"]
    plan = named[0] if named else ""
    if not plan or not cues.HESITATE.search(case.text):
        return
    worry = told_apart(case, cues.HESITATE, _WORRY, _DOUBT_TALK)
    if worry:
        yield Draft("doubt", worry, "text", plan, case.customer, "open", "preference")
        yield Draft("agreed", "no", "boolean", plan, case.customer, "uncertain", "preference")


_WORRY = re.compile(
    r"(?P<before>[^，,。；;！!？?]{2,}?)(?:这[块点]|一事)?(?:让|使|令|叫)(?:我|人)|(?:担心|担忧|顾虑|顾忌|害怕|怕|介意|忧虑|疑虑)(?:的)?(?:是|就是|在于)?|(?:因为|由于|主要是?|就是)"
    r"|\b(?:(?:concern|worry|problem|issue|snag|fear) (?:is|being) |worr(?:y|ied|ies) (?:is |about |over |me is )|concern(?:ed)? (?:is |about |over )|because(?: of)? |due to |afraid of |bothered by |put off by )"
    r"|(?P<lead>\b[^,.;:!?…]{2,60}?) (?:(?:worries|bothers|concerns|scares|annoys|puts|stops|makes) me\b|is (?:a|the|my) (?:problem|snag|concern|worry|issue)\b)",
    re.IGNORECASE,
)
_DOUBT_TALK = re.compile(
    r"\b(?:i haven't decided on|haven't decided|not ready for|can't make up my mind on|can't decide|make up my mind on|sounds ok|sounds fine|though|maybe|mainly|puts me off|worries me|i'd need to think about|is a problem|let me sleep on it|i'm (?:\w+ ){0,2}(?:hesitant|unsure|torn|undecided|worried|concerned|wary|in two minds) (?:about|over)|due to|what (?:worries|bothers|puts) me(?: off)?(?: is)?|my (?:only )?(?:worry|concern|problem) is|(?:worried|concerned|worry) about|still|it's|that bothers me|bothers me|not sure about|yet|and so on|i need to mull over|mostly because of|because of|makes me pause|can't say yes or no to|gives me second thoughts|give me time with|i don't love|torn|is the snag|i hear you on|let me think|but|hmm)\b"
    r"|关于|还没(?:决定|想好|定)|不太?放心|有点(?=犹豫|担心|纠结)|犹豫|先不定|是个问题|再看看|因为|介意|还在考虑|主要|没想好|我得想想|我再斟酌一下|主要是顾虑|顾虑|先放放|让我犹豫|不好说|怕|不急着定|卡在|上$|说不准要不要|这块我打鼓|容我考虑考虑|有点膈应|我对|吃不准|担心的是|担心|挺心动|可(?=[^以])|再想想|嘛",
    re.IGNORECASE,
)


def visits(case: Case) -> Iterator[Draft]:
    """A day on which somebody is to come, or its correction in the next breath."""
    said = case.said
    dates = days(case)
    if not dates or said.voice != "customer":
        return
    product = said.first("product")
    last = case.focus.last("visit_date", said.message.sender)
    value = dates[-1]
    if not product and last is not None and value.text.lower() not in TODAY:
        value = in_month_of(value, date.fromisoformat(last.value), said.language)
        if value.norm != last.value:
            yield _back(last)
            yield Draft(
                "visit_date",
                value.norm,
                "date",
                last.subject,
                last.owner,
                "active",
                "plan",
                value.say,
                last.message_ids[-1:],
            )
        return
    today = said.message.timestamp.date().isoformat()
    if (
        product
        and value.norm > today
        and not cues.SINCE.search(case.text)
        and (cues.VISIT.search(case.text) or not said.asks)
    ):
        yield Draft("visit_date", value.norm, "date", product, case.customer, "active", "plan", value.say)


def _back(last: Fact) -> Draft:
    return Draft(
        last.attribute,
        last.value,
        last.value_kind,
        last.subject,
        last.owner,
        "retracted",
        last.fact_type,
        ids=last.message_ids,
    )


_COLOUR_TALK = re.compile(
    r"\b(?:second thoughts?|hmm|swap it for|swap for|that's my pick|my pick|my heart is set on|set on|can the|can|be|i chose|chose|choose|decided on|decided|switch to|switch|changed my mind|nicer|ought to be|colou?r for my|the colou?r|colou?r|my|is what|i\'ve|we|for the|i picture|about the|custom|shell|of the|something like|cover|could it be|i keep coming back to|should have|you know|thinking|sleeve|if they can mix it|made-to-order|would be lovely|could be|hm|on reflection|rather|actually no|actually|slept on it|instead|my wife says|and she's right|forget what i said|let's go|after all|no|case|make it|go with|i'd (?:love|like|prefer)|in a|in an|i want|want|prefer|would like|please|better|in)\b"
    r"|保护套|的套|外壳颜色|外壳|颜色[:：]?|颜色(?:改|换|选)|最后决定|决定|等下|更好|不要那个色了?|我又觉得|合适|好了|做成|请做|我要|我喜欢|喜欢|希望是?|定做|做个|配个|选|用(?=$|[，,。])|的外壳|想要|那种感觉|定制|的套子|套子|颜色要|能做|我心里想的是|的壳|定制色|你懂吧|壳子|要是|就绝了|配|给|做壳|偏|最好是|那个|保护壳|想了想还是|不不|还是|换[成为个]?|算了|求|中意|改[成为]|我老婆说|好看|听她的|前面说的颜色不算|改主意了|要不|就这个|要(?=[\u4e00-\u9fff]{2})|壳",
    re.IGNORECASE,
)


def colours(case: Case) -> Iterator[Draft]:
    """A colour wished for, or swapped for another a moment later."""
    said = case.said
    product = said.first("product")
    last = case.focus.last("colour", said.message.sender)
    if product and cues.COVER.search(case.text) and not _of_fault(case):
        wish = _hued(case)
        if wish:
            yield Draft("colour", wish, "text", product, case.customer, fact_type="preference")
    elif not product and last is not None and _still_on(case, last) and (is_swap(case) or _named_alone(case)):
        wish = _hued(case)
        if wish and wish != last.value:
            yield _back(last)
            yield Draft("colour", wish, "text", last.subject, last.owner, fact_type="preference", ids=last.message_ids)


_HUE = re.compile(
    r"[蓝绿红灰黄紫粉白黑青橙棕金银褐橘墨靛咖米]|色"
    r"|\b(?:blues?|greens?|reds?|gr[ea]ys?|yellow|purple|violet|pink|white|black|teal|orange|brown|gold|silver|beige|cream|amber|bronze|copper|ivory|navy|turquoise|lilac|maroon|\w+ish)\b",
    re.IGNORECASE,
)


_WISH = re.compile(
    r"想要|想做|喜欢|希望|定制|定做|要(?!求|紧|不得)|选|换|最好|偏|能做|想的是|就绝了|做(?:成|个)|配"
    r"|\b(?:custom|made-to-order|picture|thinking|coming back to|be|in|chose|choose|chosen|decided|switch|ought|please|pick|heart|set on|colou?r|want|like|love|prefer|would|could|should|make|mix|go|rather)\b",
    re.IGNORECASE,
)


def _of_fault(case: Case) -> bool:
    """Whether a text that names a cover speaks of a return or of damage, and of no wish."""
    if cues.RETURN.search(case.text):
        return True
    return not _WISH.search(case.text) and not _HUE.search(case.text)


def _named_alone(case: Case) -> bool:
    """Whether a short follow-up on a colour names another colour."""
    return len(case.text) < _SHORT // 2 and bool(_HUE.search(case.text)) and not case.said.asks


def _hued(case: Case) -> str:
    """Return the colour spoken of: a piece with a colour's name in it before any other."""
    spans = [(m.start, m.end) for m in case.said.mentions]
    spans += [m.span() for m in _COLOUR_TALK.finditer(case.text)]
    found = [trimmed(p, case.said.language) for p in chunks(case.text, spans) if not small_talk(p)]
    return max(found, key=lambda p: (bool(_HUE.search(p)), len(p)), default="")


_SWAP = re.compile(
    r"\b(?:decided|switch to (?!my|the|a )|nicer|changed my mind|prefer|go for|rather|instead|reflection|(?<!working )(?<!, )actually,? (?:no|rather|make|i)|after all|forget what|let's go|says|make it|no,|better|prefer|second thought)|决定|更好|合适|好了|不要(?!了)|不喜欢|想了想|还是|换(?!了|台|个)|改主意|不算|要不|听|不不|改|说.{1,14}好看|选|定",
    re.IGNORECASE,
)


def _still_on(case: Case, last: Fact) -> bool:
    """Whether the exchange is still on what a fact told: at most one other typed fact came after it."""
    newer = case.focus.stated[-2:]
    return any(f is last for f in newer) and newer[-1].attribute not in ("missing", "visit_date", "address")


def is_swap(case: Case) -> bool:
    """Whether a short follow-up takes back what was wished for."""
    return len(case.text) < _SHORT and bool(_SWAP.search(case.text))


# "no good for me", "thanks for that": nothing that a thing is bought for
_FOR_WHOM = re.compile(
    r"\bfor (?:me|you|us|that|this|it|now|the (?:shell|cover|case|sleeve|rest|moment|time being))\b", re.IGNORECASE
)
_COVER = re.compile(r"\b(?:cover|shell|sleeve|case|skin)\b", re.IGNORECASE)
_USED = re.compile(r"派上用场|正好|买了?$|好用来")
_AIM = re.compile(
    r"(?P<before>[^，,。；;！!？?]{2,}?)(?:上|时|那天)?(?:(?<=上)用|要用|准备用|会用|得用|用得)到?|(?:是因为|因为|为了|用于|用在|用来|冲着|留着|留给|打算给|拿来|拿去|拿去给)",
    re.IGNORECASE,
)
_FOR_TALK = re.compile(
    r"\b(?:i bought|i ordered|ordered|will be used (?:at|for|in|on)|be used (?:at|for|in|on)|planning to use|going to use|is meant for|meant for|a gift for|gift for|we need|because of|is for|by the way|i got the|for|fingers crossed|is a present|present|it has to look nice|is meant|we picked the|so please pack it well|bought the|with|in mind|you see|is why i need the|is why)\b"
    r"|是因为|因为|打算|用于|用来|要用到|要用|正好派上用场|派上用场|的礼物|礼物|这台|才|是给|准备的|买|是为了|包装好点哈?|要用在|给|用$|其实|是冲着|买的|所以才挑了|图的就是|你猜|干嘛用|这|啊",
    re.IGNORECASE,
)


def occasions(case: Case) -> Iterator[Draft]:
    """Whom or what a product is for."""
    product = case.said.first("product")
    if _FOR_WHOM.search(case.text) or _COVER.search(case.text):
        return
    if not product or not cues.PURPOSE.search(case.text) or case.said.asks or case.said.first("order") or asked(case):
        return
    what = told_apart(case, _USED, _AIM, _FOR_TALK)
    if len(what) > 1:
        yield Draft("occasion", what, "text", product, case.customer, fact_type="preference")


def serials(case: Case) -> Iterator[Draft]:
    """A serial number read out."""
    said = case.said
    product = said.first("product")
    codes = [v for v in said.of_kind("id", "phone") if digits(v.text) >= 4]
    if product and codes and not said.first("order", "ticket"):
        yield Draft("serial", codes[-1].text, "id", product, case.customer, fact_type="product")
