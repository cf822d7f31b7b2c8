"""Which kind of answer a question asks for, told from its words alone (English and Chinese)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "number", "money", "percent", "date", "time", "duration", "boolean", "person", "place", "id", "email", "phone", "url",
    "choice", "list", "reason", "free",
]  # fmt: skip

_EN_AUX = r"is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|shall|may|might|isn't|aren't|wasn't|weren't|don't|doesn't|didn't|hasn't|haven't|can't|won't"
_WH = r"what|when|where|which|who|whom|whose|why|how"
_ZH: list[tuple[Kind, str]] = [
    ("choice", r"还是(?!(?:没|不|有|在|要|会|能|未))[^，。？?]{1,20}(?<!吗)(?:呢|啊)?\s*[？?]?$|哪个更"),
    ("reason", r"为什么|为啥|为何|什么原因|怎么会|什么理由|(?:原因|理由)(?:是|呢)|因为什么"),
    ("percent", r"百分之(?:几|多少)|打?几折|多少折|折扣是多少|比例|税率|利率|百分比"),
    ("duration", r"多久|多长时间|天数|多少(?:个)?(?:天|小时|分钟|工作日|星期|礼拜|周|个月|年)|几(?:个)?(?:天|小时|分钟|工作日|星期|礼拜|周(?!几)|月内|年)(?!级)|保修期|有效期是?多|期限(?!到)|时长"),
    ("money", (r"多少钱|几块|几元|多少元|多少块|什么价|价格|价钱|费用|运费|金额|面额|总价|单价|预算|报价|押金|违约金|工资"
              r"|(?:退|付|花|券|费|价|收|值|赔|扣|拿回|到手|合计|共计|加起来|赚|省下)[^，。？]{0,12}(?:多少|几何)(?!天|个|件|台|次|人|单|张|份)"
              r"|多少[^，。？]{0,3}(?:券|红包)")),
    ("time", r"几点|什么钟点|几时"),
    ("date", r"什么时候|何时|哪天|哪一天|哪日|几号|几月|哪年|哪一年|什么日期|日期是|星期几|周几|礼拜几|啥时候?|多会儿|哪个月|什么时间|截止日|期限到"),
    ("phone", r"电话|手机号"),
    ("email", r"邮箱|电子邮件|邮件地址|写信(?:到|给)"),
    ("url", r"网址|链接|哪个网站"),
    ("id", r"单号|订单号|编号|工单号|序列号|型号|验证码|代码|批次号|发票号|货号|包裹号|票号|sku|(?<![A-Za-z])S/?N|哪(?:个|张|一个|一张|笔|一笔)(?:订单|工单|单子)"),
    ("list", r"哪些|哪几|都有(?:什么|谁|哪)|有哪|分别|列出|列举|列一下|名单|都(?:说|提|买|订|要|用|做)了?(?:什么|哪|啥)|[少缺]了?(?:什么|啥)|有谁"),
    ("free", r"给谁|为谁|送谁|(?:什么|怎么|哪).*(?:说过|提过|讲过|记得|知道).*吗"),
    ("person", r"谁|哪位|哪个人|叫什么名字|什么人|(?:师傅|先生|女士|经理|司机|老师|医生|客服)叫(?:什么|啥)|负责人是|联系人是|姓什么|姓名|哪个(?:客户|同事|经理|客户经理|客服|师傅)"),
    ("place", r"哪里|(?<!卡在)哪儿|在哪|什么地方|地址|哪个(?:城市|国家|仓库?|库房|地方|地区|省|市|门店|店|站|机场|房间|会议室)|送到哪|寄到哪|去哪"),
    ("number", r"多少|几(?:个|单|台|件|只|张|份|箱|包|本|套|盒|条|双|把|瓶|位|名|人|次|回|种|款|项|批|部|辆|支|颗|杯|间|层|楼|岁|斤|倍|克|米|公里|端|口|寸)|数量|第几|多重|多高|多大|多远|多宽|容量|重量|尺寸|功率|电压|分辨率|数值"),
    ("boolean", r"吗|(?<![什怎那这多要])么[？?]?$|([一-鿿])[不没]\1|是否|能否|可否|没有[？?]?$|没[？?]?$|吧[？?]$|有没有"),
]  # fmt: skip
_EN: list[tuple[Kind, str]] = [
    ("reason", r"^(?:\w+,? ){0,3}why\b|\bwhy (?:did|was|is|are|were|does|do|has|had)\b|\bwhat(?:'s| is| was) (?:the|my|his|her|their) reason\b|\bwhat reason\b|\bhow come\b|\bbecause of what\b|\bon what grounds\b|\bwhat (?:made|led|caused)\b"),
    ("percent", r"\bwhat (?:percent|percentage|discount|share|rate)\b|\bhow many percent\b|\bwhat(?:'s| is| was) the (?:\w+ )?(?:percentage|discount|tax rate|interest rate)\b"),
    ("duration", r"\bhow long\b(?! is the (?:cable|cord|strap|rope))|\bhow many (?:\w+ )?(?:seconds|minutes|hours|days|weeks|months|years|nights)\b|\bnumber of (?:days|weeks|months|hours)\b|\bhow much (?:more |longer |extra )?time\b|\bin days\b|\bdays between\b|\b(?:duration|warranty period|return period|return window|lead time|turnaround)\b|\blength of (?:the|time)"),
    ("money", (r"\bhow much (?:did|does|do|was|is|were|are|will|would|should|has|have|had|money|of a refund|for|to|am|can|could|cost|went|came|got|back)\b(?!.*\b(?:weigh|storage|memory|ram|capacity|water|battery|time)\b)"
              r"|\bwhat(?:'s| is| was| are| were| did| does| do| will| would)?\b.{0,40}\b(?:price|cost|costs|fee|fees|amount|budget|salary|total|balance|charge|deposit|quote|rent|worth|sum|refunded?|pay|paid|spend|spent)\b")),
    ("time", r"\b(?:what|which) time\b|\bwhat hour\b"),
    ("date", (rf"^(?:\W*\w+\b){{0,4}}\W*when(?:'s)?\b|\b(?:know|tell|remember|recall|say|said|ask|idea|check|see)\b.*\bwhen\b|\bwhen (?:{_EN_AUX})\b|\bwhen[?]|\b(?:what|which) (?:\w+ )?(?:date|day|month|year|week|weekday|deadline)\b"
             r"|\bwhat(?:'s| is| was) the (?:\w+ ){0,3}(?:date|deadline|day|due date|birthday)\b|\bhow soon\b|\bhow recently\b")),
    ("phone", r"\b(?:phone|telephone|mobile|contact|cell) number\b|\bwhat number (?:should|can|do|to) (?:\w+ )?(?:call|ring|reach)\b"),
    ("email", r"\b(?:e-?mail|mail|mailbox) address\b|\be-?mail\b|\bmailbox\b|\baddress (?:do|can|should|to) (?:\w+ )?(?:write|mail)\b"),
    ("url", r"\b(?:url|link|website|web address)\b"),
    ("id", r"\b(?:order|tracking|ticket|case|serial|invoice|reference|confirmation|model|part|batch|rma|return|booking|account|room|flight|parcel|shipment|waybill) (?:number|no\.?|id|code)\b|\bwhat(?:'s| is| was) the (?:\w+ ){0,2}(?:id|code|sku)\b|\b(?:which|what) (?:order|ticket|invoice|rma|case|sku|model|build|version|firmware|serial|waybill)\b|\bwhat number\b|\bs/n\b|\bserial\b"),
    ("number", r"\bhow many\b|\bhow often\b|\b(?:number|count) of\b|^count\b|\bwhat(?:'s| is| was| are) the (?:\w+ ){0,3}(?:quantity|capacity|weight|height|width|size|score|count|age|population|wattage|voltage|resolution|battery)\b|\bhow (?:old|tall|heavy|wide|deep|big|far|fast|large|high|loud|bright)\b|\bhow much\b|\bwhat (?:size|quantity)\b|\bhow long\b"),
    ("list", r"\b(?:which|what) (?:\w+ )?(?!(?:address|status|progress|process|access|class|business|boss|dress|series|this|his|does|has|was|is)\b)(?:\w{2,}[^\Wsiu]s|people|children)\b(?! (?:is|was|has)\b)|^(?:please )?(?:list|name(?! of)|enumerate)\b|\bwhat (?:all|else)\b|\bwho all\b|\bnames of\b|\bwhat(?:'s| is| was|'re| are)? (?:still )?(?:missing|lacking)\b|\bwhat wasn't in\b|\bwhat are (?:the|all|my|his|her|their)\b.*s\b"),
    ("choice", rf"^(?:[\w',]+ ){{0,2}}(?:{_EN_AUX})\b.+\b\w+ or (?!not\b|more\b|less\b|so\b|later\b|two\b|anything\b|something\b)\w+.*\?|\b(?:which|what|who)\b.*[,:?-].*\bor\b.*\?|\bwhether\b.*\bor (?!not\b)"),
    ("free", r"\bwhom?\b.*\bfor\?|\bfor whom\b"),
    ("person", r"\bwho(?:m|se|'s)?\b|\b(?:which|what) (?:person|colleague|agent|customer|user|engineer|\w*\s?manager|teammate|friend|employee|technician|rep|representative|driver|author|artist|doctor)\b|\b(?:what(?:'s| is| was) )?(?:the |my |his |her |their )?(?:[\w'’]+ ){0,3}name\b|\bwhat(?:'s| is| was) (?:the )?(?:driver|courier|technician|manager|agent)\b.*\bcalled\b"),
    ("place", r"\bwhere\b(?! (?:do|did|does) (?:things|we|it|that) stand)|\bwhereabouts\b|\bdestination\b|\b(?:which|what) (?:\w+ )?(?:city|country|town|state|place|address|location|warehouse|store|office|building|street|hotel|restaurant|airport|room|depot|centre|center|branch|shop|park|school)\b|\bwhat(?:'s| is| was) .{0,30}\b(?:address|location)\b"),
]  # fmt: skip
_EN_BOOLEAN = re.compile(
    rf"^(?:so|and|but|ok|okay|then|also|hey|hi|sorry|please|well|quick question|um|now|[\w' ]+[,:])?,? ?(?:{_EN_AUX}) (?!it (?:cost|take)s?\b.*how)|\bwhether\b"
    r"|\byes or no\b|\bpossible\?|(?:, (?:right|correct|yes|no|isn't it|is it|didn't i|did i|are they|did they))\?$",
    re.IGNORECASE,
)
_EMBEDDED = re.compile(
    rf"\b(?:tell|know|remember|recall|remind|say|said|mention\w*|find|check|see|look|give|idea|show|confirm|ask)\b.*\b(?:{_WH})\b|, (?:and )?(?:{_WH})\b",
    re.IGNORECASE,
)
# what the nouns of a question without a question word ask for ("delivery date of the kettle?")
_NOUNS: list[tuple[Kind, str]] = [
    ("number", r"\b(?:number of|count)\b|\bhow (?:big|wide|tall)|订单数|几回|次数|数数"),
    ("date", r"\b(?:date|day|deadline)\b|日期|日子|到货日|哪日"),
    ("duration", r"\b(?:period|window|length|duration|in days)\b|时限|周期"),
    (
        "money",
        r"\b(?:amount|figure|sum|price|cost|fee|value|worth|refund|total|pay|spend|add up|how much)\b|退款|合计|共计|费",
    ),
    ("email", r"\b(?:e-?mail|mailbox)\b"),
    ("id", r"\b(?:serial|s/n|waybill|tracking|number|no\.|code)\b|号码|编码"),
    ("place", r"\b(?:destination|address|warehouse|depot|centre|location)\b|仓|库房|地点"),
    ("list", r"^(?:customers|buyers|people|list)\b|\bwhich customers\b|名单"),
    ("person", r"\b(?:manager|driver|owner|name)\b|名字|客户经理|司机"),
]
_RULES_ZH = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ZH]
_RULES_EN = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _EN]
_RULES_NOUN = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _NOUNS]
_PEOPLE = re.compile(
    r"\b(?:who|whom|customers?|buyers?|people|users?|names of|those|everyone|everybody|anyone|clients?|colleagues|friends)\b|谁|客户|用户|买家|人|名单|同事|朋友",
    re.IGNORECASE,
)
_CJK = re.compile(r"[一-鿿]")
_CHOICE_BLOCK = re.compile(r"(?:^|\n)\s*[（(]?[A-Ha-h][)）.、:：]\s*\S")
_UNIT_EN = re.compile(
    r"\bhow many (?:more |other |extra |different |of (?:the|my|our) )?(?P<u>[a-z-]+(?: [a-z-]+)?)", re.IGNORECASE
)
_VERB = re.compile(rf"{_EN_AUX}|of|in|i|we|you|they|he|she|to|from")
_UNIT_ZH = re.compile(
    r"(?:多少|几)(?:个|单|台|件|只|张|份|箱|包|本|套|盒|条|双|把|瓶|位|名|人|次|种|款|项|批|部|辆|支|颗|杯|间|层|楼|岁|公斤|斤|克|毫安时?|瓦|米|公里|天|小时|分钟|个月|年|周|工作日|寸|兆|度)"
)
_ORIGINAL = re.compile(
    r"\boriginal(?:ly)?\b|\bbefore (?:the|that|it was|they|he|she|i|we|you|any|this)\b|\bat first\b|\bfirst (?:said|told|asked|planned|given|quoted)\b|\binitial(?:ly)?\b|\bused to\b|\bprevious(?:ly)?\b|\bformer(?:ly)?\b|\bearlier\b|\bold\b|\bprior\b"
    r"|原来|原本|原先|最初|起初|一开始|之前|以前|改之前|变更前|更新前|修改前|旧的|上一版|本来|当初",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"\bnow\b|\bcurrent(?:ly)?\b|\blatest\b|\bmost recent(?:ly)?\b|\bas of\b|\bstill\b|\bat the moment\b|\bin the end\b|\bfinal(?:ly)?\b|\bnewest\b|\bup to date\b|\bany ?more\b|\btoday\b|\beventually\b|\bended up\b"
    r"|现在|目前|最新|当前|如今|还(?:在|有|能)|最后|最终|最近|眼下|仍|到底|今天|后来",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    Attributes:
        kind: the kind of answer.
        unit: counted noun or unit of a "how many", lower case, or an empty string.
        when: ``current``, ``original`` or ``plain``.
        many: several answers are wanted.
        people: who, or which people.
    """

    kind: Kind
    unit: str = ""
    when: Literal["current", "original", "plain"] = "plain"
    many: bool = False
    people: bool = False


def predict_kind(text: str, options: Sequence[str] = ()) -> Asked:
    """Predict the kind of answer that a question wants.

    Args:
        text: the question, any language; the last question of several decides.
        options: choices offered apart from the text; any makes it a choice.
    """
    question = _last_question(text)
    when: Literal["current", "original", "plain"] = "plain"
    if _ORIGINAL.search(text):
        when = "original"
    elif _CURRENT.search(text):
        when = "current"
    unit_match = _UNIT_EN.search(question)
    unit = _counted(unit_match["u"]) if unit_match else ""
    if not unit and (zh := _UNIT_ZH.search(question)):
        unit = zh.group().removeprefix("多少").removeprefix("几")
    if options or _CHOICE_BLOCK.search(text):
        return Asked("choice", unit, when)
    kind = _kind(question)
    people = kind == "person" or (kind == "list" and bool(_PEOPLE.search(question)))
    return Asked(kind, unit, when, many=kind == "list", people=people)


def _kind(question: str) -> Kind:
    chinese = bool(_CJK.search(question))
    if not chinese and _EN_BOOLEAN.search(question) and not _EMBEDDED.search(question):
        choice = next(pattern for kind, pattern in _RULES_EN if kind == "choice")
        return "choice" if choice.search(question) else "boolean"
    for kind, pattern in [*(_RULES_ZH if chinese else _RULES_EN), *_RULES_NOUN]:
        if pattern.search(question):
            return kind
    return "free"


def _counted(words: str) -> str:
    """Keep the noun of "how many small boxes did …": everything before the verb."""
    kept: list[str] = []
    for word in words.lower().split():
        if _VERB.fullmatch(word):
            break
        kept.append(word)
    return " ".join(kept)


def _last_question(text: str) -> str:
    """Keep the last sentence that ends in a question mark, or the whole text."""
    parts = re.findall(r"[^?？。！!\n]*[?？]", text)
    stripped = [p.strip(" \t,，") for p in parts if len(p.strip()) > 3]
    return stripped[-1] if stripped else text.strip()
