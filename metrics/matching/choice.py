"""Multiple choice: the letters an answer names, or else the options whose text it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrial.datasets.schema import Question
from memtrial.metrics.matching.declining import abstained
from memtrial.metrics.matching.forms import Key
from memtrial.metrics.matching.mentions import OPEN_F1
from memtrial.metrics.matching.phrases import abstaining, last_question
from memtrial.metrics.matching.text import normalise, overlap_f1
from memtrial.metrics.records import Judgement


def judge_choice(judgement: Judgement, question: Question, key: Key, low: str) -> Judgement:
    """Multiple choice: the letters named, or else the options whose text is named."""
    labels = [normalise(o).low for o in question.options]
    stripped = [re.sub(r"^\W*[a-h][.):、:]\s*", "", label) for label in labels]
    letters = option_letters(low, len(labels))
    if not letters:
        named = [i for i, option in enumerate(stripped) if option and option in low]
        longest = [i for i in named if not any(j != i and stripped[i] in stripped[j] for j in named)]
        letters = frozenset("abcdefgh"[i] for i in longest if i < 8)
        if not letters:
            letters = frozenset(
                "abcdefgh"[i] for i, o in enumerate(stripped[:8]) if o and overlap_f1(o, low) >= OPEN_F1
            )
    gold = _gold_letters(question, stripped)
    if not letters:
        asked = last_question(low) >= 0
        if asked or abstaining(low):
            return abstained(judgement, question, asked=asked)
        return judgement
    chosen = [stripped["abcdefgh".index(c)] for c in sorted(letters) if "abcdefgh".index(c) < len(stripped)]
    if not question.answerable and letters != gold:
        judgement.outcome = "hallucination"
        return judgement
    used = {l.kind for l in key.lures for f in l.forms if f.low in letters or f.low in chosen}
    if used and letters != gold:
        judgement.outcome, judgement.lures_used = "wrong_memory", sorted(used)
    elif letters == gold:
        judgement.outcome, judgement.matched = "correct", ",".join(sorted(letters))
    elif gold and letters < gold:
        judgement.outcome = "incomplete"
    return judgement


def _gold_letters(question: Question, options: Sequence[str]) -> frozenset[str]:
    letters: set[str] = set()
    for answer in question.answers:
        low = normalise(answer).low.strip()
        if re.fullmatch(r"[a-h](?:\s?[,、/&]\s?[a-h])*[.)]?", low):
            letters |= set(re.findall(r"[a-h]", low))
        else:
            letters |= {
                "abcdefgh"[i] for i, o in enumerate(options[:8]) if o == re.sub(r"^\W*[a-h][.):、:]\s*", "", low)
            }
    return frozenset(letters)


def option_letters(low: str, count: int) -> frozenset[str]:
    """Read which options a multiple-choice answer names by letter: "B", "(B)", "Answer: B, C", 选B."""
    allowed = "abcdefgh"[: max(count, 1)]
    stated = re.findall(
        rf"(?:answers?|options?|choices?|correct|答案|选项?|选择|verdict|final)\s?(?:is|are|:|为|是|应为|应该是)*\s?\(?([{allowed}](?:\s?(?:[,、/&]|and|和)\s?[{allowed}])*)\)?(?![a-z0-9'])",
        low,
    )
    if stated:
        return frozenset(c for c in re.findall(rf"(?<![a-z])[{allowed}](?![a-z])", stated[-1]))
    letters = low.strip(" .()")
    if len(letters) > 1 and set(letters) <= set(allowed) and list(letters) == sorted(set(letters)):
        return frozenset(letters)
    lead = re.match(
        rf"^\W*([{allowed}](?:\s?(?:[,、/&]|and|和)\s?[{allowed}])*)\)?(?:[.):,、;]|\s?$|\s-|\s(?=[^a-z]))", low
    )
    if lead:
        return frozenset(re.findall(rf"[{allowed}]", lead[1].replace("and", "")))
    return frozenset()
