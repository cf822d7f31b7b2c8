"""Which messages say nothing worth keeping, and why."""

from __future__ import annotations

import re

from memtrial.systems.models.reader.cues import is_first_person
from memtrial.systems.structured.extraction.said import Said

# Greetings, thanks, acknowledgements, waiting, small politeness: closed enough to be listed.
_SMALL_WORDS = """
    hi hello hey hiya yo morning afternoon evening good night day bye goodbye cheers ta thanks thank thx ty you u so much very
    welcome pleasure please pls ok okay k alright right sure yes yep yeah yup no nope nah oh ah hm hmm um erm uh well lol haha
    hehe ha wow cool great nice perfect lovely awesome fine super wonderful excellent brilliant amazing fantastic noted got it
    understood see i me my we us our your it's its that's that this the a an is are am was be all done one two sec second
    moment minute min just only quick quickly anyone there here still again me anything else something everything more today for
    to of on in at with and or but if can could may might will would shall do does did have has had let look looking check
    checking open file bear wait waiting hold hang back sorry apologies worries problem rush time take enjoy weekend later soon
    talk care lot bit really too also now then dear team desk speaking name's help need hand question wondering mind sense makes
    writing down give happy how what's up who everybody everyone folks guys friend happens same know feeling last made smile
    appreciate appreciated sounds absolutely exactly agreed indeed course other otherwise besides was not get were that'll do btw don't mind
"""
_SMALL_EN = frozenset(_SMALL_WORDS.split())
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[\u4e00-\u9fff]+", re.IGNORECASE)
_SMALL_ZH = re.compile(
    r"您好|你好|哈喽|嗨|在吗|在不|在的|早上好|上午好|下午好|晚上好|早安|晚安|谢谢|多谢|感谢|谢啦|谢了|不客气|不用谢|好的|好嘞|好吧|行吧|可以的?|收到|明白|了解|知道|"
    r"嗯+|哦+|啊+|呀|哈+|嘿+|呵+|拜拜|再见|辛苦|没事|没关系|不急|慢慢来|稍等|请稍|等等|等一下|一下|马上|我看看|看看|看一下|查查|这就查|正在看|查一下|记一下|登记|客服|亲+|有人|打扰|请讲|您说|请说|"
    r"为您服务|有什么|可以|帮到?|还有|别的|其他|问题|需要|就这些|没有?|吗|呢|吧|了|的|我|您|你|先|这样|这边|请问|想问|问个事|又来|哪位|欢迎|久等|上线|在线|同感|请教|话说|我说|对了|顺便|那个|喏|哎|理解|客气|麻烦|祝|愉快|加油|真棒"
)
_ROUTINE = re.compile(
    r"\b(?:no change|nothing to do|reviewed|routine|reformatted|typos?|tidied|cosmetic|layout|screenshots?|links? checked|glossary|duplicate check|"
    r"heartbeat|ping|keep-?alive|sync(?:hroni[sz]ed)? ok|backup (?:ok|done)|healthy|no action|joined the (?:chat|group)|left the (?:chat|group)|"
    r"changed the (?:subject|group)|messages? (?:was|were)? ?deleted|end-to-end encrypted|missed (?:voice|video) call|media omitted)\b"
    r"|无变更|例行|排版|错别字|链接检查|截图|术语表|目录|心跳|备份完成|自动同步|加入了?群聊|退出了?群聊|撤回了?一条消息|语音通话|视频通话",
    re.IGNORECASE,
)


def small_talk(text: str) -> bool:
    """Whether a text is made of greetings, thanks and fillers alone."""
    words = _WORD.findall(_SMALL_ZH.sub(" ", text))
    left = [w for w in words if w.lower().replace("’", "'") not in _SMALL_EN]
    return not any(w.isdigit() for w in left) and sum(len(w) if "\u4e00" <= w[0] <= "\u9fff" else 2 for w in left) <= 1


def why_skipped(said: Said, keep_questions: bool) -> str:
    """Return why nothing is kept of a message as a plain statement, "" where it is kept."""
    if not any(c.isalnum() for c in said.text):
        return "empty"
    if said.injected:
        return ""
    if not said.values and small_talk(said.text):
        return "small_talk"
    if said.voice == "record" and _ROUTINE.search(said.text):
        return "system_noise"
    if said.asks and not keep_questions and not (is_first_person(said.text) and len(said.text) > 80):
        return "question"
    return ""
