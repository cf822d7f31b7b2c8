"""Holidays whose days are fixed or follow from a rule.

Easter: the anonymous Gregorian computus (Meeus, Astronomical Algorithms, chapter 8). Qingming: the usual formula for the
21st century, [0.2422 y + 4.81] - [y / 4] with the last two digits of the year. Feasts of the Chinese lunisolar calendar:
a table for 2000 to 2040; outside of it they are not known and not guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from memtrial.systems.models.times.spans import Stretch, between, days

# year, then month and day of: New Year, Dragon Boat (5/5), Qixi (7/7), Mid-Autumn (8/15), Double Ninth (9/9)
_LUNAR_ROWS = """
2000 0205 0606 0806 0912 1006, 2001 0124 0625 0825 1001 1025, 2002 0212 0615 0815 0921 1014,
2003 0201 0604 0804 0911 1004, 2004 0122 0622 0822 0928 1022, 2005 0209 0611 0811 0918 1011,
2006 0129 0531 0731 1006 1030, 2007 0218 0619 0819 0925 1019, 2008 0207 0608 0807 0914 1007,
2009 0126 0528 0826 1003 1026, 2010 0214 0616 0816 0922 1016, 2011 0203 0606 0806 0912 1005,
2012 0123 0623 0823 0930 1023, 2013 0210 0612 0813 0919 1013, 2014 0131 0602 0802 0908 1002,
2015 0219 0620 0820 0927 1021, 2016 0208 0609 0809 0915 1009, 2017 0128 0530 0828 1004 1028,
2018 0216 0618 0817 0924 1017, 2019 0205 0607 0807 0913 1007, 2020 0125 0625 0825 1001 1025,
2021 0212 0614 0814 0921 1014, 2022 0201 0603 0804 0910 1004, 2023 0122 0622 0822 0929 1023,
2024 0210 0610 0810 0917 1011, 2025 0129 0531 0829 1006 1029, 2026 0217 0619 0819 0925 1018,
2027 0206 0609 0808 0915 1008, 2028 0126 0528 0826 1003 1026, 2029 0213 0616 0816 0922 1016,
2030 0203 0605 0805 0912 1005, 2031 0123 0624 0824 1001 1024, 2032 0211 0612 0812 0919 1012,
2033 0131 0601 0801 0908 1001, 2034 0219 0620 0820 0927 1020, 2035 0208 0610 0810 0916 1009,
2036 0128 0530 0828 1004 1027, 2037 0215 0618 0817 0924 1017, 2038 0204 0607 0807 0913 1007,
2039 0124 0527 0826 1002 1026, 2040 0212 0614 0814 0920 1014,
"""
_LUNAR = {int(row[0]): row[1:] for row in map(str.split, _LUNAR_ROWS.split(",")) if row}


def _lunar(year: int, column: int) -> date:
    """Return a feast's day.

    Raises:
        ValueError: the table does not hold the year.
    """
    if year not in _LUNAR:
        raise ValueError(f"no Chinese calendar for {year}")
    code = _LUNAR[year][column]
    return date(year, int(code[:2]), int(code[2:]))


def easter(year: int) -> date:
    """Return Easter Sunday of the Western churches."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def _qingming(year: int) -> date:
    if not 2000 <= year < 2100:
        raise ValueError(f"no Qingming for {year}")
    y = year % 100
    return date(year, 4, int(0.2422 * y + 4.81) - y // 4)


def nth_weekday(year: int, month: int, weekday: int, number: int) -> date:
    """Return the ``number``-th weekday of a month, the last for -1."""
    if number > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7)


Rule = Callable[[int], Stretch]


def _on(month: int, day: int) -> Rule:
    return lambda year: days(date(year, month, day))


def _from(month: int, day: int, count: int) -> Rule:
    return lambda year: days(date(year, month, day), count, "span")


def _about(rule: Callable[[int], date], before: int, after: int) -> Rule:
    """Widen a feast to the days that people mean by it."""
    return lambda year: between(rule(year) - timedelta(days=before), rule(year) + timedelta(days=after))


def _day(rule: Callable[[int], date]) -> Rule:
    return lambda year: days(rule(year))


_SPRING = _about(lambda y: _lunar(y, 0), 1, 6)
_QIXI = _day(lambda y: _lunar(y, 2))
_EASTER = _about(easter, 2, 1)
_MOTHER = _day(lambda y: nth_weekday(y, 5, 6, 2))
_FATHER = _day(lambda y: nth_weekday(y, 6, 6, 3))
_THANKS = _day(lambda y: nth_weekday(y, 11, 3, 4))

ENGLISH: dict[str, Rule] = {
    r"Christmas Eve": _on(12, 24),
    r"Christmas(?: Day)?|Xmas": _on(12, 25),
    r"Boxing Day": _on(12, 26),
    r"New Year['’]?s Eve": _on(12, 31),
    r"New Year['’]?s(?: Day)?|New Year(?! of\b)": _on(1, 1),
    r"Valentine['’]?s(?: Day)?": _on(2, 14),
    r"(?:St\.?|Saint) Patrick['’]?s(?: Day)?": _on(3, 17),
    r"April Fool['’]?s?['’]?(?: Day)?": _on(4, 1),
    r"Good Friday": _day(lambda y: easter(y) - timedelta(days=2)),
    r"Easter Monday": _day(lambda y: easter(y) + timedelta(days=1)),
    r"Easter Sunday": _day(easter),
    r"Easter": _EASTER,
    r"Mother['’]?s['’]? Day": _MOTHER,
    r"Father['’]?s['’]? Day": _FATHER,
    r"Memorial Day": _day(lambda y: nth_weekday(y, 5, 0, -1)),
    r"Independence Day|(?:the )?(?:Fourth|4th) of July": _on(7, 4),
    r"Labou?r Day": _day(lambda y: nth_weekday(y, 9, 0, 1)),
    r"Halloween|Hallowe['’]en": _on(10, 31),
    r"Thanksgiving(?: Day)?": _THANKS,
    r"Black Friday": _day(lambda y: nth_weekday(y, 11, 3, 4) + timedelta(days=1)),
    r"Cyber Monday": _day(lambda y: nth_weekday(y, 11, 3, 4) + timedelta(days=4)),
    r"Chinese New Year|Lunar New Year|(?:the )?Spring Festival": _SPRING,
    r"Dragon Boat(?: Festival)?": _day(lambda y: _lunar(y, 1)),
    r"Mid[- ]Autumn(?: Festival)?": _day(lambda y: _lunar(y, 3)),
}
CHINESE: dict[str, Rule] = {
    r"元旦(?:节|假期)?": _on(1, 1),
    r"除夕(?:夜)?|大年三十|年三十": _day(lambda y: _lunar(y, 0) - timedelta(days=1)),
    r"大年初一|正月初一|年初一": _day(lambda y: _lunar(y, 0)),
    r"春节(?:假期|期间)?|过年(?:期间|的时候|那会儿)": _SPRING,
    r"元宵节?|正月十五": _day(lambda y: _lunar(y, 0) + timedelta(days=14)),
    r"情人节": _on(2, 14),
    r"(?:三八)?妇女节|三八节|女神节": _on(3, 8),
    r"愚人节": _on(4, 1),
    r"清明(?:节|假期)?": _day(_qingming),
    r"复活节": _EASTER,
    r"(?:五一)?劳动节|五一(?:假期|长假|小长假|黄金周|期间|节)?(?![零〇一二三四五六七八九十百千万])": _from(5, 1, 5),
    r"母亲节": _MOTHER,
    r"(?:六一)?儿童节|六一(?![零〇一二三四五六七八九十百千万])": _on(6, 1),
    r"父亲节": _FATHER,
    r"端午(?:节|假期)?": _day(lambda y: _lunar(y, 1)),
    r"618(?:大促|活动|购物节|年中大促|期间)": _on(6, 18),
    r"七夕节?": _QIXI,
    r"教师节": _on(9, 10),
    r"中秋(?:节|假期)?": _day(lambda y: _lunar(y, 3)),
    r"(?:十一)?国庆(?:节|假期|长假|黄金周|期间)*|十一(?:假期|长假|黄金周|期间)": _from(10, 1, 7),
    r"重阳节?": _day(lambda y: _lunar(y, 4)),
    r"万圣节(?:前夜)?": _on(10, 31),
    r"双(?:十一|11)": _on(11, 11),
    r"感恩节": _THANKS,
    r"双(?:十二|12)": _on(12, 12),
    r"平安夜": _on(12, 24),
    r"圣诞(?:节)?(?!老人|树|帽|卡)": _on(12, 25),
    r"跨年夜?": _on(12, 31),
}
