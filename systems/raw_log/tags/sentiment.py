"""Whether a message is pleased or displeased, by words. General knowledge of both languages; a few dozen words tell the clear cases."""

from __future__ import annotations

import re
from typing import Literal

Mood = Literal[-1, 0, 1]
# Acts of speech (names of ``plan.cues.CUES``) that have a mood.
MOODS: dict[str, Mood] = {"complain": -1, "worry": -1, "argue": -1, "praise": 1, "thank": 1}

_EN = {
    1: r"good|great|nice|love|loved|lovely|happy|glad|perfect|wonderful|excellent|awesome|amazing|fantastic|pleased|thanks|thank|"
    r"grateful|appreciate|enjoy|enjoyed|satisfied|delighted|excited|beautiful|best",
    -1: r"bad|terrible|awful|horrible|angry|annoyed|annoying|upset|unhappy|disappointed|disappointing|frustrated|frustrating|"
    r"unacceptable|ridiculous|worst|hate|hated|broken|useless|fed up|sad|worried|afraid|nervous|anxious|poor|rude|furious",
}
_ZH = {
    1: "满意|喜欢|开心|高兴|太好了|不错|很棒|真棒|完美|谢谢|感谢|感激|优秀|赞|期待|爱死|好极了|放心",
    -1: "失望|生气|愤怒|气死|投诉|糟糕|太差|很差|难受|难过|烦死|讨厌|恶心|离谱|担心|害怕|焦虑|坑人|差劲|无语|受不了|不满|不爽|崩溃",
}
_WORD = {
    mood: re.compile(rf"(?P<not>\b(?:not|never|no|hardly|\w+n['’]t)\s(?:\w+\s){{0,2}})?\b(?:{words})\b", re.IGNORECASE)
    for mood, words in _EN.items()
}
_SIGN = {
    mood: re.compile(f"(?P<not>(?:不是?|没有?|别)(?:太|很|怎么|那么|特别)?)?(?:{words})") for mood, words in _ZH.items()
}


def mood_of(text: str) -> Mood:
    """Return 1 for a text with more pleased words than displeased ones, -1 for the contrary, 0 otherwise.

    A word that is denied counts as its contrary if it is pleased ("not happy"), and not at all if it is displeased ("don't
    worry", 别担心).
    """
    total = 0
    for patterns in (_WORD, _SIGN):
        for mood, pattern in patterns.items():
            for found in pattern.finditer(text):
                total += (-1 if mood > 0 else 0) if found["not"] else mood
    return 1 if total > 0 else -1 if total < 0 else 0
