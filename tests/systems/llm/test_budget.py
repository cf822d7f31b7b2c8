from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.budget import (
    Budget,
    BudgetReached,
    Reservation,
    require_prices,
    worst_prompt_tokens,
)
from memtrial.systems.models.llm.prices import Price
from memtrial.systems.models.tokens import count_tokens

DOLLAR = Price(prompt=1e6, completion=1e6)  # a dollar a token, so that tests can speak in dollars


def test_reserve_and_settle() -> None:
    budget = Budget(10, spent=2)
    held = budget.try_reserve(3, 2, DOLLAR)
    assert (held.usd, budget.spent_usd, budget.reserved_usd) == (5, 2, 5)
    budget.settle(held, 1.5)
    assert (budget.spent_usd, budget.reserved_usd) == (3.5, 0)
    budget.settle(held, 99)
    budget.release(held)
    assert budget.spent_usd == 3.5


def test_what_nobody_knows_counts_as_the_worst_case_and_what_was_not_sent_as_nothing() -> None:
    budget = Budget(10)
    budget.settle(budget.try_reserve(3, 2, DOLLAR), None)
    assert budget.spent_usd == 5
    budget.release(budget.try_reserve(3, 2, DOLLAR))
    assert budget.spent_usd == 5


def test_calls_under_way_are_counted() -> None:
    budget = Budget(10)
    first = budget.try_reserve(6, 0, DOLLAR)
    with pytest.raises(BudgetReached) as caught:
        budget.try_reserve(5, 0, DOLLAR)
    assert "budget of $10.00" in str(caught.value) and "up to $5.00 with $4.00 left" in str(caught.value)
    assert not budget.reached  # the first may leave enough
    budget.settle(first, 1)
    budget.try_reserve(5, 0, DOLLAR)


def test_once_a_call_is_refused_with_nothing_under_way_all_are() -> None:
    budget = Budget(10, spent=8)
    with pytest.raises(BudgetReached):
        budget.try_reserve(3, 0, DOLLAR)
    assert budget.reached
    with pytest.raises(BudgetReached):
        budget.try_reserve(1, 0, DOLLAR)
    budget.release(budget.try_reserve(1000, 1000, Price(prompt=0, completion=0)))


def test_the_cap_itself_may_be_spent() -> None:
    budget = Budget(0.3)
    for _ in range(3):
        budget.settle(budget.try_reserve(1, 0, Price(prompt=1e5, completion=0)), 0.1)
    assert budget.spent_usd == pytest.approx(0.3)
    with pytest.raises(BudgetReached):
        Budget(0).try_reserve(1, 0, DOLLAR)


@pytest.mark.parametrize("limit", [-1.0, float("nan"), float("inf")])
def test_a_cap_is_a_number(limit: float) -> None:
    with pytest.raises(UserError, match="a budget must be a number"):
        Budget(limit)


def test_a_call_waits_for_what_others_leave_over_and_is_served_in_turn() -> None:
    async def go() -> list[str]:
        budget, order = Budget(10), []
        first = await budget.reserve(9, 0, DOLLAR)

        async def ask(name: str, dollars: int) -> None:
            held = await budget.reserve(dollars, 0, DOLLAR)
            order.append(name)
            await asyncio.sleep(0)
            budget.settle(held, 1)

        tasks = [asyncio.create_task(ask(name, dollars)) for name, dollars in (("a", 8), ("b", 2), ("c", 1))]
        await asyncio.sleep(0)
        assert order == []  # b and c would fit, but a came first
        budget.settle(first, 1)
        await asyncio.gather(*tasks)
        assert budget.spent_usd == 4 and not budget.reached
        return order

    assert asyncio.run(go()) == ["a", "b", "c"]


def test_those_who_wait_are_refused_when_nothing_more_can_come_free() -> None:
    async def go() -> None:
        budget = Budget(10)
        first = await budget.reserve(9, 0, DOLLAR)
        waiting = [asyncio.create_task(budget.reserve(5, 0, DOLLAR)) for _ in range(3)]
        await asyncio.sleep(0)
        budget.settle(first, 8)
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(one) for one in found] == [BudgetReached] * 3
        assert budget.reached and budget.spent_usd == 8 and budget.reserved_usd == 0

    asyncio.run(go())


@pytest.mark.parametrize("when", ["waiting", "granted"])
def test_a_cancelled_call_gives_back_what_it_held(when: str) -> None:
    async def go() -> None:
        budget = Budget(10)
        first = await budget.reserve(9, 0, DOLLAR)
        cancelled = asyncio.create_task(budget.reserve(9, 0, DOLLAR))
        behind = asyncio.create_task(budget.reserve(2, 0, DOLLAR))
        await asyncio.sleep(0)
        if when == "waiting":
            cancelled.cancel()
            await asyncio.sleep(0)
            budget.settle(first, 1)
        else:
            budget.settle(first, 1)
            cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        budget.settle(await behind, 1)
        assert (budget.spent_usd, budget.reserved_usd) == (2, 0)

    asyncio.run(go())


@settings(deadline=None)
@given(
    limit=st.floats(0, 1e4),
    calls=st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 500), st.floats(0, 1), st.booleans()), max_size=40),
    price=st.builds(Price, prompt=st.floats(0, 1e6), completion=st.floats(0, 1e6)),
    seed=st.integers(0, 99),
)
def test_never_exceeded_in_whatever_order_calls_begin_and_end(
    limit: float, calls: list[tuple[int, int, float, bool]], price: Price, seed: int
) -> None:
    draw = random.Random(seed)
    budget = Budget(limit)
    open_: list[tuple[Reservation, float | None]] = []
    paid = 0.0
    for prompt, tokens, share, known in calls:
        while open_ and draw.random() < 0.5:
            held, usd = open_.pop(draw.randrange(len(open_)))
            budget.settle(held, usd)
        try:
            held = budget.try_reserve(prompt, tokens, price)
        except BudgetReached:
            continue
        usd = held.usd * share
        paid += usd
        open_.append((held, usd if known else None))
        assert budget.spent_usd + budget.reserved_usd <= limit + 1e-9
    for held, usd in open_:
        budget.settle(held, usd)
    assert budget.reserved_usd == 0
    assert paid <= budget.spent_usd + 1e-6 and budget.spent_usd <= limit + 1e-9


@settings(deadline=None)
@given(
    limit=st.integers(0, 60),
    calls=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25),
)
def test_concurrent_tasks_all_end_and_never_pass_the_cap(limit: int, calls: list[tuple[int, int, int]]) -> None:
    async def go() -> None:
        budget = Budget(limit)

        async def ask(worst: int, before: int, during: int) -> bool:
            for _ in range(before):
                await asyncio.sleep(0)
            try:
                held = await budget.reserve(worst, 0, DOLLAR)
            except BudgetReached:
                return False
            assert budget.spent_usd + budget.reserved_usd <= limit
            for _ in range(during):
                await asyncio.sleep(0)
            budget.settle(held, worst / 2)
            return True

        tasks = [asyncio.create_task(ask(*call)) for call in calls]
        done = await asyncio.wait_for(asyncio.gather(*tasks), timeout=30)
        assert budget.reserved_usd == 0 and budget.spent_usd <= limit
        assert budget.reached or all(done)

    asyncio.run(go())


def test_threads_do_not_pass_the_cap() -> None:
    budget = Budget(100)

    def ask(_: int) -> float:
        try:
            held = budget.try_reserve(3, 0, DOLLAR)
        except BudgetReached:
            return 0.0
        budget.settle(held, 2)
        return 2.0

    with ThreadPoolExecutor(8) as pool:
        paid = sum(pool.map(ask, range(500)))
    assert paid == budget.spent_usd <= 100


def test_a_budget_without_a_price_is_refused_at_the_start() -> None:
    require_prices(5, {"gpt-4o": DOLLAR})
    with pytest.raises(UserError) as caught:
        require_prices(5, {"gpt-4o": DOLLAR, "new-model-9": None, "local": None})
    message = str(caught.value)
    assert "'local', 'new-model-9'" in message and "gpt-4o" not in message and "\n" not in message


@settings(deadline=None)
@given(st.text(max_size=200))
def test_the_worst_case_is_above_any_count(text: str) -> None:
    assert worst_prompt_tokens([{"role": "user", "content": text}]) > count_tokens(text)
