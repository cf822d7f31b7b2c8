"""People whom somebody brings up by what they are to them: "my sister Anna", 我同事小王."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtrial.systems.models.reader.values_names import SURNAMES

_KIN_EN = (
    "sister|brother|mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend|fiancée?|son|daughter|aunt|uncle|cousin|"
    "niece|nephew|grandma|grandpa|grandmother|grandfather|friend|best friend|neighbou?r|colleague|co-?worker|boss|manager|"
    "roommate|flatmate|teammate|classmate|teacher|coach|mentor|dog|cat|puppy|kitten|horse"
)
_KIN_ZH = (
    "姐姐|妹妹|哥哥|弟弟|妈妈|爸爸|老婆|老公|妻子|丈夫|女朋友|男朋友|儿子|女儿|阿姨|叔叔|表哥|表弟|表姐|表妹|侄子|侄女|朋友|闺蜜|"
    "邻居|同事|领导|老板|室友|同学|老师|教练|徒弟"
)
_EN = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur)\s(?:\w+\s)?(?:{_KIN_EN}),?\s(?:named\s|called\s)?(?P<name>[A-Z][a-zà-ÿ'’-]+(?:\s[A-Z][a-zà-ÿ'’-]+)?)"
)
_ZH = re.compile(
    rf"我们?的?(?:{_KIN_ZH})(?:叫)?(?P<name>[小老阿][\u4e00-\u9fff]|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?=[，。！？、,.!?\s说问要想和跟与给是在也都]|$)"
)
_NOT_NAMES = frozenset(
    {"I", "We", "He", "She", "They", "And", "But", "The", "Who", "That", "Is", "Was", "Has", "Just", "Also"}
)


def brought_up(text: str) -> Iterator[str]:
    """Yield the names of people (and pets) that the speaker calls theirs."""
    for pattern in (_EN, _ZH):
        for match in pattern.finditer(text):
            name = re.sub(r"['’]s$", "", match["name"])
            if name not in _NOT_NAMES:
                yield name
