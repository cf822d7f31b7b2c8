"""Golden values worked out by hand; the anchor is Wednesday, 6 March 2024."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.models.reader.values import extract_names, extract_values
from memtrial.systems.models.reader.values_numbers import parse_chinese, parse_english

ANCHOR = datetime(2024, 3, 6, 9, 0)

DATES = [
    ("It ships on 2024-03-05.", "2024-03-05"),
    ("发货日期2024/3/5", "2024-03-05"),
    ("We met on 25/12/2023", "2023-12-25"),
    ("due 03/15/2024", "2024-03-15"),
    ("delivered 5 March 2024", "2024-03-05"),
    ("on the 5th of March", "2024-03-05"),
    ("March 5th, 2023 was a Sunday", "2023-03-05"),
    ("by Dec 30", "2023-12-30"),
    ("since June 2022", "2022-06"),
    ("I moved in 2019", "2019"),
    ("happened yesterday", "2024-03-05"),
    ("see you tomorrow", "2024-03-07"),
    ("the day before yesterday", "2024-03-04"),
    ("the day after tomorrow", "2024-03-08"),
    ("I saw him last Friday", "2024-03-01"),
    ("next Tuesday works", "2024-03-12"),
    ("It comes on Friday", "2024-03-08"),
    ("I got it on Friday", "2024-03-01"),
    ("moved from Thursday", "2024-03-07"),
    ("two weeks ago", "2024-02-21"),
    ("3 days ago", "2024-03-03"),
    ("arrives in 3 days", "2024-03-09"),
    ("last month", "2024-02"),
    ("last year", "2023"),
    ("last week", "2024-W09"),
    ("next weekend", "2024-W11-end"),
    ("five months ago", "2023-10"),
    ("2024年3月5日签收", "2024-03-05"),
    ("3月8号到", "2024-03-08"),
    ("三月二十号", "2024-03-20"),
    ("12月30日", "2023-12-30"),
    ("2023年11月", "2023-11"),
    ("昨天收到", "2024-03-05"),
    ("大后天来", "2024-03-09"),
    ("前天寄的", "2024-03-04"),
    ("上周五收到了", "2024-03-01"),
    ("下周三上门", "2024-03-13"),
    ("这周日有空", "2024-03-10"),
    ("周五能到", "2024-03-08"),
    ("三天前", "2024-03-03"),
    ("两周后", "2024-03-20"),
    ("上个月", "2024-02"),
    ("去年", "2023"),
    ("14号上门", "2024-03-14"),
    ("make that the 14th", "2024-03-14"),
    ("下个月3号", "2024-04-03"),
]

OTHERS = [
    ("it was $1,299.50 in all", "money", "1299.5 USD"),
    ("US$40 back", "money", "40 USD"),
    ("forty dollars", "money", "40 USD"),
    ("€30.20", "money", "30.2 EUR"),
    ("12.5 GBP", "money", "12.5 GBP"),
    ("合计¥199", "money", "199 CNY"),
    ("退了199.9元", "money", "199.9 CNY"),
    ("三百五十块", "money", "350 CNY"),
    ("十五块五", "money", "15.5 CNY"),
    ("3万元", "money", "30000 CNY"),
    ("I'd guess 2k USD", "money", "2000 USD"),
    ("15% off", "percent", "15%"),
    ("百分之二十", "percent", "20%"),
    ("twelve percent", "percent", "12%"),
    ("at 3:30 pm", "time", "15:30"),
    ("around 9am", "time", "09:00"),
    ("at half past three", "time", "03:30"),
    ("at quarter to six", "time", "05:45"),
    ("at noon", "time", "12:00"),
    ("下午3点半", "time", "15:30"),
    ("晚上八点", "time", "20:00"),
    ("十点一刻开会", "time", "10:15"),
    ("15:20到", "time", "15:20"),
    ("lasts two years", "duration", "2 year"),
    ("takes 3-5 business days", "duration", "3-5 workday"),
    ("half an hour", "duration", "0.5 hour"),
    ("an hour and a half", "duration", "1.5 hour"),
    ("30 days for returns", "duration", "30 day"),
    ("保修两年", "duration", "2 year"),
    ("7个工作日内退款", "duration", "7 workday"),
    ("一个半小时", "duration", "1.5 hour"),
    ("签收后30天内", "duration", "30 day"),
    ("半年", "duration", "0.5 year"),
    ("arrives in 3 days", "duration", "3 day"),
    ("we need 12 boxes", "number", "12"),
    ("two hundred and five units", "number", "205"),
    ("库存35", "number", "35"),
    ("买了三台", "number", "3"),
    ("电池4000毫安时", "number", "4000"),
    ("order SO-20391 please", "id", "so-20391"),
    ("订单SO20391到哪了", "id", "so20391"),
    ("ticket #4821", "id", "4821"),
    ("serial 7XK2-99A1", "id", "7xk2-99a1"),
    ("tracking 123456789012", "id", "123456789012"),
    ("write to returns@acme-shop.com.", "email", "returns@acme-shop.com"),
    ("see https://acme.example/faq.", "url", "https://acme.example/faq"),
    ("手机13812345678联系", "phone", "13812345678"),
    ("call +44 2079 460958", "phone", "+442079460958"),
]

NAMES = [
    ("I talked to Ms. Chen about it", "person", "Ms. Chen"),
    ("Thanks, Caroline Baker", "person", "Caroline Baker"),
    ("这事找王经理", "person", "王经理"),
    ("上周五陈经理来过", "person", "陈经理"),
    ("王小明说可以", "person", "王小明"),
    ("I live in New York now", "place", "New York"),
    ("ship it to 12 Elm Street, Leeds please", "place", "12 Elm Street, Leeds"),
    ("寄到杭州市西湖区文三路478号3楼", "place", "杭州市西湖区文三路478号3楼"),
    ('the film is called "Blue Tide"', "quoted", "Blue Tide"),
    ("在读《三体》", "quoted", "三体"),
]


@pytest.mark.parametrize(("text", "norm"), DATES)
def test_dates(text: str, norm: str) -> None:
    assert norm in [v.norm for v in extract_values(text, ANCHOR, "en") if v.kind == "date"]


@pytest.mark.parametrize(("text", "kind", "norm"), OTHERS)
def test_other_values(text: str, kind: str, norm: str) -> None:
    assert (kind, norm) in [(v.kind, v.norm) for v in extract_values(text, ANCHOR, "en")]


@pytest.mark.parametrize(("text", "kind", "say"), NAMES)
def test_names(text: str, kind: str, say: str) -> None:
    assert (kind, say) in [(v.kind, v.say) for v in extract_names(text)]


@pytest.mark.parametrize(
    ("text", "language", "say"),
    [
        ("yesterday", "en", "5 March 2024"),
        ("昨天", "zh", "2024年3月5日"),
        ("last month", "en", "February 2024"),
        ("上个月", "zh", "2024年2月"),
        ("last week", "en", "the week of 26 February 2024"),
    ],
)
def test_relative_dates_are_said_resolved(text: str, language: str, say: str) -> None:
    assert [v.say for v in extract_values(text, ANCHOR, language)] == [say]


def test_without_an_anchor_a_relative_date_stays_as_written() -> None:
    assert [v.say for v in extract_values("it came yesterday", None, "en")] == ["yesterday"]


@pytest.mark.parametrize(
    "text", ["the may flower", "no. of items", "一起去吧", "30 February", "第一次", "sun and moon", "Mark said so"]
)
def test_no_date_where_there_is_none(text: str) -> None:
    assert not [v for v in extract_values(text, ANCHOR, "en") if v.kind == "date"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("三百零五", 305),
        ("三百五", 350),
        ("二〇二四", 2024),
        ("一万二", 12000),
        ("十二", 12),
        ("两千零八", 2008),
        ("一亿", 10**8),
    ],
)
def test_chinese_numerals(text: str, number: int) -> None:
    assert parse_chinese(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("forty-two", 42),
        ("two hundred and five", 205),
        ("three thousand one hundred", 3100),
        ("twelve", 12),
        ("cat", None),
    ],
)
def test_english_number_words(text: str, number: int | None) -> None:
    assert parse_english(text) == number


@given(st.text(max_size=200))
def test_spans_lie_inside_any_text(text: str) -> None:
    for value in (*extract_values(text, ANCHOR, "en"), *extract_names(text)):
        assert 0 <= value.start < value.end <= len(text)
        assert value.say


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), st.integers(-100, 100))
def test_written_dates_are_read_back(anchor: date, offset: int) -> None:
    day = anchor + timedelta(days=offset)
    when = datetime(anchor.year, anchor.month, anchor.day)
    for text in (
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day:%B} {day.day}",
    ):
        assert [v.norm for v in extract_values(text, when, "en")] == [day.isoformat()]
