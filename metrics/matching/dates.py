"""Mentions of time in a text: dates, times of day, weekdays, parts of the day, English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from memtrial.metrics.matching.numerals import EN_WORDS, ORDINALS, ZH_CHARS, listed, zh_number
from memtrial.metrics.matching.when import When, is_day_of_a_month

MONTHS = listed("january february march april may june july august september october november december")
_WEEKDAYS_EN = listed("monday tuesday wednesday thursday friday saturday sunday")
_WEEKDAYS_ZH = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5}
_OFFSETS = {"utc": 0, "gmt": 0, "z": 0, "bst": 60, "cet": 60, "cest": 120, "est": -300, "edt": -240, "cst": -360, "cdt": -300,
            "mst": -420, "mdt": -360, "pst": -480, "pdt": -420, "北京时间": 480}  # fmt: skip
# Hours of the day that a part of the day may name, generous at both ends.
_PARTS = {
    "morning": (0, 12), "am": (0, 12), "早上": (4, 11), "早晨": (4, 11), "清晨": (3, 9), "上午": (5, 12), "凌晨": (0, 6), "中午": (11, 14),
    "noon": (12, 13), "midday": (11, 14), "下午": (12, 19), "afternoon": (12, 19), "pm": (12, 24), "evening": (16, 24), "傍晚": (16, 20),
    "晚上": (17, 24), "晚": (17, 24), "夜里": (18, 24), "night": (17, 24), "今晚": (17, 24), "早": (4, 11), "午后": (12, 19), "半夜": (22, 24),
}  # fmt: skip


_MONTH = "|".join(f"{m[:3]}(?:{m[3:]})?" if len(m) > 3 else m for m in MONTHS).replace(
    "sep(?:tember)", "sept?(?:ember)?"
)
_ORD = "|".join(sorted((re.escape(o) for o in ORDINALS), key=len, reverse=True))
_DAY = rf"(?:(?P<{{0}}>[0-3]?\d)(?:st|nd|rd|th)?|(?P<{{0}}w>{_ORD}))"
_ZN = rf"[0-9{ZH_CHARS}廿卅]"
_ZPART = "凌晨|清晨|早上|早晨|上午|中午|下午|午后|傍晚|晚上|夜里|半夜|今晚|晚|早"
_EN_HOUR = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_EN_MIN = r"twenty[- ]five|twenty|five|ten|quarter|a\squarter|half|[12]?[05]|(?<=\bat\s)\d{1,2}"
_AMPM = r"(?P<ap>a\.?\s?m\b\.?|p\.?\s?m\b\.?|in\sthe\s(?:morning|afternoon|evening)|at\snight|noon|midnight)"
_TZ = r"(?:\s?\(?(?P<tz>utc|gmt|cest|cet|bst|est|edt|cst|cdt|mst|mdt|pst|pdt)\b\)?)?"

ISO = re.compile(
    r"(?<![\d.])(?P<y>(?:19|20)\d\d)(?:-|/|\.)(?P<m>[01]?\d)(?:-|/|\.)(?P<d>[0-3]?\d)(?!\d)"
    r"(?:t(?P<h>[0-2]\d):(?P<mi>[0-5]\d)(?::\d\d(?:\.\d+)?)?(?:z|(?P<off>[+-]\d\d:?\d\d))?)?"
)
NUMERIC = re.compile(
    r"(?<![\d./-])(?P<a>[0-3]?\d)(?P<sep>[/.-])(?P<b>[0-3]?\d)(?P=sep)(?P<y>(?:19|20)?\d\d)(?![\d/-]|\.\d)"
)
SLASH = re.compile(r"(?<![\d./-])(?P<a>[0-3]?\d)/(?P<b>[0-3]?\d)(?![\d/]|\.\d)")
YEAR_MONTH = re.compile(r"(?<![\d.-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d-])")
ZH_DATE = re.compile(
    rf"(?:(?P<y>(?:19|20)?\d\d|[零〇一二三四五六七八九]{{4}})年|(?P<ry>今年|去年|明年))?\s?(?P<m>{_ZN}{{1,3}})月份?\s?"
    rf"(?:(?P<d>{_ZN}{{1,3}})(?:[日号]|(?![0-9.%个只台件元块万条张份单次人天小{ZH_CHARS}]))|(?P<span>初|中旬|底|末|上旬|下旬))?"
)
ZH_YEAR = re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)年(?!\d)")
ZH_DAY = re.compile(
    rf"(?<![0-9a-z{ZH_CHARS}号第-])(?P<d>{_ZN}{{1,3}})[号日](?![0-9库楼线门院店机单位室车桌仓码房厅柜桶馆口台公棚段厂区]|以?内|之内)"
)
EN_DATE = re.compile(
    rf"(?<![\d.])(?:{_DAY.format('d')}(?:\sof)?\s(?P<m>{_MONTH})\b|(?P<m2>{_MONTH})\.?\s(?:the\s)?{_DAY.format('e')}(?![\d:]|\.\d|,\d))"
    r"(?:\.?,?\s?(?:of\s)?(?P<y>(?:19|20)\d\d)\b|\s'(?P<yy>\d\d)\b)?"
)
EN_MONTH_YEAR = re.compile(rf"\b(?P<m>{_MONTH})\.?,?\s(?:of\s)?(?P<y>(?:19|20)\d\d)\b")
EN_DAY = re.compile(rf"\bthe\s(?:(?P<d>[0-3]?\d)(?:st|nd|rd|th)\b|(?P<dw>{_ORD})(?=$|[,.;)]|\sat\b|\sof\sthe\smonth))")
EN_MONTH = re.compile(
    rf"\b(?:(?P<span>early|late|mid|(?:end|beginning|start)\sof)|in|since|until|by|last|next|this|of|from|to)[\s-](?P<m>{_MONTH})\b|^(?P<m2>{_MONTH})(?=\W*$)"
)
CLOCK = re.compile(
    rf"(?:(?P<zp>{_ZPART})\s?)?(?<![\d:.])(?P<h>[0-2]?\d)(?::(?P<mi>[0-5]\d)(?::[0-5]\d)?|h(?P<mi2>[0-5]\d))(?![\d:])"
    rf"(?:\s?{_AMPM})?(?:\s?(?:hrs|h)\b)?{_TZ}"
)
DOT_CLOCK = re.compile(
    rf"(?<![\d.:€$£¥-])(?P<h>[0-2]?\d)\.(?P<mi>[0-5]\d)(?:\s?{_AMPM})|(?<=\bat\s)(?P<h2>[0-2]?\d)\.(?P<mi2>[0-5]\d)(?![\d%])"
)
HOUR = re.compile(
    rf"(?<![\d:.])(?:(?P<h>[0-1]?\d)|\b(?P<hw>{_EN_HOUR}))\s?(?:{_AMPM}|(?P<oc>o'?\s?clock)(?:\s{_AMPM.replace('ap>', 'ap2>')})?){_TZ}"
)
SPOKEN = re.compile(
    rf"\b(?:(?P<half>half)\s(?!an?\b)|(?P<n>{_EN_MIN})(?:\s?min(?:ute)?s?)?\s(?P<dir>past|after|to|before)\s)(?:(?P<h>1?\d)(?![\d:.])|(?P<hw>{_EN_HOUR}|noon|midnight)\b)"
    # "five to ten hours" is a range.
    rf"(?!\s?(?:%|\w+s\b|km|kg|percent|million|thousand|hundred))(?:\s?{_AMPM.replace('noon|midnight', 'noonx')})?"
)
ZH_CLOCK = re.compile(
    rf"(?:(?P<zp>{_ZPART})\s?)?(?<![0-9:.])(?P<h>[0-2]?\d|[零一二两三四五六七八九十]{{1,3}})(?:点钟?|时(?![间候段期光代常刻]))"
    rf"(?:(?P<half>半)|(?P<q>[一三])刻|差?(?P<mi>[0-5]?\d|[零〇一二两三四五六七八九十]{{1,4}})分?(?!钟|[个只元块]))?(?![0-9])"
)
NOON = re.compile(r"\b(?P<w>noon|midnight|midday)\b")
WEEKDAY_EN = re.compile(
    r"\b(?P<w>mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b\.?"
)
WEEKDAY_ZH = re.compile(
    r"(?P<rel>下下|下个?|上上|上个?|这个?|本|每个?)?(?:周|星期|礼拜)(?P<w>[一二三四五六日天末])(?![个次])"
)
RELATIVE = re.compile(
    r"(?P<w>the\sday\safter\stomorrow|the\sday\sbefore\syesterday|today|tonight|tomorrow|yesterday|大后天|大前天|今天|今日|今晚|明天|明日|明晚|后天|昨天|昨日|昨晚|前天)"
)
PART = re.compile(
    rf"(?P<zp>(?:{_ZPART.removesuffix('|晚|早')})|[晚早](?!点|安排|会|了|就|已|到|些|期|于|说|来|回|先|晨|饭|餐))"
    r"|\b(?:in\sthe\s|on\s\w+\s)?(?P<w>morning|afternoon|evening)s?\b|\b(?:at\s)?(?P<n>night)s?\b"
)
_REL_DAYS = {
    "the day after tomorrow": 2, "the day before yesterday": -2, "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "大后天": 3,
    "大前天": -3, "今天": 0, "今日": 0, "今晚": 0, "明天": 1, "明日": 1, "明晚": 1, "后天": 2, "昨天": -1, "昨日": -1, "昨晚": -1, "前天": -2,
}  # fmt: skip
_SPANS = {"初": (1, 10), "上旬": (1, 10), "中旬": (11, 20), "底": (20, 31), "末": (20, 31), "下旬": (20, 31),
          "early": (1, 12), "mid": (9, 21), "late": (18, 31), "beginning of": (1, 10), "start of": (1, 10), "end of": (20, 31)}  # fmt: skip
_REL_WEEKS = {"下下": 2, "下": 1, "下个": 1, "上上": -2, "上": -1, "上个": -1, "这": 0, "这个": 0, "本": 0}


def _zh_int(text: str) -> int | None:
    if text.isdigit():
        return int(text)
    if text.startswith(("廿", "卅")):
        base = 20 if text[0] == "廿" else 30
        rest = zh_number(text[1:]) if text[1:] else 0.0
        return None if rest is None else base + int(rest)
    number = zh_number(text)
    return None if number is None else int(number)


def _month(text: str) -> int:
    return next(i + 1 for i, m in enumerate(MONTHS) if m.startswith(text[:3]))


def _clock(
    hour: int, minute: int, ampm: str | None, zh_part: str | None, explicit24: bool, tz: str | None = None
) -> When | None:
    if hour > 24 or minute > 59:
        return None
    part = _PARTS.get(zh_part) if zh_part else None
    if ampm:
        word = ampm.replace(".", "").replace(" ", "")
        if hour > 12:
            pass
        elif word in ("noon",):
            hour = 12
        elif word in ("midnight",):
            hour = 0
        elif (word.startswith("a") and not word.startswith("at")) or word.endswith("morning"):
            hour %= 12
        else:
            hour = hour % 12 + 12
            if word == "atnight" and hour == 12:
                hour = 0
        explicit24 = True
    elif part:
        if (hour <= 12 and part[0] >= 12 and hour != 12) or (zh_part == "中午" and hour in (1, 2)):
            hour += 12
        explicit24 = True
    hour %= 24
    ambiguous = not explicit24 and 1 <= hour <= 12
    return When(t=hour * 60 + minute, half=ambiguous, tz=_OFFSETS.get(tz) if tz else None)


def find(low: str) -> Iterator[tuple[int, int, When]]:
    """Yield the atoms of time in a normalised, lowered text, as (start, end, When), each character used once."""
    for pattern, build in _SCAN:
        pos = 0
        while True:
            match = pattern.search(low, pos)
            if match is None:
                break
            pos = max(match.end(), match.start() + 1)
            when = build(match)
            if when is not None and match.end() > match.start():
                yield match.start(), match.end(), when
                low = low[: match.start()] + "\0" * (match.end() - match.start()) + low[match.end() :]


def _iso(g: re.Match[str]) -> When | None:
    y, m, d = int(g["y"]), int(g["m"]), int(g["d"])
    t = int(g["h"]) * 60 + int(g["mi"]) if g["h"] else None
    tz = 0 if t is not None and g[0].endswith("z") else None
    return When(y=y, m=m, d=d, t=t, tz=tz) if is_day_of_a_month(y, m, d) else None


def _numeric(g: re.Match[str]) -> When | None:
    y = int(g["y"]) + (2000 if len(g["y"]) == 2 else 0)
    if len(g["y"]) == 3:
        return None
    return _ambiguous(int(g["a"]), int(g["b"]), y, day_first=g["sep"] == ".")


def _ambiguous(a: int, b: int, y: int | None, *, day_first: bool) -> When | None:
    readings = [When(y=y, m=b, d=a)] if is_day_of_a_month(y, b, a) and a and b else []
    if not day_first and a != b and is_day_of_a_month(y, a, b) and a and b:
        readings.append(When(y=y, m=a, d=b))
    if not readings:
        return None
    return replace(readings[0], alts=tuple(readings[1:]))


def _zh_date(g: re.Match[str]) -> When | None:
    y = None
    if g["y"]:
        y = _zh_int(g["y"])
        if y is not None and y < 100:
            y += 2000
    m = _zh_int(g["m"])
    d = _zh_int(g["d"]) if g["d"] else None
    if m is None or not 1 <= m <= 12 or (g["d"] and d is None) or d == 0:
        return None
    # A day that no month has (11月31日) is kept as written: it must equal nothing, and not be read as something else.
    return When(y=y, m=m, d=d, span=_SPANS.get(g["span"] or ""))


def _en_date(g: re.Match[str]) -> When | None:
    d = int(g["d"]) if g["d"] else int(g["e"]) if g["e"] else ORDINALS[g["dw"] or g["ew"]]
    m = _month(g["m"] or g["m2"])
    y = int(g["y"]) if g["y"] else 2000 + int(g["yy"]) if g["yy"] else None
    return When(y=y, m=m, d=d) if d else None


def _en_day(g: re.Match[str]) -> When | None:
    d = int(g["d"]) if g["d"] else ORDINALS[g["dw"]]
    return When(d=d) if 1 <= d <= 31 else None


def _zh_day(g: re.Match[str]) -> When | None:
    d = _zh_int(g["d"])
    return When(d=d) if d is not None and 1 <= d <= 31 else None


def _clock_of(g: re.Match[str]) -> When | None:
    hour = g["h"]
    return _clock(
        int(hour), int(g["mi"] or g["mi2"]), g["ap"], g["zp"], hour.startswith("0") or int(hour) > 12, g["tz"]
    )


def _dot_clock(g: re.Match[str]) -> When | None:
    hour = g["h"] or g["h2"]
    return _clock(int(hour), int(g["mi"] or g["mi2"]), g["ap"], None, hour.startswith("0") or int(hour) > 12)


def _hour(g: re.Match[str]) -> When | None:
    hour = int(g["h"]) if g["h"] else EN_WORDS[g["hw"]]
    if hour > 12 and not g["oc"]:
        return None
    return _clock(hour, 0, g["ap"] or g["ap2"], None, hour > 12, g["tz"])


def _spoken(g: re.Match[str]) -> When | None:
    word = g["hw"]
    hour = int(g["h"]) if g["h"] else {"noon": 12, "midnight": 24}.get(word, EN_WORDS.get(word, 0))
    if not 1 <= hour <= 24:
        return None
    if g["half"]:
        minute, back = 30, False
    else:
        name = g["n"].replace("-", " ")
        minute = {"quarter": 15, "a quarter": 15, "half": 30, "twenty five": 25}.get(name) or EN_WORDS.get(name) or 0
        minute = int(name) if name.isdigit() else minute
        back = g["dir"] in ("to", "before")
    if not minute or minute > 59:
        return None
    if back:
        hour, minute = (hour - 1) or 12, 60 - minute
    return _clock(hour, minute, g["ap"], None, word in ("noon", "midnight"))


def _zh_clock(g: re.Match[str]) -> When | None:
    hour = _zh_int(g["h"])
    if hour is None:
        return None
    minute = 30 if g["half"] else int(_ZH_QUARTER[g["q"]]) if g["q"] else 0
    if g["mi"]:
        read = _zh_int(g["mi"])
        if read is None:
            return None
        minute = read
    return _clock(hour, minute, None, g["zp"], hour > 12)


_ZH_QUARTER = {"一": 15, "三": 45}


def _weekday_en(g: re.Match[str]) -> When | None:
    word = g["w"]
    return When(wd=next(i for i, w in enumerate(_WEEKDAYS_EN) if w.startswith(word[:3])))


def _weekday_zh(g: re.Match[str]) -> When | None:
    return When(wd=_WEEKDAYS_ZH[g["w"]], week=_REL_WEEKS.get(g["rel"] or ""))


def _relative(g: re.Match[str]) -> When | None:
    word = " ".join(g["w"].split())
    return When(rel=_REL_DAYS[word], part=(17, 24) if word in ("tonight", "今晚", "明晚", "昨晚") else None)


def _part(g: re.Match[str]) -> When | None:
    return When(part=_PARTS[g["zp"] or g["w"] or g["n"]])


def _noon(g: re.Match[str]) -> When | None:
    return When(t=0 if g["w"] == "midnight" else 720)


_SCAN = (
    (ISO, _iso),
    (NUMERIC, _numeric),
    (EN_DATE, _en_date),
    (EN_MONTH_YEAR, lambda g: When(y=int(g["y"]), m=_month(g["m"]))),
    (ZH_DATE, _zh_date),
    (ZH_YEAR, lambda g: When(y=int(g["y"]))),
    (CLOCK, _clock_of),
    (DOT_CLOCK, _dot_clock),
    (ZH_CLOCK, _zh_clock),
    (SPOKEN, _spoken),
    (HOUR, _hour),
    (NOON, _noon),
    (YEAR_MONTH, lambda g: When(y=int(g["y"]), m=int(g["m"]))),
    (SLASH, lambda g: _ambiguous(int(g["a"]), int(g["b"]), None, day_first=False)),
    (RELATIVE, _relative),
    (WEEKDAY_ZH, _weekday_zh),
    (WEEKDAY_EN, _weekday_en),
    (ZH_DAY, _zh_day),
    (EN_DAY, _en_day),
    (EN_MONTH, lambda g: When(m=_month(g["m"] or g["m2"]), span=_SPANS.get(g["span"] or ""))),
    (PART, _part),
)
