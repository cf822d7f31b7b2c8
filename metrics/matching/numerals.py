"""Chinese and English number words to numbers."""

from __future__ import annotations


def listed(text: str) -> list[str]:
    """Return the words of a word list written as one text."""
    return text.split()


ZH_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_ZH_SMALL = {"十": 10, "百": 100, "千": 1000}
ZH_BIG = {"万": 10_000, "亿": 100_000_000}
ZH_CHARS = "零〇一二两三四五六七八九十百千万亿"

_EN_UNITS = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_EN_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
EN_WORDS: dict[str, int] = {w: i for i, w in enumerate(_EN_UNITS)} | {w: (i + 2) * 10 for i, w in enumerate(_EN_TENS)}
EN_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}

_EN_ORDINALS = listed(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS: dict[str, int] = {w: i + 1 for i, w in enumerate(_EN_ORDINALS)} | {
    f"{tens}{sep}{w}": base + i + 1
    for tens, base in (("twenty", 20), ("thirty", 30))
    for sep in ("-", " ")
    for i, w in enumerate(_EN_ORDINALS[:9])
}
ORDINALS["thirtieth"] = 30


def zh_number(text: str) -> float | None:
    """Read a Chinese numeral: 三百二 is 320, 一千二 1200, 二〇二五 2025, 两万五 25000, 三点五 3.5.

    Returns:
        The number, or None where the characters make none.
    """
    if not text:
        return None
    if "点" in text:
        whole, _, decimals = text.partition("点")
        left = zh_number(whole)
        if left is None or not decimals or any(c not in ZH_DIGITS for c in decimals):
            return None
        return left + sum(ZH_DIGITS[c] * 0.1 ** (i + 1) for i, c in enumerate(decimals))
    if all(c in ZH_DIGITS for c in text):
        return float(int("".join(str(ZH_DIGITS[c]) for c in text))) if len(text) < 16 else None
    for char, scale in (("亿", ZH_BIG["亿"]), ("万", ZH_BIG["万"])):
        if char in text:
            head, _, tail = text.partition(char)
            left = zh_number(head)
            if left is None:
                return None
            if not tail:
                return left * scale
            if len(tail) == 1 and tail in ZH_DIGITS and tail not in "零〇":
                return left * scale + ZH_DIGITS[tail] * scale / 10
            right = zh_number(tail.lstrip("零〇"))
            return None if right is None else left * scale + right
    return _zh_section(text)


def _zh_section(text: str) -> float | None:
    total, digit, last_scale, zero = 0, None, 10_000, False
    for char in text:
        if char in ZH_DIGITS:
            if digit is not None:
                return None
            if char in "零〇":
                zero = True
                continue
            digit = ZH_DIGITS[char]
        elif char in _ZH_SMALL:
            scale = _ZH_SMALL[char]
            if scale >= last_scale or (digit is None and scale != 10):
                return None
            total += (1 if digit is None else digit) * scale
            digit, last_scale, zero = None, scale, False
        else:
            return None
    if digit is not None:
        total += digit if zero or last_scale == 10 or last_scale == 10_000 else digit * last_scale // 10
    return float(total)


def en_number(text: str) -> float | None:
    """Read an English number in words: ``twenty-one``, ``one hundred and five``, ``twelve hundred``, ``two point five``.

    Returns:
        The number, or None where the words make none.
    """
    if " point " in text:
        whole, _, decimals = text.partition(" point ")
        left = en_number(whole)
        digits = [EN_WORDS.get(w, 10) for w in decimals.split()]
        if left is None or not digits or any(d > 9 for d in digits):
            return None
        return left + sum(d * 0.1 ** (i + 1) for i, d in enumerate(digits))
    total, section, last = 0, 0, 0
    for word in text.replace("-", " ").split():
        if word in ("and", "a", "an"):
            continue
        if word in EN_SCALES:
            scale = EN_SCALES[word]
            if scale <= 100:
                section = (section or 1) * scale
            else:
                total += (section or 1) * scale
                section = 0
            last = 0
        elif word in EN_WORDS:
            value = EN_WORDS[word]
            if last and not (last >= 20 and 0 < value < 10):
                return None
            section += value
            last = value or 1
        else:
            return None
    return float(total + section)
