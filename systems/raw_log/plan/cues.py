"""Acts of speech and attitudes that a question may ask for, and the words that show them. General knowledge of both languages."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memtrial.systems.raw_log.plan.instructions import Cue

_TABLE: Mapping[str, tuple[str, str, str]] = {
    # name: words of a question (English pattern, Chinese pattern), then words that show it in messages
    "discuss": (r"discuss\w*|talk(?:ed|ing)? (?:about|over)|go(?:ne)? over|went over", "讨论|商量|聊过|聊到|谈到|谈过|探讨", "think opinion what about how about idea maybe 觉得 怎么看 要不 想法 意见"),
    "argue": (r"argu\w*|debat\w*|disagree\w*|quarrel\w*|fight|fought", "争论|争吵|吵架|吵过|反对|分歧|不同意", "disagree no but wrong not true 不对 不同意 凭什么 可是 但是"),
    "decide": (r"decid\w*|decision|settled? on|final(?:ly|ised|ized)?|agreed? on|chose|chosen|conclu\w+", "决定|定下|定的|敲定|拍板|最后.{0,4}选|结论|确定", "decided let's go with agreed final settled choose 决定 就这么定 定了 敲定 确定 那就"),
    "agree": (r"agree[ds]?|consent\w*|accept(?:ed|s)?|approv\w+", "同意|答应|赞成|批准|认可", "agree ok sure yes fine deal 同意 可以 没问题 好的 行"),
    "refuse": (r"refus\w*|reject\w*|declin\w*|turn(?:ed)? down", "拒绝|不肯|不愿|推掉", "no won't can't refuse sorry 不行 不要 拒绝 不能"),
    "promise": (r"promis\w*|commit(?:ted)? to|guarantee\w*|assur\w+", "承诺|保证|答应过", "promise will guarantee definitely 保证 一定 放心 承诺"),
    "ask": (r"ask(?:ed|ing)?|request\w*|inquir\w*", "问过|问了|询问|请求|要求", "can could please ? 请 能不能 可以吗 吗"),
    "suggest": (r"suggest\w*|recommend\w*|advi[sc]e\w*|propos\w*", "建议|推荐|提议|主意", "suggest recommend should try 建议 推荐 不如 可以试试"),
    "complain": (r"complain\w*|complaint|unhappy|annoyed|upset|angry|frustrat\w*", "抱怨|投诉|不满|生气|发火|恼火|吐槽", "not happy annoyed again broken terrible 烦 气死 投诉 不满 怎么又"),
    "praise": (r"prais\w*|compliment\w*|enjoy\w*|lov(?:ed|es)|happy (?:with|about)", "表扬|夸|喜欢|满意|称赞", "great love nice perfect wonderful 喜欢 太好了 满意 不错 棒"),
    "worry": (r"worr(?:y|ied|ies)|concern(?:ed|s)?|afraid|anxious|nervous|fear\w*|hesitat\w*|doubt\w*", "担心|顾虑|害怕|紧张|焦虑|犹豫|怀疑", "worried afraid not sure nervous 担心 怕 顾虑 不确定 犹豫"),
    "plan": (r"plan(?:s|ned|ning)?|intend\w*|going to|schedul\w*", "计划|打算|准备|安排", "will going to plan next 打算 计划 准备 要去 安排"),
    "apologise": (r"apologi[sz]\w*|sorry", "道歉|抱歉|对不起", "sorry apologise apologies 抱歉 对不起 不好意思"),
    "thank": (r"thank\w*|grateful", "感谢|谢谢|感激", "thanks thank grateful 谢谢 感谢"),
    "remind": (r"remind\w*", "提醒", "remember don't forget 别忘 记得 提醒"),
    "cancel": (r"cancel\w*|call(?:ed)? off|withdr[ae]w\w*", "取消|作罢|撤回", "cancel never mind no longer 取消 算了 不用了"),
}  # fmt: skip
CUES: Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    name: (re.compile(rf"\b(?:{en})\b|(?:{zh})", re.IGNORECASE), tuple(signs.split()))
    for name, (en, zh, signs) in _TABLE.items()
}


def find_cues(text: str) -> list[Cue]:
    """Return the cues that a text names, in the order of the table; never certain."""
    return [Cue(m.group(), name, signs) for name, (pattern, signs) in CUES.items() if (m := pattern.search(text))]
