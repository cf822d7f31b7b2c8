from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtrial.systems.models.times import TimeExpression, find_times
from memtrial.systems.models.times.holidays import easter, nth_weekday
from tests.systems.models.times.cases import CHINESE, ELSEWHERE, ENGLISH, NONE, rows

ASKED = datetime(2024, 5, 17, 10, 30, tzinfo=UTC)


def moment(text: str, *, last: bool = False) -> datetime:
    if len(text) > 10:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    return datetime.fromisoformat(text).replace(tzinfo=UTC) + timedelta(days=last)


def check(text: str, asked: datetime, words: str, start: str, end: str, mark: str) -> None:
    found = find_times(text, asked)
    wanted = [e for e in found if e.text == words]
    assert wanted, f"{words!r} is not among {[e.text for e in found]}"
    one = wanted[0]
    assert (one.start, one.end) == (moment(start), moment(end, last=True))
    assert one.certain == (mark == "")
    assert (one.kind == "vague") == (mark == "~")
    assert text[slice(*one.span)] == words


@pytest.mark.parametrize("row", rows(ENGLISH), ids=lambda row: row[0])
def test_english(row: list[str]) -> None:
    check(row[0], ASKED, *row[1:])


@pytest.mark.parametrize("row", rows(CHINESE), ids=lambda row: row[0])
def test_chinese(row: list[str]) -> None:
    check(row[0], ASKED, *row[1:])


@pytest.mark.parametrize("row", rows(ELSEWHERE), ids=lambda row: f"{row[0]} {row[1]}")
def test_asked_on_other_days(row: list[str]) -> None:
    check(row[1], moment(row[0]), *row[2:])


@pytest.mark.parametrize("text", NONE)
def test_what_only_looks_like_a_time(text: str) -> None:
    assert find_times(text, ASKED) == []


def test_two_expressions_come_in_order_and_apart() -> None:
    found = find_times("Did she write on 3 May or last week?", ASKED)
    assert [e.text for e in found] == ["3 May", "last week"]
    assert find_times("上周说的和昨天说的", ASKED)[1].text == "昨天"


def test_times_are_those_of_the_zone_of_asking() -> None:
    shanghai = timezone(timedelta(hours=8))
    asked = datetime(2024, 5, 17, 1, 0, tzinfo=shanghai)
    (found,) = find_times("昨天", asked)
    assert found.start == datetime(2024, 5, 15, 16, 0, tzinfo=UTC)
    assert found.start.utcoffset() == timedelta(hours=8)
    zone = ZoneInfo("Europe/Berlin")
    (day,) = find_times("yesterday", datetime(2024, 4, 1, 12, 0, tzinfo=zone))
    assert day.end.astimezone(UTC) - day.start.astimezone(UTC) == timedelta(hours=23)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        find_times("yesterday", datetime(2024, 5, 17))


def test_a_hint_of_chinese_makes_figures_a_date() -> None:
    assert [e.start.date() for e in find_times("3/5", ASKED, "zh")] == [date(2024, 3, 5)]
    assert find_times("3/5 of it", ASKED, "en") == []


@pytest.mark.parametrize(
    ("year", "month", "day"), [(2024, 3, 31), (2025, 4, 20), (2023, 4, 9), (2000, 4, 23), (1961, 4, 2)]
)
def test_easter(year: int, month: int, day: int) -> None:
    assert easter(year) == date(year, month, day)


def test_weekdays_of_months() -> None:
    assert nth_weekday(2023, 11, 3, 4) == date(2023, 11, 23)
    assert nth_weekday(2024, 5, 0, -1) == date(2024, 5, 27)
    assert nth_weekday(2024, 12, 1, -1) == date(2024, 12, 31)


_WORDS = """last next this the week month year day Wednesday Monday weekend before after since until between and to from of in on at by
    3 5 31 2024 15:30 3pm May March 29 February Christmas spring Q3 ago two couple few days weeks hours years end mid- early late second half
    99999 centuries 0 一 三 上 下 个 周 月 年 天 号 日 前 后 大 半 国庆 春节 去年 上周三 下午 5月3号 到 之间 以来 最近 几 旬 中 底 初 第 那 的 两 十 点"""
WORDS = st.sampled_from(_WORDS.split())
ASKING = st.one_of(
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),
    st.datetimes(datetime(2023, 1, 1), datetime(2025, 1, 1), timezones=st.just(UTC)),
)


def sound(text: str, asked: datetime, found: list[TimeExpression]) -> None:
    last = 0
    for one in found:
        a, b = one.span
        assert last <= a < b <= len(text)
        assert text[a:b] == one.text
        assert one.start < one.end
        assert one.start.tzinfo is not None and one.end.tzinfo is not None
        # nothing takes in all that was ever said
        assert not (one.open_start and one.end > asked)
        if one.kind == "vague":
            assert not one.certain and not one.open_start
        last = b


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=9), st.sampled_from(["", " "]), ASKING)
@example(["from", "Monday", "to", "Wednesday"], " ", datetime(1, 1, 1, tzinfo=UTC))
@example(["5", "years", "ago"], " ", datetime(3, 1, 1, tzinfo=UTC))
def test_no_words_in_any_order_crash(words: list[str], glue: str, asked: datetime) -> None:
    text = glue.join(words)
    sound(text, asked, find_times(text, asked))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), ASKING)
def test_no_text_crashes(text: str, asked: datetime) -> None:
    sound(text, asked, find_times(text, asked))


def test_alternatives_are_both_found() -> None:
    assert [e.text for e in find_times("What did she say in May or June 2023?", ASKED)] == ["May", "June 2023"]
    assert [e.text for e in find_times("Was it in March or April?", ASKED)] == ["March", "April"]
    assert [e.text for e in find_times("Was it in 2022 or 2023?", ASKED)] == ["2022", "2023"]
