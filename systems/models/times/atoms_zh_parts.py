"""Chinese words for a place inside a larger unit, and for a time that nobody could name exactly."""

from __future__ import annotations

import re
from datetime import timedelta

from memtrial.systems.models.times.atoms import Made, Moment, Rules, fixed, number, placed
from memtrial.systems.models.times.atoms_common import clock, part_of_day, quarter_of, some_days
from memtrial.systems.models.times.atoms_zh import WEEKDAY, weekday_of
from memtrial.systems.models.times.holidays import CHINESE as HOLIDAYS
from memtrial.systems.models.times.spans import Stretch, months, nth, portion, season

CHINESE_PARTS = Rules()

_NAMED = [(re.compile(pattern), rule) for pattern, rule in HOLIDAYS.items()]
_SEASONS = "春夏秋冬"


@CHINESE_PARTS("|".join(sorted(HOLIDAYS, key=len, reverse=True)))
def _holiday(m: re.Match[str], moment: Moment) -> Made:
    digits = "0123456789零〇一二三四五六七八九十百千万第"
    if m.start() and m.string[m.start() - 1] in digits and m.group()[0] in digits:
        return None  # 二五一 is a number
    for pattern, rule in _NAMED:
        if pattern.fullmatch(m.string, m.start(), m.end()):
            return placed(m, "year", lambda year, rule=rule: rule(year.lo.year))  # type: ignore[misc]
    return None


@CHINESE_PARTS(r"(?P<s>[春夏秋冬])(?:天|季|日)")
@CHINESE_PARTS(r"(?<=年)(?P<s>[春夏秋冬])(?!节)")
def _season(m: re.Match[str], moment: Moment) -> Made:
    which = _SEASONS.index(m["s"])
    return placed(m, "year", lambda year: season(year.lo.year, which), certain=False)


@CHINESE_PARTS("(?P<w>暑|寒)假(?:期间|里)?")
def _school_holiday(m: re.Match[str], moment: Moment) -> Made:
    first = 7 if m["w"] == "暑" else 1
    return placed(m, "year", lambda year: months(year.lo.date().replace(month=first), 2, "span"), certain=False)


@CHINESE_PARTS("第?(?P<q>[一二三四1-4])季度")
def _quarter(m: re.Match[str], moment: Moment) -> Made:
    q = number(m["q"])
    return placed(m, "year", lambda year: quarter_of(year, q)) if q else None


@CHINESE_PARTS("(?P<h>上|下)半年")
def _half_year(m: re.Match[str], moment: Moment) -> Made:
    which = "first_half" if m["h"] == "上" else "second_half"
    return placed(m, "year", lambda year: portion(year, which))


@CHINESE_PARTS("(?P<t>上|中|下)旬")
def _ten_days(m: re.Match[str], moment: Moment) -> Made:
    which = {"上": "early", "中": "mid", "下": "late"}[m["t"]]
    return placed(m, "month", lambda month: portion(month, which))


_HALF = {"上": "first_half", "前": "first_half", "下": "second_half", "后": "second_half"}


@CHINESE_PARTS("(?P<t>上|前|下|后)半(?:个)?月")
def _half_month(m: re.Match[str], moment: Moment) -> Made:
    return placed(m, "month", lambda month: portion(month, _HALF[m["t"]]))


PORTION_OF = {"初": "early", "头": "early", "中": "mid", "底": "late", "末": "late", "尾": "late"}


@CHINESE_PARTS(
    "(?<![\\d一二三四五六七八九十上下这本个份前去今明后])(?P<u>月|年|周)(?P<p>初(?!一)|中(?![国的间])|底|末)"
)
def _portion(m: re.Match[str], moment: Moment) -> Made:
    if m.group() == "周末":
        return None
    needs = {"月": "month", "年": "year", "周": "week"}[m["u"]]
    which = PORTION_OF[m["p"]]
    return placed(m, needs, lambda unit: portion(unit, which), certain=False)


@CHINESE_PARTS(
    f"(?:第(?P<n>[一二三四五12345])|(?P<last>最后一))(?:个)?(?P<u>周末|(?:周|星期|礼拜)(?P<d>{WEEKDAY})?|天)"
)
def _nth(m: re.Match[str], moment: Moment) -> Made:
    which = -1 if m["last"] else number(m["n"])
    if not which:
        return None
    unit = str(weekday_of(m["d"])) if m["d"] else {"周末": "weekend", "天": "day"}.get(m["u"], "week")
    return placed(m, "month", lambda month: nth(month, which, unit), certain=unit != "week", weak=True)


_PARTS = {"凌晨": (0, 6), "清晨": (4, 9), "清早": (4, 9), "一早": (5, 10), "早晨": (5, 12), "早上": (5, 12), "上午": (6, 12), "中午": (11, 14),
          "正午": (11, 14), "午后": (12, 18), "下午": (12, 18), "傍晚": (17, 20), "晚上": (18, 24), "晚间": (18, 24), "夜里": (18, 30), "夜间": (18, 30),
          "深夜": (22, 30), "半夜": (22, 30)}  # fmt: skip
_PART = "|".join(_PARTS)


@CHINESE_PARTS(rf"(?:{_PART})(?!好)")
def _part_of_day(m: re.Match[str], moment: Moment) -> Made:
    return part_of_day(m, *_PARTS[m.group()])


@CHINESE_PARTS(r"(?:早|晚)(?![上点饭会就已日先安年期])")
def _short_part_of_day(m: re.Match[str], moment: Moment) -> Made:
    return part_of_day(m, *((5, 12) if m.group() == "早" else (18, 24)))


@CHINESE_PARTS(
    rf"(?P<p>{_PART}|早|晚)?(?<![\d.])(?P<h>\d{{1,2}}|十[一二]?|二十[一二三]?|[一二两三四五六七八九])(?:点(?!儿|击|名|[一些]?[下些])|时(?!候|间))(?:钟|整)?(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<m>[0-5]?\d|[一二三四五]?十[一二三四五六七八九]?|零[一二三四五六七八九])分?)?(?!\d)(?:多|左右)?"
)
@CHINESE_PARTS(rf"(?P<p>{_PART}|早|晚)(?<![\d.])(?P<h>[01]?\d|2[0-3])[:：](?P<m>[0-5]\d)(?P<half>)(?P<quarter>)(?!\d)")
def _clock(m: re.Match[str], moment: Moment) -> Made:
    hour = number(m["h"])
    if hour is None:
        return None
    part = m["p"] or ""
    first = {"早": 5, "晚": 18}.get(part, _PARTS.get(part, (0, 0))[0])
    if part and hour < 12 and first >= 11 and not (first == 11 and hour == 11) and part not in ("深夜", "半夜"):
        hour += 12
    elif part in ("深夜", "半夜", "夜里") and hour < 6:
        hour += 24 if not part else 0
    minute = (
        30 if m["half"] else {"一": 15, "三": 45}[m["quarter"]] if m["quarter"] else number(m["m"]) if m["m"] else None
    )
    return clock(m, hour, minute)


_VAGUE = {"最近": (30, 0), "近来": (30, 0), "近期": (30, 0), "这阵子": (30, 0), "这段时间": (30, 0), "前几天": (7, 1), "前些天": (14, 1), "前些日子": (30, 2),
          "前阵子": (90, 7), "前一阵子": (90, 7), "前段时间": (90, 7), "前一段时间": (90, 7), "不久前": (30, 1), "不久之前": (30, 1), "早些时候": (14, 0),
          "这几天": (7, 0), "前不久": (30, 1), "很久以前": (3650, 180), "好久以前": (3650, 180)}  # fmt: skip


@CHINESE_PARTS("|".join(sorted(_VAGUE, key=len, reverse=True)))
def _vague(m: re.Match[str], moment: Moment) -> Made:
    return some_days(m, moment, *_VAGUE[m.group()])


@CHINESE_PARTS("刚才|刚刚|方才")
def _just_now(m: re.Match[str], moment: Moment) -> Made:
    now = moment.now
    return fixed(m, Stretch(now - timedelta(hours=1), now + timedelta(seconds=1), "hour"), kind="vague", certain=False)
