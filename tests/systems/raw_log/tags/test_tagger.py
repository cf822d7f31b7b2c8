"""Tags put hits first; they never lose one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.base import Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import Cue, LogIndex, Plan, Topic
from memtrial.systems.raw_log.tags import TagParams
from memtrial.systems.raw_log.tags.tagger import Tagger
from tests.systems.raw_log.tags.test_topics import talk

Say = Callable[..., Message]
COMPLAINED = Cue("complained", "complain")


def tagger(messages: list[Message], **params: object) -> Tagger:
    log = Log()
    index = LogIndex(log)
    given = {"topics": "clusters", "sentiment": "lexicon", "sessions": 3, "nearest": 1, "least": 1, **params}
    found = Tagger(TagParams.model_validate(given), log, index, 0)
    new = log.add(messages)
    index.add(new)
    found.add(new)
    return found


def falling(count: int) -> list[tuple[int, float]]:
    return [(p, float(count - p)) for p in range(count)]


def test_those_of_the_topic_come_first_and_the_others_behind_with_lower_scores(say: Say) -> None:
    hits = falling(12)
    trace = Trace()
    found = tagger(talk(say)).tagged_first(hits, Plan((Topic("invoice tax"),)), "t1", trace)
    assert [p for p, _ in found] == [2, 3, 6, 7, 10, 11, 0, 1, 4, 5, 8, 9]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert trace.facts["tags"] == {"asked": 1, "kept": ["topic"], "first": 6}
    assert "relaxed" not in trace.facts.get("plan", {})


def test_the_mood_gives_way_before_the_topic_and_both_before_the_plans_filters(say: Say) -> None:
    trace = Trace()
    trace.facts["plan"] = {"relaxed": ["person"]}
    plan = Plan((Topic("invoice tax"), COMPLAINED))
    found = tagger(talk(say)).tagged_first(falling(12), plan, "t1", trace)
    assert [p for p, _ in found][:2] == [2, 3]
    assert trace.facts["tags"] == {"asked": 2, "kept": ["topic"], "first": 6}
    assert trace.facts["plan"]["relaxed"] == ["cue", "person"]
    trace = Trace()
    assert tagger(talk(say), least=7).tagged_first(falling(12), plan, "t1", trace) == falling(12)
    assert trace.facts["plan"]["relaxed"] == ["cue", "topic"]


def test_a_cue_means_messages_of_its_mood(say: Say) -> None:
    log = [say(1, "It arrived"), say(2, "This is terrible, it is broken"), say(3, "Lovely, thank you")]
    found = tagger(log).tagged_first(falling(3), Plan((COMPLAINED,)), "t1", Trace())
    assert [p for p, _ in found] == [1, 0, 2]
    praised = tagger(log).tagged_first(falling(3), Plan((Cue("praised", "praise"),)), "t1", Trace())
    assert [p for p, _ in praised] == [2, 0, 1]


@pytest.mark.parametrize("plan", [Plan(), Plan((Topic("zeppelin"),)), Plan((Cue("decided", "decide"),))])
def test_what_no_tag_can_tell_changes_nothing(plan: Plan, say: Say) -> None:
    trace = Trace()
    assert tagger(talk(say)).tagged_first(falling(12), plan, "t1", trace) == falling(12)
    assert not trace.facts


def test_switched_off_nothing_is_tagged(say: Say) -> None:
    trace = Trace()
    off = tagger(talk(say), topics="off", sentiment="off")
    assert off.tagged_first(falling(12), Plan((Topic("invoice tax"), COMPLAINED)), "t1", trace) == falling(12)
    assert not trace.facts
