"""Learning what a tenant sells: products named in records, and in talk once the catalogue shows how names are built."""

from __future__ import annotations

import re

from memtrial.systems.structured.extraction.leftover import leftovers, unlabelled
from memtrial.systems.structured.extraction.lexicon import Lexicon
from memtrial.systems.structured.extraction.said import Said

_HAN = "\u4e00-\u9fff"
_MODEL_EN = re.compile(
    r"(?<![\w-])(?:[A-Z][a-zA-Z&'’-]+\s){1,3}(?:[A-Z]{0,2}\d{1,4}[A-Za-z]{0,3})(?:\s(?:Pro|Max|Plus|Mini|Lite|Ultra))?(?![\w.-]*\d)(?!\w)"
)
_MODEL_ZH = re.compile(
    rf"(?P<run>[{_HAN}]{{2,12}}?)\s?(?P<model>[A-Za-z]{{1,3}}\d{{1,4}}[A-Za-z]{{0,3}})(?![A-Za-z0-9-]|[月日号])"
)

# what people do with a thing stands right before its name
_VERB = re.compile(
    rf"^[{_HAN}]*(?:安装|装|维修|修理|修|调试|调|更换|换|购买|买|退掉|退|弄|取|收到|拿到|寄|送|我的|这台|那台|这个|那个)"
)


class Catalogue:
    """The products of one tenant; they are kept in its lexicon."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Start empty."""
        self.lexicon = lexicon
        self._stems: set[str] = set()
        self._before: dict[str, list[str]] = {}

    def read(self, said: Said) -> None:
        """Learn products from records: a name with a model number, or what is left of an order's record."""
        if said.voice not in ("record", "staff", "customer"):
            return
        found = False
        if said.language == "en":
            for match in _MODEL_EN.finditer(said.text):
                name = unlabelled(match.group())
                if " " in name and not any(
                    v.kind in ("date", "money") and v.start < match.end() and match.start() < v.end for v in said.values
                ):
                    self.lexicon.add("product", name)
                    found = True
        else:
            for match in _MODEL_ZH.finditer(said.text):
                run = self._run_in_talk(match) if said.voice != "record" else self._run_on_record(match)
                if 2 <= len(run) <= 4 and self.lexicon.lookup(run) is None:
                    self.lexicon.add("product", run + match["model"])
                    self._stems.add(run)
                    found = True
        if found or said.voice != "record":
            return
        mentions = self.lexicon.find(said.text)
        kinds = {m.kind for m in mentions}
        money = any(v.kind == "money" for v in said.values)
        if "order" in kinds and "person" in kinds and money and "product" not in kinds:
            spans = [(m.start, m.end) for m in mentions] + [(v.start, v.end) for v in said.values]
            names = [n for n in leftovers(said.text, spans) if len(n) > 2]
            if names:
                self.lexicon.add("product", max(names, key=len))

    def _run_on_record(self, match: re.Match[str]) -> str:
        """Return the name before a model number in a record: what its labels leave, or a name known with another number."""
        run = unlabelled(match["run"])
        return next((run[-size:] for size in (4, 3, 2) if run[-size:] in self._stems), run)

    def _run_in_talk(self, match: re.Match[str]) -> str:
        """Return the name before a model number in running Chinese, which shows no gap where the name begins.

        It is a name known with another model number; or as long as all names of the catalogue are, where three are known
        and of one length; or what follows a verb of handling it; or two characters that nothing Chinese precedes; or what stayed the same after two different
        characters.
        """
        run = match["run"]
        if any(self.lexicon.lookup(run[-size:] + match["model"]) for size in (4, 3, 2)):
            return ""
        for size in (4, 3, 2):
            if run[-size:] in self._stems:
                return run[-size:]
        sizes = {len(stem) for stem in self._stems}
        if len(self._stems) >= 3 and len(sizes) == 1:
            return run[-min(sizes) :]
        verb = _VERB.match(run)
        if verb and 2 <= len(run) - verb.end() <= 3:
            return run[verb.end() :]
        name = run[-2:]
        if len(run) == 2:
            return name
        before = self._before.setdefault(name + match["model"], [])
        before.append(run[-3])
        return name if len(set(before)) > 1 else ""
