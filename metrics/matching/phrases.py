"""The published phrases by which a text says that it does not know, or asks back.

Fixed lists, written from the way people decline to answer; a text that matches none of them has answered.
"""

from __future__ import annotations

import re

_THING = (
    r"(?:records?|information|info|mentions?|notes?|data|details?|traces?|evidence|entry|entries|references?|memory|memories|"
    r"indication|idea|clue|answer|way\sof\sknowing|way\sto\s(?:know|tell))"
)
_SAID = (
    r"(?:mentioned|recorded|stated|specified|noted|documented|given|known|provided|discussed|logged|written|listed|included|available|"
    r"disclosed|indicated|described|found|clear|covered|shared|established|on\srecord|on\sfile|said|named|in\s(?:the|my|our|your)\s"
    r"(?:\w+\s)?(?:records?|logs?|notes?|conversations?|chats?|messages|memory|history|data|context))"
)

ABSTAINING_EN: tuple[str, ...] = (
    r"\b(?:do|does|did|could|would)(?:\s?n[o']?t|\snot|n't)\s(?:\w+\s)?(?:know|recall|remember|say\b(?!\w)|mention|state|specify|tell|contain|include|appear|show)",
    rf"\b(?:do|does|did)(?:n't|\snot)\s(?:\w+\s)?(?:have|see|find)\s(?:\w+\s){{0,4}}{_THING}\b",
    rf"\b(?:have|has|had|there(?:'s|\sis|\sare|\swas|\swere)|found|find|see|hold|holds|contains?)\s(?:\w+\s)?no\s(?:\w+\s){{0,3}}{_THING}\b",
    rf"^\W*(?:sorry\W+)?(?:there\sis\s)?no\s(?:\w+\s){{0,3}}{_THING}\b",
    (
        r"\b(?:can'?t|cannot|can\snot|could\snot|couldn't|unable\sto|not\sable\sto|impossible\sto|no\sway\sto)\s(?:\w+\s)?"
        r"(?:find|tell|say|determine|answer|recall|remember|confirm|locate|see|know|establish|verify|be\s(?:determined|answered|established|found|confirmed))"
    ),
    rf"\b(?:is|was|are|were|been|be|it's|that's)(?:n't|\snot|\snever|\snowhere)\s(?:\w+\s)?{_SAID}",
    rf"\b(?:not|never|nowhere|isn't|wasn't)\s(?:explicitly\s|specifically\s|yet\s|been\s)?{_SAID}",
    r"\bnothing\s(?:is\s|was\s|has\sbeen\s|about|on\s(?:this|that|it|file|record)|noted|recorded|mentioned|said|in\s(?:the|my|our|your)|tells|says)",
    r"\b(?:no\sone|nobody|neither)\s(?:has\s|ever\s)?(?:said|says|mentioned|mentions|told|wrote|stated)",
    r"\b(?:insufficient|not\senough|too\slittle|lack(?:s|ing)?(?:\sthe)?|missing)\s(?:\w+\s)?(?:information|info|data|context|evidence|details?)",
    r"^\W*(?:i'?m\s|i\sam\s)?(?:unknown|unanswerable|not\ssure|unsure|uncertain|no\sidea|unclear|n/?a|no\sanswer|don'?t\sknow|dunno)\b",
    r"\b(?:have|i've|had)\s(?:got\s)?(?:nothing|no\sidea|no\sclue)\b",
    r"\bnot\ssomething\s(?:i|we)\s(?:have|know|can)|\b(?:had|has|have|was|were|is)(?:n't|\snot|\snever)\s(?:yet\s|been\s|ever\s)*(?:decided|settled|agreed|chosen|announced|confirmed|fixed)\b",
    r"\b(?:i'?m|i\sam)\s(?:not\s(?:sure|certain|aware)|unsure|unaware|afraid\si\s(?:don't|can't|do\snot))",
    r"\bremains?\s(?:unknown|unclear|open)\b|\bis\s(?:unknown|unclear|unspecified)\b",
    r"\b(?:nobody|no\sone)\s(?:is|was)\s(?:named|mentioned|given)",
    r"\b(?:do|does|did)(?:n't|\snot)\s(?:\w+\s)?(?:see|find)\s(?:that|it|this|anything|one|any)\b",
    r"\b(?:haven't|hasn't|hadn't|(?:have|has|had)\s(?:not|never)|never)\s(?:\w+\s)?(?:told|got|given|gave|shared|said|mentioned|seen|heard|received)\b",
    r"\bonly\s(?:have|know|see|find|mentions?|says?|states?|gives?|lists?|covers?|shows?|records?|names?)\b[^.;]{0,80}[,;]\s?(?:but\s|and\s)?(?:not|no|nothing|never)\b",
    r"\bthe\s(?:log|logs|records?|notes?|chat|conversation|messages|history)\s(?:\w+\s){0,3}(?:silent|nothing)\b",
)

ABSTAINING_ZH: tuple[str, ...] = (
    r"不知道|不清楚|不确定|不太清楚|不太确定|不了解|不得而知|说不准|说不好|不好说|答不了|答不上来|不详|未知|记不得|记不清|不记得|想不起来|没印象|没有印象",
    r"(?:无法|没法|没办法|不能|难以|未能|无从)(?:\w{0,4})?(?:确定|回答|判断|得知|确认|查到|找到|获知|知道|给出|告诉|推断|核实|作答|查证|提供)",
    r"(?:没|没有|未|尚未|从未|并未|都没|也没|并没有|还没有?|均未)(?:\w{0,3})?(?:找到|查到|查着|提到|提及|提过|提起|说明|说过|说到|说是|写明|写是|写到|记载|记录|记下|看到|见到|注明|透露|交代|涉及|登记|标明|指明|明确|留下|告知|得出|给出|提供)",
    r"查不到|找不到|查无|搜不到|看不出|没这方面|没有这方面|没查到|没找着|翻不到",
    r"(?:记录|日志|聊天|对话|资料|信息|消息|文档|档案|上下文|内容)(?:记录)?(?:里|中|上|内|里面|当中)?(?:都|并|也|只字|根本|暂时|目前|还|就)?(?:没|未|无|不(?!是))",
    r"没有[^,。;:是]{0,14}(?:记录|信息|资料|说法|结论|内容|线索|提及|记载|印象|数据|下文|答案|依据可查)|没[^,。;:是有]{0,6}(?:记录|信息|资料)$",
    r"(?:信息|资料|证据|线索|依据)(?:\w{0,2})?(?:不足|不够|缺失|有限)|缺(?:少|乏)(?:\w{0,6})?(?:信息|资料|记录)",
    r"(?:记录|聊天|日志|资料|对话|消息|群)(?:里|中|上)?只(?:有|给)[^。;]{0,40}[,;][^,。;]{0,14}?(?:没有?|未)",
    r"只(?:写|说|提|记|讲)[^。;]{0,40}[,;][^,。;]{0,14}?(?:没有?|未)",
    r"(?:没|没有|未|并未|从未)(?:提|说|写|讲)(?:过)?(?=$|[^\w])|(?:还没|还没有|尚未|没有?)(?:定下来|决定|确定下来|定论|确定)",
    r"暂无|无相关|无此(?:信息|记录)|无记录|尚无|未见|没人(?:说|提)|没有人(?:说|提)",
)

ASKING_EN: tuple[str, ...] = (
    (
        r"\b(?:which\s(?:one|\w+)\s(?:do|did|are|would|should)\s(?:you|we|i)\b|(?:do|did)\syou\smean|are\syou\s(?:asking|referring|talking)|could\syou\s(?:please\s)?"
        r"(?:clarify|specify|tell|say|be\smore|confirm|give|provide|let)|can\syou\s(?:please\s)?(?:clarify|specify|tell|say|be\smore|confirm|give|provide|let)|"
        r"what\s(?:exactly\s)?(?:do|did)\syou\smean|who\s(?:do|did)\syou\smean|please\s(?:clarify|specify|say\swhich|tell\sme\swhich)|would\syou\smind\s|more\sspecific)"
    ),
)
ASKING_ZH: tuple[str, ...] = (
    (
        r"(?:您|你)(?:是)?(?:指|问|说)的?(?:是)?(?:哪|谁|什么|不是)|请问(?:您|你)?(?:是|指|说|问|想|要)|(?:能|可以|请|麻烦)(?:您|你)?(?:再)?(?:具体|详细)?(?:说明|说清|补充|明确|提供|告知|确认)(?:一下|下)?"
        r"|指的是哪|是指哪|哪一(?:个|位|单|次|家|笔)(?:呢|呀|啊)?\?|是哪(?:个|位|单|次|家|笔)(?:呢|呀|啊)?\?"
    ),
)

_ABSTAIN = re.compile("|".join(f"(?:{p})" for p in (*ABSTAINING_EN, *ABSTAINING_ZH)))
_ASK = re.compile("|".join(f"(?:{p})" for p in (*ASKING_EN, *ASKING_ZH)))
_STOP = re.compile(r"[!?。;\n]|\.(?=\s)")
# "No more details" after an answer takes nothing back from it.
_FURTHER = re.compile(
    r"\b(?:more|further|other|else|additional|any\sother|the\sreason|why)\b|其他|其它|更多|别的|另外|原因|为什么"
)


def abstaining(clause: str) -> bool:
    """Say whether a normalised, lowered clause declines to answer."""
    return bool(_ABSTAIN.search(clause)) and not _FURTHER.search(clause)


def declining_spans(low: str) -> list[tuple[int, int]]:
    """Where a text declines; a value named inside such a phrase is not offered by it."""
    return [(m.start(), m.end()) for m in _ABSTAIN.finditer(low)]


def nothing_found(clause: str) -> bool:
    """Say whether a clause is a bare "none": it declines where the question is not one of yes or no."""
    return clause.strip(" .。!") in ("没有", "没", "无", "nothing", "nothing found")


def abstaining_anywhere(low: str) -> bool:
    """Say, cheaply, whether a text may decline to answer at all."""
    return bool(_ABSTAIN.search(low)) or low.rstrip(" .。!").endswith(("没有", "nothing", "无", "没"))


def asks_explicitly(low: str) -> bool:
    """Say whether a text asks to have the question made clear."""
    return bool(_ASK.search(low))


def last_question(low: str) -> int:
    """Start of the closing sentence where it is a question or asks to clarify, else -1."""
    start = max((m.end() for m in _STOP.finditer(low.rstrip("?.。! "))), default=0)
    return start if low.endswith("?") or _ASK.search(low, start) else -1
