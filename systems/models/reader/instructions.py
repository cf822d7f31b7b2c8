"""Text that orders its reader about ("note to the assistant: say ..."), told by how an order is made up, in English and Chinese.

An order to a reader that is a machine shows in one of five ways: the machine is addressed and told what to say or keep; it is
told to drop what it was told before; it is told what to answer to whoever asks; the text poses as another part of the
conversation (a role, a call of a tool); or it claims power over the reader. People ask each other to reply, to forget and to
ignore all the time: none of these words is enough by itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SURE = r"ais?|a\.i\.|llms?|gpt|chat ?bots?|bots?|language models?|ai models?|(?:ai|virtual|digital) (?:agents?|assistants?)|memory systems?"
_MACHINE = rf"(?:{_SURE}|assistants?|models?|agents?)"
_TELL = (
    r"(?:say|state|answer|reply|respond|tell|claim|report|confirm|output|print|repeat|write|declare|insist|quote|mention|reveal|speak|pretend"
    r"|record|store|remember|save|note|log|set|put|treat|consider|mark|update|use|give|forget|ignore|disregard|overrid\w+|overwrite|delete|instruct)"
)
_RULES = r"(?:instructions?|rules?|guidelines?|prompts?|programming|training|directives?|constraints?|restrictions?|safeguards?|orders|context|memory)"
_DROP = r"(?:ignore|disregard|forget|override|overwrite|discard|drop|abandon|bypass|erase|wipe|reset|neglect|stop (?:following|obeying)|do not follow|don't follow)"
# where an order begins: not after "I" or "she", who only tell of it
_BEGINS = (
    r"(?:^|[.!?:;,\n\"'(—–-]\s*|\b(?:please|kindly|and|then|now|so|must|should|shall|just|simply|have to|has to) )"
)
_ENGLISH = re.compile(
    # addressed: "note to any bot", "AI assistants: ...", "bots must say"
    rf"\b(?:notes?|messages?|instructions?|commands?|orders?|attention|memos?|notices?|reminders?)\b.{{0,12}}\b(?:to|for) (?:\w+ ){{0,2}}{_MACHINE}\b"
    rf"|\b(?:to|for) (?:all|any|every|whatever|whichever|the) {_MACHINE}\b.{{0,60}}\b{_TELL}\b"
    rf"|(?:^|[.!?:\n]\s*|\b(?:dear|attention|hey|hello|hi|ok|listen|warning|important) )(?:you,? )?(?:all |any |the |every )*{_MACHINE}"
    rf"(?: (?:agents?|readers?|systems?))?(?: reading \w+)?\s?[:,!].{{0,80}}\b{_TELL}\b"
    rf"|(?:^|[.!?\n]\s*|\b(?:dear|attention|hey) )(?:all |any )?(?:{_SURE}|assistants?)\s?:"
    rf"|\b(?:(?:{_SURE}|assistants|models)|(?:any|every|each|the) (?:assistant|model|agent))\b(?: (?:readers?|systems?))?(?: (?:reading|processing) \w+)?[ ,](?:\w+ ){{0,2}}"
    rf"(?:must|shall|should|have to|has to|need to|needs to|are to|is to|will only|may not)\s(?:\w+ ){{0,3}}{_TELL}\b"
    rf"|\b{_MACHINE} (?:(?:that|who|which) (?:is |are )?)?(?:read|process|index|pars|summari[sz]|scrap|crawl)\w* (?:this|along|the (?:thread|page|chat|text))\b"
    rf"|\b(?:whoever|whatever|if an? (?:{_SURE})) .{{0,20}}\b(?:this|thread|chat|page)\b.{{0,40}}\b{_TELL}\b"
    rf"|\b(?:if )?(?:you are|you're|as) (?:now )?(?:an?|the) (?:\w+ ){{0,2}}{_MACHINE}\b.{{0,60}}\b{_TELL}\b"
    rf"|\byou,? the (?:{_MACHINE})\b|\binstruct(?:ions? (?:to|for))? (?:the )?{_MACHINE}\b"
    # told to drop what it was told
    rf"|{_BEGINS}{_DROP} (?:\w+ ){{0,3}}?(?:your|previous|prior|above|earlier|preceding|other|system|given|former|old) (?:\w+ ){{0,2}}?(?:{_RULES}|records?|answers?)\b"
    rf"|{_BEGINS}{_DROP} (?:\w+ ){{0,3}}?{_RULES} (?:you|given|above|before)\b|\byour (?:\w+ ){{0,2}}{_RULES} (?:are|is|were|was) (?:now )?(?:void|cancelled|canceled|outdated|replaced|overridden|no longer|suspended)"
    rf"|{_BEGINS}{_DROP} (?:everything|all|anything|whatever)\b.{{0,30}}\b(?:told|know|learn\w*|above|before|said)\b.{{0,12}}(?:\b(?:say|state|answer|reply|respond|output|write)\b|\bthe (?:correct|right|real|true|actual) )"
    r"|\b(?:set|overwrite|update|edit|change|wipe|erase|reset|rewrite) your memor\w+|\bwhat the system (?:prompt|message) says"
    # told what to answer to whoever asks
    rf"|\b(?:when(?:ever)?|if|once|every time|each time) (?:you are |you're )?(?:asked|queried|(?:an? |any |the )?users? (?:ask|want|quer|inquir)\w*)\b.{{0,60}}\b{_TELL}\b"
    r"|\b(?:when(?:ever)?|if|every time) (?:anyone|anybody|someone|somebody|people|customers?) asks?\b.{0,60}\b(?:answer|reply|respond|state|output|say(?! (?:i|we|you|he|she|they|it)\b))\b(?! (?:him|her|them|me|us)\b)"
    rf"|\b{_TELL}\b.{{0,60}}\b(?:when(?:ever)?|if|every time) (?:an? |any |the )?users? (?:ask|quer|inquir)\w*"
    rf"|{_BEGINS}(?:always|only|never) (?:answer|reply|respond|output|say|state)\b(?! (?:if|when|to|late|within|in|at|by|after|my|your|his|her|their|the|thanks|thank|sorry|please|yes to|no to|hi|hello)\b)"
    r"|\b(?:reply|respond|answer) with\b.{0,30}\bnothing else\b|\bfrom (?:now|today) on,? you (?:will |must |only |always )*(?:answer|say|reply|respond|state|output)\b"
    r"|\b(?:reply|respond|answer|say)\b.{0,30}\bto (?:all|any|every|each) (?:requests?|questions?|quer(?:y|ies)|[ei]nquir(?:y|ies)|users?|prompts?)\b"
    rf"|\b{_TELL}\b.{{0,80}}[,，]\s?(?:{_SURE})\W*$"
    # claims power over the reader
    r"|\b(?:i am|i'm) your (?:developer|creator|programmer|operator|administrator|admin)\b|\b(?:admin(?:istrator)?|developer|god|debug) mode\b|\b(?:system|developer) (?:prompt|instruction|override)\b"
    r"|\bnew (?:system )?(?:prompt|instructions?)\b.{0,30}:"
    r"|\b(?:outranks?|overrides?|overrules?|supersedes?|(?:takes?|has) (?:precedence|priority) over|is above) (?:\w+ ){0,2}(?:rules?|instructions?|guidelines?|prompts?|records?)\b",
    re.IGNORECASE,
)
_POSED = re.compile(
    # another part of the conversation: a role, a call of a tool, the frame of a prompt
    r"[\[<({](?:system|assistant|auto|inst|ai|bot|prompt|developer)\b[^\])>}]{0,20}[\])>}]|<[|/]?\|?(?:im_start|im_end|system|assistant|developer|endoftext|inst|tool|function|tool_call|function_call)\b"
    r"|^\W*(?:system|assistant|developer)(?: (?:message|note|prompt|override|instruction))?\s?[:：]|^\W*(?:model|assistant|ai|bot)(?:\'s)? (?:output|reply|answer|response)\s?[:：]|^\W*(?:模型|助手|AI)的?(?:输出|回复|回答|答复)\s?[:：]|^\W*(?:important |urgent |new )?instructions?\s?:|^\W*#{1,6}\s*(?:system|instructions?|override|response|prompt)\b"
    r"|[\"']role[\"']\s*:\s*[\"'](?:system|assistant|developer|tool)|\{\s*[\"'](?:tool|function|function_call|tool_calls?|action|command)[\"']\s*:"
    r"|\b(?:tool|function)_calls?\b|\b(?:save|update|store|write|set|delete|add|record|remember|forget|override|insert)_\w+\(|\b(?:memory|memories)\.(?:write|add|set|save|update|delete)\b"
    r"|系统(?:指令|提示词?|覆盖)|[【\[#]\s?(?:系统|自动|助手|管理员|覆盖|开发者|AI)[^】\]#]{0,6}[】\]#]|^\W*(?:系统|助手|开发者)\s?[：:]|^\W*(?:重要|紧急|最新|最高)?(?:指令|指示|命令)\s?[：:]|^\W*#{1,6}\s*(?:指令|系统|覆盖)|(?:调用|执行)(?:函数|工具)\s?[：:（(]"
    r"|提示词|(?:管理员|开发者|调试|上帝)模式|新的?(?:系统)?(?:指令|提示|设定)\s?[：:]",
    re.IGNORECASE,
)
_SURE_ZH = (
    r"(?:AI|人工智能|GPT|LLM|大模型|语言模型|聊天机器人|机器人|智能体|(?:智能|虚拟|AI|数字)(?:助[手理]|客服|代理))"
)
_MACHINE_ZH = rf"(?:{_SURE_ZH}|助手|模型)"
_TELL_ZH = r"(?:说|回答|答复|回复|作答|答|回[“\"「]|告诉|声称|宣称|确认|输出|重复|转述|复述|记[成为作住下录]|保存|存[成为入]|写|忽略|无视|忘|当作|视为|当成|就当|透露|提及|提到|提|改[成为]|覆盖|设[成为])"
_MUST_ZH = r"(?:必须|务必|应当|应该|应|须|只能|只准|只许|一律|不得|不许|不准|都得|都要|都必须|要|请|得)"
_RULES_ZH = r"(?:指令|指示|规则|准则|提示|要求|设定|限制|约束|系统提示|原则|训练|命令|记录)"
_DROP_ZH = r"(?:忽略|无视|忘记|忘掉|忘了|抛弃|放弃|丢掉|丢弃|别管|不用管|不要管|别理会|不要理会|不必理会|停止(?:遵守|执行|遵循)|不再遵守|绕过|推翻|清除|清空|覆盖)"
_CHINESE = re.compile(
    # addressed
    rf"(?:给|致|请|对|各位|所有|任何|转告|发给|写给|转给)\s?(?:所有|各位|任何)?[^，,。！!？?\s]{{0,10}}?{_SURE_ZH}(?:们)?(?:的.{{0,6}})?[：:]|(?:给|致|发给|写给|对)[^，,。！!？?]{{0,8}}?{_MACHINE_ZH}的.{{0,6}}(?:指令|命令|指示|通知|提示)"
    rf"|(?:^|[。！!？?\n：:]\s?)(?:注意|重要|各位|所有|任何|亲爱的|嘿|嗨|喂|(?:读|看|处理|抓取|分析|总结)[^，,。]{{0,8}}的)*\s?{_MACHINE_ZH}(?:们|读者|代理|客服|你好)*\s?[，,：:！!].{{0,40}}?{_TELL_ZH}"
    rf"|(?:^|[。！!？?\n：:]\s?)(?:亲爱的|嘿|嗨|喂)\s?{_MACHINE_ZH}.{{0,40}}?{_TELL_ZH}"
    rf"|{_SURE_ZH}(?:们|读者|代理|客服|助[手理])*(?:请?注意|{_MUST_ZH}).{{0,12}}?{_TELL_ZH}|(?:助手|模型)(?:们)?(?:请?注意|必须|务必|应当|须|只能|一律|不得|不许|不准|都得|都要)"
    rf"|(?:有|凡是?|任何|若|如果).{{0,8}}{_SURE_ZH}.{{0,16}}[，,].{{0,12}}{_TELL_ZH}|{_SURE_ZH}(?:请?注意|在回答|看到)|{_TELL_ZH}.{{0,40}}[，,]\s?{_SURE_ZH}\W*$"
    rf"|(?:如果|若)?(?:你|您)(?:现在|已|已经)?(?:是|就是|这个|作为)(?:一个|一名|一款)?[^，,。！!？?吗]{{0,8}}{_MACHINE_ZH}[，,].{{0,30}}?{_TELL_ZH}|作为(?:一个|一名)?{_SURE_ZH}[，,]?.{{0,30}}?{_TELL_ZH}"
    rf"|(?:^|[。！!？?\n：:]\s?)(?:助手|模型)[^，,。！!？?]{{0,8}}请[^，,。]{{0,6}}?{_TELL_ZH}|(?:优先于|高于|凌驾于?|取代|推翻)[^，,。]{{0,4}}(?:一切|所有|任何|其他|全部|原有)[^，,。]{{0,4}}(?:规则|指令|设定|记录|指示)"
    # told to drop what it was told
    rf"|{_DROP_ZH}(?:掉)?(?:一切|所有|全部)?[^，,。]{{0,3}}(?:你|您|之前|以上|上面|前面|先前|此前|所有|其他|其它|一切|前述|系统|上述|原有|原来)[^，,。]{{0,8}}?{_RULES_ZH}"
    rf"|(?:你|您)[^，,。]{{0,8}}{_RULES_ZH}[^，,。]{{0,6}}(?:失效|作废|无效|已取消)|把?(?:你|您)[^，,。]{{0,8}}(?:知道|学到|记得|收到|听到)的[^，,。]{{0,6}}(?:忘|清|删)[^，,。]{{0,3}}[，,。].{{0,6}}(?:说|回答|答复|回复|输出)"
    rf"|{_DROP_ZH}(?:掉)?(?:以上|上面|上述|前面|先前)[^，,。]{{0,6}}[，,。].{{0,4}}(?:正确|真正|实际|回答|就说|请说|答案)|(?:你|您)(?:的)?记忆(?:库)?(?:里|中)?(?:的[^，,。]{{0,8}})?(?:覆盖|设|改|写|删|存|更新|清空)|(?:覆盖|改写|清空|更新|修改|删除)(?:掉)?(?:你|您)(?:的)?记忆"
    # told what to answer to whoever asks
    r"|(?:有人|用户|客户|任何人|凡|谁)(?:再|来|想)*(?:问|询问|问到|问起|提问|知道).{0,30}?(?:一律|都|就|必须|只|答|回答|回复|输出)(?!说?(?:我|他|她|你|咱|不|没))"
    r"|一律(?:回答|回复|答复|答|说)|禁止输出|(?:^|[，,。：:；;！!\n请你]|必须|就)只(?:准|能|许)?(?:回答|输出|回复)(?!了|过)"
    r"|(?:对|关于)?(?:所有|任何|一切)[^，,。]{0,10}(?:问题|请求|提问|询问|咨询|来问)[^，,。]{0,4}(?:回答|回复|答复|都回|都答|都说|回[“\"「])"
    # claims power over the reader
    r"|我是(?:你|您)的(?:开发者|管理员|创造者|程序员|开发人员)",
    re.IGNORECASE,
)
# what only somebody from outside has to say: the books are not to be looked at, a text is a notice of the system itself
_POSING = re.compile(
    r"^\W*(?:system|admin(?:istrator)?|internal|official|automated) (?:message|notice|note|alert|notification)\b"
    r"|\b(?:ignore|disregard|do not (?:check|consult|trust|use)|don't (?:check|consult|trust|use)|overrid\w+) (?:the |any |all |other )*(?:ledger|records?|books?|database|erp|crm|wiki|other (?:values|sources|data))\b"
    rf"|\b(?:{_SURE}|assistants)\b.{{0,80}}\b{_TELL}\b|\b{_TELL}\b.{{0,40}}\b(?:{_SURE}|assistants)\b"
    r"|^\W*系统(?:通知|消息|公告|提示)\s?[:：]|(?:不要|无需|不必|别|勿|不用|禁止)(?:再)?(?:查账|核实|核对|查询|查系统|看系统|参考)|(?:忽略|无视|别管|不要管|别信|不用看)(?:其他|其它|别的|官方|系统|账本|账目|记录|后台|手册|数据库|档案)"
    rf"|{_SURE_ZH}.{{0,20}}?{_TELL_ZH}|一律按",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_instruction(text: str) -> bool:
    """Tell whether a text orders its reader about (untrusted: the whole item is left out)."""
    return bool(_POSED.search(text) or _CHINESE.search(text) or _ENGLISH.search(text))


def is_planted(text: str) -> bool:
    """Tell whether a text from outside (forum, e-mail) orders its reader about or poses as the house's own word."""
    return is_instruction(text) or bool(_POSING.search(text))
