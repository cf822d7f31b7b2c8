from __future__ import annotations

import pytest

from memtrial.systems.models.llm.prices import Price
from memtrial.systems.models.llm.projection import DelayModel, count_prompt, price_range, project

PRICE = Price(prompt=1.0, cached=0.5, completion=4.0)
DELAY = DelayModel(time_to_first_token_s=0.5, tokens_per_second=50)


def test_projection_worked_out_by_hand() -> None:
    found = project([1000, 3000], [10, 30], "m", PRICE, DELAY, frame_tokens=500)
    # (4000 + 1000) × 1 + 40 × 4 = 5160 dollars per million for two questions
    assert found.usd_per_1k == pytest.approx(2.58)
    assert found.seconds == pytest.approx(0.5 + 20 / 50)
    assert (found.questions, found.prompt_tokens, found.answer_tokens) == (2, 2500, 20)
    assert found.show() == "projected with m: $2.58 per 1,000 questions, 0.90 s a reply"


def test_what_is_not_known_is_not_projected() -> None:
    found = project([1000], 20, "new-model-9", None)
    assert (found.usd_per_1k, found.seconds) == (None, None)
    assert found.show() == "projected with new-model-9: unknown per 1,000 questions, unknown a reply"
    empty = project([], 20, "m", PRICE, DELAY)
    assert (empty.usd_per_1k, empty.seconds, empty.questions) == (None, None, 0)
    with pytest.raises(ValueError, match="2 contexts but 1 answers"):
        project([1, 2], [1], "m", PRICE)
    with pytest.raises(ValueError, match="greater than 0"):
        DelayModel(time_to_first_token_s=0, tokens_per_second=0)


def test_a_plan_is_priced_as_a_range() -> None:
    found = price_range([1000, 2000, 3000], 500, PRICE)
    assert found.low == pytest.approx((6000 + 3 * 4) / 1e6)
    assert found.high == pytest.approx((6000 + 1500 * 4) / 1e6)
    assert (found.calls, found.prompt_tokens) == (3, 6000)
    assert found.show() == "$0.0060–$0.0120"
    assert (found + found).high == pytest.approx(2 * 0.012)


def test_an_unknown_part_makes_the_range_unknown() -> None:
    unknown = price_range([10], 5, None)
    assert unknown.show() == "unknown"
    both = unknown + price_range([10], 5, PRICE)
    assert (both.low, both.high, both.prompt_tokens, both.calls) == (None, None, 20, 2)
    nothing = price_range([], 5, PRICE)
    assert (nothing.low, nothing.high) == (0.0, 0.0)


def test_prompts_are_counted_as_plain_text_in_any_language() -> None:
    assert count_prompt([{"role": "user", "content": "the docs say <|endoftext|> ends it <|im_start|>"}]) > 4 + 7
    chinese = count_prompt([{"role": "user", "content": "我们明天下午三点在图书馆门口见面"}]) - 7
    assert chinese >= 8
    assert count_prompt([{"role": "user", "content": ""}, {"role": "assistant", "content": "\ud800"}]) > 11
