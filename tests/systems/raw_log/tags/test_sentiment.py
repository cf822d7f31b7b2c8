"""Moods by words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.raw_log.plan.cues import CUES
from memtrial.systems.raw_log.tags.sentiment import MOODS, mood_of


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("Great, thanks a lot!", 1),
        ("I am really annoyed, this is unacceptable.", -1),
        ("I'm not very happy with it", -1),
        ("Don't worry, I am not upset", 0),
        ("Thanks, but it is broken", 0),
        ("The parcel weighs 3 kg", 0),
        ("这次服务我很满意，谢谢", 1),
        ("太差了吧，我要投诉", -1),
        ("我不太喜欢这个颜色", -1),
        ("别担心，明天就到", 0),
        ("明天下午三点开会", 0),
        ("", 0),
    ],
)
def test_the_clear_cases(text: str, mood: int) -> None:
    assert mood_of(text) == mood


def test_every_cue_with_a_mood_is_one_that_a_plan_can_name() -> None:
    assert set(MOODS) <= set(CUES)


@given(st.text(max_size=200))
def test_any_text_has_a_mood(text: str) -> None:
    assert mood_of(text) in (-1, 0, 1)
