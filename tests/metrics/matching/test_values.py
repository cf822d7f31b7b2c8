from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtrial.metrics.matching.numerals import en_number, zh_number
from memtrial.metrics.matching.text import clauses, normalise, overlap_f1, sentences
from memtrial.metrics.matching.values import extract
from memtrial.metrics.matching.when import When, compatible, covers, resolve

ASKED = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("三百二", 320), ("三百零二", 302), ("一千二", 1200), ("一万五", 15000), ("十", 10), ("十五", 15), ("二十", 20), ("一百一十", 110), ("两千零五十", 2050),
        ("二〇二五", 2025), ("三点五", 3.5), ("九十四万五", 945000), ("一亿二", 120_000_000), ("一万零三", 10003), ("五", 5),
    ],
)  # fmt: skip
def test_chinese_numerals(text: str, number: float) -> None:
    assert zh_number(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["十百", "点", "百二百", "", "abc"])
def test_characters_that_make_no_numeral(text: str) -> None:
    assert zh_number(text) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twenty-one", 21), ("one hundred and five", 105), ("twelve hundred", 1200), ("two thousand three hundred", 2300), ("a dozen", 12),
        ("two point five", 2.5), ("three million", 3_000_000), ("ninety", 90),
    ],
)  # fmt: skip
def test_english_numerals(text: str, number: float) -> None:
    assert en_number(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["two three", "twenty twelve", "cat"])
def test_words_that_make_no_numeral(text: str) -> None:
    assert en_number(text) is None


def only(text: str) -> tuple[str, float]:
    values = extract(normalise(text).low)
    assert len(values) == 1
    return values[0].family, values[0].amount


@pytest.mark.parametrize(
    ("text", "family", "amount"),
    [
        ("1,299元", "money:CNY", 1299), ("1299 块", "money:CNY", 1299), ("三块五", "money:CNY", 3.5), ("¥1２", "money:CNY", 12), ("12.4 grand", "", 12400),
        ("€12,950", "money:EUR", 12950), ("1.299,50 €", "money:EUR", 1299.5), ("US$5m", "money:USD", 5_000_000), ("HK$80", "money:HKD", 80),
        ("48小时", "seconds", 172800), ("两天", "seconds", 172800), ("a fortnight", "seconds", 1209600), ("15 weeks and 2 days", "seconds", 9244800),
        ("半年", "months", 6), ("一年半", "months", 18), ("两个半月", "months", 2.5), ("a year and a half", "months", 18), ("half an hour", "seconds", 1800),
        ("一个半小时", "seconds", 5400), ("万分之三", "percent", 0.03), ("三成", "percent", 30), ("百分之三点八五", "percent", 3.85), ("5 working days", "workdays", 5),
        ("70公斤", "grams", 70000), ("140斤", "grams", 70000), ("78℃", "celsius", 78), ("三斤半", "grams", 1750), ("二点八元", "money:CNY", 2.8),
    ],
)  # fmt: skip
def test_amounts_in_their_base_unit(text: str, family: str, amount: float) -> None:
    found = only(text)
    assert found[0] == family
    assert found[1] == pytest.approx(amount)


@pytest.mark.parametrize(
    "text",
    [
        "half marathon",
        "统一安排",
        "一起去",
        "第一批",
        "一下",
        "the one in the middle",
        "周末愉快吗".replace("周末", ""),
    ],
)
def test_words_that_look_like_numbers_are_none(text: str) -> None:
    assert extract(normalise(text).low) == ()


def when(text: str) -> When:
    values = extract(normalise(text).low)
    assert len(values) == 1
    assert values[0].when is not None
    return resolve(values[0].when, ASKED)


@pytest.mark.parametrize(
    ("text", "year", "month", "day", "minutes"),
    [
        ("Thursday 16 May 2024, 16:45", 2024, 5, 16, 1005), ("2024-05-16T16:45", 2024, 5, 16, 1005), ("周四（5月16日）下午四点三刻", None, 5, 16, 1005),
        ("the third of November", None, 11, 3, None), ("二〇二四年十一月三日", 2024, 11, 3, None), ("tomorrow at 4.45pm", 2024, 5, 16, 1005), ("下周四", 2024, 5, 23, None),
        ("后天晚上八点", 2024, 5, 17, 1200), ("the Sunday before 25 May 2023", 2023, 5, 21, None), ("the day after 31 May 2024", 2024, 6, 1, None),
        ("2024年2月30日", 2024, 2, 30, None),
    ],
)  # fmt: skip
def test_points_in_time(text: str, year: int | None, month: int, day: int, minutes: int | None) -> None:
    found = when(text)
    assert (found.y, found.m, found.d, found.t) == (year, month, day, minutes)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("half six", 330 + 60), ("quarter to five", 285), ("ten past noon", 730), ("noon", 720), ("凌晨两点", 120), ("中午12点10分", 730), ("12 am", 0), ("12 pm", 720),
        ("6 in the evening", 1080),
    ],
)  # fmt: skip
def test_times_of_day(text: str, minutes: int) -> None:
    assert when(text).t == minutes


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Thursday 16:45", "16 May 2024 16:45", True), ("Friday 16:45", "16 May 2024 16:45", False), ("4:45", "16:45", True), ("04:45", "16:45", False),
        ("周二下午", "周二上午", False), ("周二下午", "周二15:00", True), ("03:00 UTC", "05:00 CEST", True), ("03:00 UTC", "03:00 CEST", False), ("4月底", "4月28日", True),
        ("4月底", "4月8日", False), ("11/3/2024", "3 November 2024", True), ("11/3/2024", "11 March 2024", True), ("2 June 2023", "the week before 9 June 2023", True),
        ("9 June 2023", "the week before 9 June 2023", False),
    ],
)  # fmt: skip
def test_what_two_mentions_both_state_must_agree(one: str, other: str, same: bool) -> None:
    assert compatible(when(one), when(other)) is same
    assert compatible(when(other), when(one)) is same


def test_a_date_is_as_precise_as_a_weekday_but_not_the_other_way_round() -> None:
    assert covers(when("16 May 2024"), when("Thursday"), ASKED)
    assert not covers(when("Thursday"), when("16 May 2024"), ASKED)
    assert not covers(when("16 May 2024"), when("16 May 16:45"), ASKED)


def test_ends_of_a_range_are_marked_and_terms_of_a_sum_are_not() -> None:
    assert [v.ranged for v in extract("3-5天")] == [True, True]
    assert [v.ranged for v in extract("between 5 and 10 kg")] == [True, True]
    assert [v.ranged for v in extract("it rose from 25 to 31")] == [False, False]
    assert [v.ranged for v in extract("97-2.5=94.5")] == [False, False, False]


def test_chinese_sentences_are_counted_at_their_own_stops() -> None:
    assert sentences("我住在杭州。下个月搬去成都！你呢？") == ["我住在杭州", "下个月搬去成都", "你呢"]
    assert sentences("no stop at all") == ["no stop at all"]


def test_a_comma_inside_a_number_cuts_no_clause() -> None:
    low = normalise("€12,950, not €14,800").low
    spans = clauses(low, [(v.start, v.end) for v in extract(low)])
    assert [low[s:e].strip() for s, e in spans] == ["€12,950", "not €14,800"]


def test_overlap_counts_chinese_by_characters_and_equals_are_equal() -> None:
    assert overlap_f1("我住在杭州", "住在杭州") == pytest.approx(8 / 9)
    assert overlap_f1("The The", "The The") == 1.0
    assert overlap_f1("a", "b") == 0.0
    assert overlap_f1("", "x") == 0.0


@pytest.mark.parametrize("ident", ["jd-16", "jd-18"])
def test_overlap_of_words_in_cases_that_others_met(ident: str, shared_dir: Path) -> None:
    lines = (shared_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    case = next(case for case in map(json.loads, lines) if case["id"] == ident)
    found = overlap_f1(case["input"]["gold"], case["input"]["pred"])
    assert found == pytest.approx(case["expected"]["checks"]["f1"], abs=5e-5)
