"""Words that say how far a sentence can be trusted: corrections, withdrawals, negation, doubt."""

from __future__ import annotations

import re
from functools import lru_cache

_CORRECTION = re.compile(
    r"\b(?:correction|actually|scratch that|no,? wait|wait,? no|sorry,? (?:i meant|that should|it(?:'s| is))|i meant|make that|rather than|instead(?: of)?|changed?(?: (?:it|that|my mind))?|"
    r"updated?|revised|replaced?|supersed\w+|moved? (?:it )?(?:to|from|up|back)|rescheduled|postponed|switch(?:ed|ing)? to|no longer|from now on|effective|new (?:address|number|price|date|time|plan|version|limit|policy)|turns out|as of|now)\b"
    r"|更正|纠正|改(?:成|为|到|在|了|一下|主意)|换成|换为|调整(?:为|到|成)|更新(?:为|到|了|一下)?|变更|变成|说错|写错|打错|搞错|记错|不对|其实|应该是|现在是|推迟|提前|延期|最新|新版|不再|以.{1,8}为准|升级",
    re.IGNORECASE,
)
_WITHDRAWAL = re.compile(
    r"\b(?:scratch that|scrap (?:that|it)|strike (?:that|it)|forget (?:that|it|the|what i said)|never ?mind|ignore (?:that|my|the)|disregard (?:that|my|the)|i take (?:that|it) back|no,? wait|wait,? no|hang on,? (?:no|wrong)"
    r"|make that|make it (?!in\b|to\b|on\b)|i (?:meant|misread|misspoke|mixed up|said that wrong|was wrong)|oops|whoops|correction|my (?:mistake|bad)|changed my mind|on (?:second thoughts?|reflection)|after all|actually,? (?:no|leave|keep)"
    r"|(?:that|this|it|which) (?:was|is) (?:wrong|a mistake|mistaken|incorrect|not true|a typo)|(?:is|was) (?:withdrawn|void|retracted)|that(?:'s| is) (?:wrong|not right)|retract\w*|wrong (?:chat|person|thread|window|number|day|date|week)"
    r"|(?:was|were) there all along|turned up after all|found (?:it|them|the \w+)\b)"
    r"|作废|(?<!签)收回(?!款)|撤回|别管|当我没说|不算数?|[说发写打搞弄记看]错了?(?!字)|记混|看岔|看漏|口误|更正|不是真的|取消上|上一条|上条|刚才那条|忽略我|等等|不对(?!劲)|才对|算了|不改了|别改|照旧|维持原样|改主意|想了想|想了下|还是原|划掉|乌龙|不不",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|unable|\w+n['’]t|fail(?:ed|s)?|refus\w+|declin\w+|reject\w+|denied|deny|cancel\w*|unavailable|unsupported|discontinued|out of stock|sold out|stopped|hasn['’]t|yet to|isn['’]t)\b"
    r"|不(?!过|错|好意思|久|仅|但|管|论|同|知|客气|用谢|止|断|足|少|得|如|妨|客)|没(?!事|关系|问题)|未(?!来|必)|无(?!论|线|锡|意|须|需)|非(?!常)|别(?!的|人)|取消|拒绝|缺货|售罄|下架|停产|停用|否认|驳回",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:maybe|perhaps|might|probably|not sure|i think|i(?:['’]d)? guess|possibly|rumou?r\w*|apparently|someone said|i heard|supposedly|guess(?:ing)?|if (?:i|we|they|he|she|it)|would have|could be|just kidding|joking|kidding|imagine)\b"
    r"|可能|也许|大概|不确定|好像|听说|据说|估计|应该会|猜|传言|传闻|要是|如果|假如|开玩笑|说着玩",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|mine|i['’]m|i['’]ve|i['’]d|i['’]ll)\b|我(?!们)|咱|俺", re.IGNORECASE)
_QUESTION = re.compile(r"[?？]\s*[\"”'）)]*\s*$|(?:吗|呢)[。!！~～ ]*$|^(?:请问|想问|问一下)")
# the patterns below are costly: this one says cheaply whether any of them can match
_MAY_REPLACE = re.compile(
    r"\b(?:from|not|instead|rather|in place|replac\w+|supersed\w+|used to|previously|originally|formerly|now|currently|(?:chang|mov|reschedul|updat|revis|increas|reduc|rais|extend)ed to|cut to)\b"
    r"|[改换变升涨降]|调整|提前|推迟|延长|缩短|更新|增加|减少|不是|替代|代替|取代|原来|之前|原先|旧|本来",
    re.IGNORECASE,
)
_OLD_NEW = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in [
        r"(?:从|由)(?:原来的|之前的)?(?P<old>.{1,30}?)(?:改|换|调整|变更|变|升级|提高|降低|降|涨|升|提前|推迟|延长|缩短|更新|增加|减少)(?:成|为|到|至|了)+(?P<new>.{1,40})",
        r"不是(?P<old>[^，,。]{1,30})[，,、\s]*(?:而是|应该是|是)(?P<new>.{1,40})",
        r"(?:把|将)?(?P<old>[^，,。]{1,20}?)(?:改|换)(?:成|为|到)(?:了)?(?P<new>.{1,40})",
        r"(?P<new>[^，,。]{1,30})[，,]?(?:代替|替代|取代|而不是|不是)(?:原来的|之前的)?(?P<old>[^，,。]{1,30})",
        r"(?:原来的?|之前的?|原先的?|旧的?|本来是?)(?:是)?(?P<old>[^，,。]{1,30})[，,](?:现在|改|已|新|目前)(?P<new>.{1,40})",
        r"\bfrom (?:the (?:old|original|previous) )?(?P<old>.{1,40}?) (?:to|into|up to|down to) (?P<new>.{1,50})",
        r"\bnot (?P<old>.{1,40}?),? (?:but|it(?:'s| is)|rather|make it) (?P<new>.{1,50})",
        r"(?P<new>.{1,50}?),? (?:instead of|rather than|not|in place of|replac(?:es|ing)|supersed(?:es|ing)) (?:the (?:old|original|previous) )?(?P<old>.{1,40})",
        r"(?P<old>.{1,40}?) (?:is|was|has been|have been|gets?|got) (?:now )?(?:replaced by|changed to|moved to|rescheduled to|updated to|revised to|superseded by|increased to|reduced to|raised to|cut to|extended to) (?P<new>.{1,50})",
        r"\b(?:was|used to be|previously|originally|formerly|before it was) (?P<old>.{1,40}?)[,;—-]+ ?(?:but |and )?(?:it(?:'s| is) )?(?:now|currently) (?P<new>.{1,50})",
        r"\b(?:now|currently) (?P<new>.{1,40}?)[,(;—-]+ ?(?:it )?(?:was|used to be|previously|originally|formerly|up from|down from) (?P<old>.{1,40})",
    ]
]


def is_correction(sentence: str) -> bool:
    """Tell whether a sentence says that something changed."""
    return bool(_CORRECTION.search(sentence))


def is_withdrawal(sentence: str) -> bool:
    """Tell whether a sentence takes back an earlier one."""
    return bool(_WITHDRAWAL.search(sentence))


def is_doubtful(sentence: str) -> bool:
    """Tell whether a sentence is a guess, hearsay or a hypothesis."""
    return bool(_DOUBT.search(sentence))


def is_first_person(sentence: str) -> bool:
    """Tell whether the speaker talks about themself."""
    return bool(_FIRST_PERSON.search(sentence))


def is_question(sentence: str) -> bool:
    """Tell whether a sentence asks rather than states."""
    return bool(_QUESTION.search(sentence))


def negations(sentence: str) -> int:
    """Count negating words."""
    return len(_NEGATION.findall(sentence))


@lru_cache(maxsize=4096)
def old_spans(sentence: str) -> tuple[tuple[int, int], ...]:
    """Return offsets of what a sentence itself calls replaced (the A of "from A to B")."""
    if not _MAY_REPLACE.search(sentence):
        return ()
    return tuple(match.span("old") for pattern in _OLD_NEW for match in pattern.finditer(sentence))
