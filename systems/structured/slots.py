"""Which attribute of its typed facts a question asks for, told from its words (English and Chinese).

The words are the language's own for the attribute, wider than any one way to ask. What is not recognised is no slot, and
the question is read as ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import Field

from memtrial.systems.base import Query
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.reader.kinds import Kind, predict_kind
from memtrial.systems.structured.extraction.cues import RETURN
from memtrial.systems.structured.node import Entity, Fact

Shape: TypeAlias = Literal["value", "list", "yes_no", "since", "days", "sum", "count", "people"]
_MOST = 2000
RETURNS = "topic:returns"
_THINGS = frozenset({"product", "order", "ticket"})


class SlotParams(Part):
    """How typed facts are used for the attribute that a question asks for.

    Attributes:
        enabled: facts of that attribute and of what the question names rank first.
        narrow: where such facts are on record, the reader is shown these alone.
        unfilled: what the reader is shown where none is: everything (``keep``), or only plain ``statements``, as a fact of
            another attribute cannot be the answer while one that extraction did not understand may.
        compute: an answer that typed facts give by themselves (a value, a list, a sum, a count, days between) is given as it
            is, with the messages behind it and their trust for confidence; the trace says so.
        least_trust: trust that every fact of such an answer must have; below it, the reader decides.
    """

    enabled: bool = True
    narrow: bool = True
    unfilled: Literal["keep", "statements"] = "statements"
    compute: bool = True
    least_trust: float = Field(default=0.5, ge=0, le=1)


@dataclass(frozen=True, slots=True)
class Slot:
    """What a question asks for.

    Attributes:
        attributes: of the facts that answer it; a name that ends in ``:`` stands for all that begin so.
        shape: how the answer follows from them.
        things: keys of the products, orders, tickets or topics it is about; facts of any of them will do.
        owner: key of the person whose matter it is; "" for anybody's.
        cue: the words that told.
    """

    attributes: tuple[str, ...]
    shape: Shape = "value"
    things: tuple[str, ...] = ()
    owner: str = ""
    cue: str = ""

    def holds(self, attribute: str) -> bool:
        """Tell whether facts of an attribute belong here."""
        return any(attribute == a or (a.endswith(":") and attribute.startswith(a)) for a in self.attributes)

    def fits(self, fact: Fact) -> bool:
        """Tell whether a fact has this attribute, of these things and this person."""
        if not self.holds(fact.attribute) or (self.owner and fact.owner and fact.owner != self.owner):
            return False
        held = {*fact.entities, fact.subject}
        topics = {k for k in self.things if k.startswith("topic:")}
        things = {*self.things} - topics
        return (not topics or bool(topics & held)) and (not things or bool(things & held))


@dataclass(frozen=True, slots=True)
class _Rule:
    """Words for an attribute: all of ``words``, none of ``unless``, and one of the kinds of answer where some are given."""

    attributes: tuple[str, ...]
    words: re.Pattern[str]
    shape: Shape = "value"
    also: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    kinds: frozenset[Kind] = frozenset()
    general: bool = False
    """Holds for everybody: names no product, order or ticket."""
    least: int = 1
    """How many things it has to name."""


def _w(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


_AMOUNT_EN = r"how much|amount|figure|sum|value|worth|cost\w*|charge\w*|price|fee|total|pay|deduct\w*|come to"
_AMOUNT_ZH = r"多少|几块|几元|金额|数额|费用|费|钱|价"
_AMOUNT = _w(rf"{_AMOUNT_EN}|what (?:was|did|do|were|have|has)", rf"{_AMOUNT_ZH}|退款数")
_FEE = _w(
    r"fees?|charge\w*|cost\w*|deduct\w*|pay|price|how much|postage|for free",
    r"费|扣|收多少|付多少|花多少|钱|价|掏|免费|收不收",
)
_WINDOW = _w(
    r"how many days|how long|days|window|period|deadline|time limit|until (?:when|which)|till when|by when|length",
    r"几天|多少天|天数|期限|时限|多久|多长时间|退货期|最晚|几日",
)
_CONTACT = _w(r"e-?mails?|mail|mailbox|write|contact|address|inbox|reach", r"邮箱|邮件|写信|联系|电邮|找谁")
_WHY = _w(
    r"why|reasons?|grounds|because of what|what made|how come|didn't i like|cause|what for",
    r"为什么|为啥|为何|原因|理由|因为|不满意|怎么会退|哪点",
)
_AMOUNT_OF_SUM = _w(rf"{_AMOUNT_EN}", rf"{_AMOUNT_ZH}|合计|共计|总共")
_BACK = _w(
    r"refund\w*|(?:get|got|gets|came|come|went|going|pay\w*|paid|give\w*|gave|money) (?:\w+ ){0,3}back|credit(?:ed)?|reimburs\w*|for returning"
    r"|i returned",
    r"退款|退了?(?:我|给)?[^货天]{0,12}(?:多少|几块|几元|钱)|拿回|到手|返还|退回来",
)
_PEOPLE = _w(
    r"who|whom|which (?:customers?|buyers?|people|clients?)|customers?|everyone|everybody|names of|people|list",
    r"谁|哪些客户|哪些人|客户|名单|的人|哪几个|哪位|哪些",
)
_COMPLAINED = _w(
    r"complain\w*|complaint|issue|case|trouble|ticket|problem|fault", r"投诉|问题|报修|反映|工单|故障|毛病"
)
_BOUGHT = _w(r"bought|buy\w*|order(?:ed|s)?|purchas\w*", r"买|下单|购|订")
_DRIVER = _w(
    r"drivers?|warehouse|depot|dimensions|measure\w*|how (?:big|wide|tall|heavy)|carton|stored|fulfil\w* cent\w+|packed|at the wheel",
    r"司机|派送员|小哥|仓|库房|尺寸|外箱|长宽高|厘米|多大|姓什么|纸箱|包装",
)
_OPEN = _w(
    r"open|pending|unresolved|active|still|waiting|working on|unfinished|ongoing|outstanding|unsettled",
    r"还没|还开着|处理中|在处理|未解决|未完结|没完|没结|挂着|还在|未结|开着",
)
_RULES: tuple[_Rule, ...] = (
    _Rule(("price",), _w(r"how many|how often|number|count|times", r"几单|几次|多少个|几回|几个|订单数|多少单|数数|多少次"), "count",
          also=_w(r"orders?|ordered|purchases?|bought|buy", r"单|买|购"), unless=_COMPLAINED, general=True),
    _Rule(("price", "symptom"), _BOUGHT, "people", also=_w(r"days", r"天"), least=2),
    _Rule(("price",), _w(r"together|sum|total|plus|add|altogether|combined|both|in all|and", r"加|和|跟|与|、|共|总|合计"), "sum", also=_AMOUNT_OF_SUM,
          unless=_BACK, least=2),
    _Rule(("price",), _w(r"add up|sum up|total up", r"加一下|合计一下"), "sum", least=2),
    _Rule(("voucher_granted",), _w(r"vouchers?|coupons?|gift ?cards?", r"券|红包|优惠码"), "yes_no", kinds=frozenset({"boolean"})),
    _Rule(("voucher",), _w(r"vouchers?|coupons?|gift ?cards?", r"券|红包|优惠码"), unless=None),
    _Rule(("return_contact",), RETURN, also=_CONTACT, general=True),
    _Rule(("return_window",), RETURN, also=_WINDOW, general=True),
    _Rule(("return_window",), _w(r"(?!x)x", r"不想要"), also=_WINDOW, general=True),
    _Rule(("return_fee",), _w(r"returns?|return(?:ed|ing)|send\w* (?:\w+ ){0,3}back", r"退"), also=_FEE, general=True),
    _Rule(("refund",), _BACK, also=_AMOUNT, unless=_w(r"why|reason", r"为什么|原因|理由")),
    _Rule(("return_reason",), RETURN, also=_WHY),
    _Rule(("return_reason",), _w(r"went back|go back|sent (?:\w+ ){0,4}back|return\w*", r"退"), also=_WHY),
    _Rule(("account_owner",), _w(r"account (?:owner|manager)s?|(?:owns?|manages|has|runs) the account|whose (?:client|customer)|looks? after|responsible|in charge|account is", r"客户经理|负责|归谁|谁在管|谁跟|跟进|对接"),
          kinds=frozenset({"person", "free", "list"})),
    _Rule(("missing",), _w(r"missing|lack\w*|absent|didn't come|did not come|owe|wasn't in|weren't in|not in the|left out|short of|forgot\w*", r"缺|少了|漏|差我|没给|没有的|没装|少发|还差"),
          "list"),
    _Rule(("arrival_date", "price"), _w(r"how many days|how long|days|number of days", r"几天|多少天|多久|天数"), "days",
          also=_w(r"order\w*|purchase\w*|buy\w*|bought|wait\w*|take|took|deliver\w*", r"下单|买|等|送|签收|收货|配送|耗时"), unless=RETURN),
    _Rule(("serial",), _w(r"serial\w*|s/n|sn|sticker", r"序列号|序列|(?<![a-z])SN|机身(?:编号|号)|贴纸|铭牌")),
    _Rule(("tracking",), _w(r"tracking|track|waybill|parcel number|consignment|follow", r"运单|快递(?:单)?号|单号|包裹号|物流(?:编?号|单|，?号)|物流.{0,3}号码|追踪"),
          unless=_w(r"who|order number", r"订单号|谁")),
    _Rule(("colour",), _w(r"colou?r\w*|shade|tint|hue|tone|look of", r"颜色|什么色|哪种色|色调|配色|啥色|色号"), unless=_w(r"why", r"为什么")),
    _Rule(("visit_date",), _w(r"technician|appointment|fitt\w+|visit|install\w*|engineer|settle on|go to|date did \w+ \w+ want|book\w*", r"上门|师傅|安装|约(?:的|到|在|了|好)|来弄|装"),
          kinds=frozenset({"date", "time", "free"}), unless=_DRIVER),
    _Rule(("carrier",), _w(r"carriers?|courier|shipping company|whose van|who(?:'s| is|'ll be| will be)? (?:bring\w*|deliver\w*|ship\w*|carry\w*)|couriers?|delivery company", r"哪家快递|快递(?:公司|呢|是)|承运|谁家送|什么快递|物流(?:公司|是哪|呢)|哪个公司|哪家(?:送|物流)"),
          unless=_w(r"name|driver|by name|person", r"名字|姓|师傅|小哥|叫")),
    _Rule(("arrival_date",), _w(r"did (?:i|the|my|we) [^?]{0,40}(?:get|reach|come|arrive|show up|turn up|land)|arrived|was received|received|showed up|turned up|got here|reached", r"收到|到手上|到我手|拿的|拿到的|签收|送来那天|到货是|到的"),
          kinds=frozenset({"date", "time"}), unless=_w(r"refund\w*|support\w*|end up", r"支持|退")),
    _Rule(("address",), _w(r"address|where|whereabouts|destination|what place|which place|goes where", r"地址|寄到?[哪什]|送[去到]哪|往哪|寄往|收件|哪里|哪儿|什么地方"),
          unless=_w(r"e-?mail|mail|depot|warehouse|stored|shipped? from|things stand|came from|stand", r"邮箱|仓|库房|卡在|处理")),
    _Rule(("delivery_date",), _w(r"when(?:'s)?|what day|which day|what date|which date|delivery da(?:y|te)|how soon|due|eta|latest date|arriv\w*|current plan|when's", r"哪天|几号|什么时候|啥时候|何时|日期|到货日|送货日|日子|还要等|几时"),
          kinds=frozenset({"date", "time", "free"}), unless=_w(r"refund\w*|complain\w*|ticket|case|support\w*|technician", r"退|投诉|工单|支持|师傅|上门")),
    _Rule(("ticket_state",), _OPEN, "yes_no", kinds=frozenset({"boolean", "choice", "free"})),
    _Rule(("handling",), _w(r"trouble|complaint|fault|acted up|acting up|issue|problem|matter|decide|case|ticket|repair", r"毛病|投诉|故障|问题|那事|那件事|工单|售后|维修"),
          also=_w(r"how|what|where|status|state|outcome|progress", r"怎么|进展|方案|哪步|结果|如何|进度|什么"), kinds=frozenset({"free", "reason", "person", "place", "list", "number"}), unless=_PEOPLE),
    _Rule(("occasion",), _w(r"(?:who|whom|what)\b.{0,40}\bfor|for whom|for what|occasion|purpose|gift|present|meant", r"给谁|干什么用|干嘛用|为了(?:什么|啥)|什么用场|场合|做什么用|用途|送谁")),
    _Rule(("price",), _w(r"price|cost|pay|paid|spend|spent|how much", r"多少钱|价格|花了|付了|金额"), kinds=frozenset({"money"})),
    _Rule(("stock",), _w(r"in stock|how many (?:\w+ )?(?:left|available)|stock", r"库存|现货|还剩多少|有货")),
)  # fmt: skip
_GENERAL = frozenset({"return_window", "return_fee", "return_contact"})
_WHO_ANSWERS = frozenset({"account_owner", "carrier"})
_WHO = _w(
    r"who|whom|which (?:customers?|buyers?|people|clients?)|customers?|everyone|everybody",
    r"谁|哪些客户|哪些人|客户|哪几个|的人",
)
_OWN = frozenset({"voucher", "voucher_granted"})
_SINCE = _w(
    r"since when|when|(?:what|which|from what) (?:date|day)|on which day", r"什么时候|何时|哪天|几号|日期|从哪天|打哪天"
)
_AGREED = _w(
    r"yes|sign\w* up|accept\w*|agree\w*|commit\w*|take|took|taken|buy|bought", r"答应|同意|买|定下|办了|要了|订了|签了"
)
_DOUBT = _w(
    r"hesita\w*|worr\w*|concern\w*|putting me off|kept me|bugg\w*|bother\w*|doubt\w*|put me off|why|against",
    r"顾虑|犹豫|担心|卡在|下不了|为啥|为什么|没马上|纠结|不放心",
)


def find_slot(query: Query, named: Iterable[Entity], owner: str) -> Slot | None:
    """Return what a question asks for; None where no words tell.

    A question that leans on the turn before ("and the Kestrel?", 那费用呢) takes the attribute from there, or the matter:
    what a return costs after how long it may take.

    Args:
        query: the question with its history.
        named: the entities it names, those lent by its history included.
        owner: key of the person whose matter it is, "" for anybody's.
    """
    entities = list({e.key: e for e in named}.values())
    text = query.text[:_MOST]
    asked_before = [t.text[:_MOST] for t in query.history if t.speaker != "assistant"]
    before = _by_words(asked_before[-1], entities, owner, general=True) if asked_before else None
    if before is not None and before.attributes[0] in _GENERAL:
        own = [e for e in entities if e.kind in _THINGS]
        if not own and (found := _FEE.search(text)) and not _WINDOW.search(text):
            return Slot(("return_fee",), things=(RETURNS,), cue=found[0])
    slot = _by_words(text, entities, owner)
    if slot is None and before is not None and len(text) < 60:
        slot = _by_words(asked_before[-1], entities, owner)
    return slot


def _by_words(text: str, entities: list[Entity], owner: str, *, general: bool = False) -> Slot | None:
    things = [e.key for e in entities if e.kind in _THINGS]
    topics = [e.key for e in entities if e.kind == "topic" and e.key != RETURNS]
    kind = predict_kind(text).kind
    # The words of a complaint may be those of any attribute: whose box lacks something, whose colour fades.
    asks_who = not owner and kind in ("person", "list") and bool(_WHO.search(text))
    if topics and not general:
        return _of_topic(text, things, topics, owner)
    for rule in _RULES:
        found = rule.words.search(text)
        if found is None or (rule.also and not rule.also.search(text)) or (rule.unless and rule.unless.search(text)):
            continue
        if rule.kinds and kind not in rule.kinds:
            continue
        name = rule.attributes[0]
        if asks_who and rule.shape != "people" and name not in _WHO_ANSWERS:
            continue
        if name in _GENERAL:
            if things and not general:
                continue
            return Slot(rule.attributes, rule.shape, (RETURNS,), cue=found[0])
        if rule.general or name in _OWN:
            if owner and not (rule.general and things):
                return Slot(rule.attributes, rule.shape, (), owner, found[0])
            continue
        if len(things) < rule.least or (rule.shape != "people" and _DRIVER.search(text) and name != "colour"):
            continue
        whose = "" if rule.shape == "people" else owner
        return Slot(rule.attributes, rule.shape, tuple(things), whose, found[0])
    if things and not general and (found := _PEOPLE.search(text)) and not _DRIVER.search(text) and not owner:
        return Slot(("symptom",), "people", tuple(things), cue=found[0])
    return None


def _of_topic(text: str, things: list[str], topics: list[str], owner: str) -> Slot | None:
    """Return the slot of a feature, a figure of a product, or a plan that was offered."""
    if things:
        since = _SINCE.search(text)
        if since:
            return Slot(("supports:",), "since", (*things, *topics), cue=since[0])
        return Slot(("supports:", "spec:"), "value", (*things, *topics), cue="a feature or figure of a product")
    if found := _DOUBT.search(text):
        return Slot(("doubt",), "value", tuple(topics), owner, found[0])
    if found := _AGREED.search(text):
        return Slot(("agreed",), "yes_no", tuple(topics), owner, found[0])
    return None
