"""Units of quantities: families inside which values convert, and the factor to the family's base."""

from __future__ import annotations

import re

from memtrial.metrics.matching.numerals import listed

MONEY = "money:"
DURATION = "seconds"
MONTHS = "months"
WORKDAYS = "workdays"
PERCENT = "percent"
COUNT = "count"

_TABLE: dict[str, dict[str, float]] = {
    MONEY + "CNY": dict.fromkeys(listed("元 块钱 块 圆 人民币 rmb cny yuan 元人民币"), 1.0) | {"毛": 0.1, "角": 0.1},
    MONEY + "USD": dict.fromkeys(listed("美元 美金 美刀 刀 usd dollars dollar bucks buck"), 1.0)
    | {"cents": 0.01, "cent": 0.01},
    MONEY + "EUR": dict.fromkeys(listed("欧元 欧 eur euros euro €"), 1.0),
    MONEY + "GBP": dict.fromkeys(listed("英镑 镑 gbp quid £"), 1.0) | {"pence": 0.01, "便士": 0.01},
    MONEY + "HKD": dict.fromkeys(listed("港币 港元 hkd"), 1.0),
    MONEY + "JPY": dict.fromkeys(listed("日元 日圆 jpy yen"), 1.0),
    MONEY + "CHF": dict.fromkeys(listed("瑞郎 chf francs franc"), 1.0),
    MONEY + "SEK": dict.fromkeys(listed("kr sek kronor kroner krona krone nok dkk"), 1.0),
    DURATION: dict.fromkeys(listed("秒钟 秒 s sec secs second seconds"), 1.0)
    | dict.fromkeys(listed("分钟 min mins minute minutes"), 60.0)
    | dict.fromkeys(listed("个小时 小时 个钟头 钟头 个钟 h hr hrs hour hours"), 3600.0)
    | dict.fromkeys(listed("天 日内 日以内 整天 个日夜 day days nights 晚"), 86400.0)
    | dict.fromkeys(listed("个星期 星期 个礼拜 礼拜 周 week weeks wk wks"), 604800.0)
    | {"fortnight": 1209600.0, "fortnights": 1209600.0, "ms": 0.001, "毫秒": 0.001},
    MONTHS: dict.fromkeys(listed("个月 month months mo"), 1.0)
    | dict.fromkeys(listed("个季度 季度 quarters"), 3.0)
    | dict.fromkeys(listed("年 周年 year years yr yrs"), 12.0),
    WORKDAYS: dict.fromkeys(
        listed("个工作日 工作日 working\\sdays working\\sday business\\sdays business\\sday workdays"), 1.0
    ),
    PERCENT: dict.fromkeys(listed("% percent per\\scent pct 个百分点 percentage\\spoints"), 1.0)
    | {"‰": 0.1, "成": 10.0},
    "celsius": dict.fromkeys(listed("度 摄氏度 °c degrees\\scelsius degrees degree °"), 1.0),
    "fahrenheit": dict.fromkeys(listed("华氏度 °f degrees\\sfahrenheit"), 1.0),
    "grams": dict.fromkeys(listed("克 g gram grams"), 1.0)
    | dict.fromkeys(listed("公斤 千克 kg kilo kilos kilograms kilogram kgs"), 1000.0)
    | {"市斤": 500.0, "斤": 500.0, "吨": 1e6, "tons": 1e6, "tonnes": 1e6, "mg": 1e-3, "毫克": 1e-3}
    | dict.fromkeys(listed("mcg μg ug micrograms microgram 微克"), 1e-06)
    | {"ounces": 28.349523125, "ounce": 28.349523125, "oz": 28.349523125, "lb": 453.59237, "lbs": 453.59237},
    "metres": dict.fromkeys(listed("米 m metre metres meter meters"), 1.0)
    | dict.fromkeys(listed("公里 千米 km kilometres kilometers kilometre kilometer"), 1000.0)
    | {"厘米": 0.01, "公分": 0.01, "cm": 0.01, "毫米": 0.001, "mm": 0.001, "里": 500.0}
    | {
        "miles": 1609.344,
        "mile": 1609.344,
        "yards": 0.9144,
        "yard": 0.9144,
        "feet": 0.3048,
        "foot": 0.3048,
        "ft": 0.3048,
    }
    | {"inches": 0.0254, "inch": 0.0254, "英寸": 0.0254, "寸": 0.0254},
    "litres": dict.fromkeys(listed("升 l litre litres liter liters"), 1.0) | {"毫升": 0.001, "ml": 0.001},
    "square metres": dict.fromkeys(listed("平方米 平米 平 m2 sqm square\\smetres square\\smeters"), 1.0)
    | {"亩": 666.6667},
    "bytes": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "g内存": 1e9},
    "watts": {"w": 1.0, "瓦": 1.0, "kw": 1000.0, "千瓦": 1000.0},
    "horsepower": {"匹": 1.0, "hp": 1.0, "马力": 1.0},
    "mah": {"mah": 1.0, "毫安时": 1.0, "毫安": 1.0},
    "discount": {"折": 1.0},
    COUNT: dict.fromkeys(
        listed(
            "个人 人次 个 只 台 件 条 张 份 单 次 人 位 名 套 盒 箱 包 瓶 支 根 本 家 层 档 批 辆 部 把 颗 片 页 行 项 款 种 "
            "楼 场 轮 户 间 桌 杯 碗 座 栋 幢 字 岁 班 队 组 票 门 节 期 遍 回 趟 笔 pcs pieces piece 枚 双 对 朵 棵 扇 架 艘 封"
        ),
        1.0,
    ),
}
# ``pounds`` is money or weight; it is compared as bare, since the gold beside it decides.
AMBIGUOUS = ("pounds", "pound", "分")

UNITS: dict[str, tuple[str, float]] = {
    unit.replace("\\s", " "): (family, factor) for family, table in _TABLE.items() for unit, factor in table.items()
}
UNITS |= dict.fromkeys(AMBIGUOUS, ("", 1.0))

SYMBOLS = {
    "us$": "USD", "a$": "AUD", "hk$": "HKD", "c$": "CAD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "₹": "INR", "₩": "KRW",
    "eur": "EUR", "usd": "USD", "gbp": "GBP", "cny": "CNY", "rmb": "CNY", "chf": "CHF", "hkd": "HKD", "jpy": "JPY", "人民币": "CNY",
}  # fmt: skip


def _alternatives() -> str:
    out = []
    for unit in sorted(UNITS, key=len, reverse=True):
        pattern = re.escape(unit).replace(r"\ ", r"\s")
        out.append(pattern + r"(?![a-z0-9])" if unit[-1].isascii() and unit[-1].isalnum() else pattern)
    return "|".join(out)


UNIT_PATTERN = _alternatives()
SYMBOL_PATTERN = "|".join(re.escape(s) for s in sorted(SYMBOLS, key=len, reverse=True))
