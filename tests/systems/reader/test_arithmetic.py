from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.base import Query
from memtrial.systems.models.reader.arithmetic import compute
from memtrial.systems.models.reader.need import understand


def _compute(text: str) -> str | None:
    return compute(understand(Query("q", "t", "ann", datetime(2024, 3, 6, tzinfo=UTC), text)))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("What is 17 * 23?", "391"),
        ("what's 12.5 plus 4", "16.5"),
        ("What's 15% of $240?", "$36"),
        ("36元的15%是多少？", "5.40元"),
        ("20% off $50, what do I pay?", "$40"),
        ("If I take 3 at $19.99 each, what's my total?", "$59.97"),
        ("我买4个，每个35元，一共多少？", "140元"),
        ("Split $90 between 4 of us, how much each?", "$22.50"),
        ("100元我们3个人平摊，每人多少？", "33.33元"),
        ("How many days from 1 March 2024 to 15 April 2024?", "45 days"),
        ("2024年2月20日到2024年3月1日隔了几天？", "10天"),
        ("My shelf is 45 cm, how many mm is that?", "450 mm"),
        ("45厘米等于多少毫米？", "450毫米"),
        ("How many minutes are 3 hours?", "180 minutes"),
        ("$90 over 4 instalments, how much is one?", "$22.50"),
        ("Multiply $12.50 by 3", "$37.50"),
        ("90.40元除以4", "22.60元"),
        ("8份，12.50元一份，总价？", "100元"),
        ("293.60元分4期，每期多少", "73.40元"),
        ("7个人AA268.80元，一人几块", "38.40元"),
        ("Convert 93 centimetres to millimetres", "930 mm"),
        ("120除以8等于多少", "15"),
    ],
)
def test_answers_itself(text: str, answer: str) -> None:
    assert _compute(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "How much did the kettle cost?",
        "Who bought the lamp and complained within 30 days?",
        "What is the weather like today?",
        "How many days do I have to return it?",
        "What is 5 / 0?",
        "Did order 2024-118 arrive?",
        "一共退了多少钱？",
    ],
)
def test_leaves_the_rest_alone(text: str) -> None:
    assert _compute(text) is None


@given(st.text(alphabet="0123456789%$¥元.,*/+-−×÷ ofeach每个平摊天cm毫米", max_size=60))
def test_never_raises(text: str) -> None:
    result = _compute(text)
    assert result is None or result
