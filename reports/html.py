"""The page: one file, no script, nothing fetched. Filters are plain CSS."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from memtrial import __version__
from memtrial.reports.browser import Shelf, shelves
from memtrial.reports.content import Content
from memtrial.reports.escape import one_line, visible
from memtrial.reports.figures.canvas import SANS, theme_css
from memtrial.reports.method import method
from memtrial.reports.view import BAR_ORDER
from memtrial.reports.webfont import FAMILY, font_face

_SECTIONS = (
    ("verdict", "Verdict"), ("outcomes", "Outcomes"), ("metrics", "Metrics"), ("retrieval", "Retrieval"),
    ("losses", "Losses"),     ("wrong-memory", "Wrong memory"), ("speed", "Latency, tokens"), ("categories", "Categories"), ("axes", "Settings"),
    ("pairs", "Pairs"), ("choose", "When to choose which"), ("gates", "Gates"), ("routing", "Routing"), ("judges", "Judges"), ("ragas", "ragas"), ("cost", "Cost"), ("warned", "Warnings"), ("browser", "Questions"), ("method", "Method"),
)  # fmt: skip
_INTERVAL = re.compile(r"([^()]{1,40}) (\(-?[\d.,]+ ?%?–-?[\d.,]+ ?%?\))")
CSP = "default-src 'none'; style-src 'unsafe-inline'; font-src data:; base-uri 'none'; form-action 'none'"


def render_html(content: Content) -> str:
    """Return the report as one HTML document. Every value passes through jinja2's escaping."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("memtrial.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    environment.filters["line"] = one_line
    environment.filters["value_and_interval"] = value_and_interval
    made = shelves(content.view)
    has_axes = bool(content.variants) or any(part.axes for part in content.parts)
    plain = ("judges", "ragas", "cost", "gates", "routing", "choose", "warned")
    absent = {"axes": not has_axes, **{name: not getattr(content, name) for name in plain}}
    categories = sorted({q.category for shelf in made for q in shelf.questions})
    page = environment.get_template("report.html.j2").render(
        c=content,
        csp=CSP,
        css=_css(made, categories, len(content.view.trial_order)),
        needs=list(dict.fromkeys(t.need for part in content.parts for t in part.told)),
        shelves=made,
        categories=categories,
        trials=list(content.view.trial_order),
        outcomes=BAR_ORDER,
        question_classes=question_classes,
        sections=[s for s in _SECTIONS if not absent.get(s[0], False)],
        has_axes=has_axes,
        method=method(content.view),
        judges=sorted({r.judgement.judge for r in content.view.run.records}),
        repeats=max((t.repeats for t in content.view.run.trials), default=1),
        version=content.view.run.manifest.get("version") or __version__,
    )
    return page.replace("</style>", f"{font_face(page)}</style>", 1)


def _css(made: list[Shelf], categories: list[str], trials: int) -> str:
    sheet = files("memtrial.reports").joinpath("templates/report.css").read_text(encoding="utf-8")
    outcomes = "".join(f".o-{o}{{--oc:var(--o-{o})}}" for o, _ in BAR_ORDER)
    sans = f'"{FAMILY}", {SANS}'
    lines = "".join(f".t-{i}{{--c:var(--t-{i})}}" for i in range(10))
    return (
        f":root{{color-scheme:light dark;--sans:{sans};{theme_css(False)}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{theme_css(True)}}}}}"
        f"{sheet}{outcomes}{lines}{_filters(len(made), len(categories), trials)}"
    )


def _filters(datasets: int, categories: int, trials: int) -> str:
    """Rules that hide questions which the chosen options do not match.

    A question carries the classes ``d0`` (data set), ``c3`` (category), ``s1`` (answered by trial 1), ``wrong_memory`` (outcome of any
    trial) and ``s1-wrong_memory`` (outcome of trial 1); an option's value is such a class.
    """

    def hide(options: list[str], keep: str) -> str:
        chosen = "".join(f":has(option[value={o}]:checked)" for o in options)
        return f"#browser{chosen} .q:not(.{keep}){{display:none}}"

    rules = [hide([f"d{i}"], f"d{i}") for i in range(datasets)] + [hide([f"c{i}"], f"c{i}") for i in range(categories)]
    rules += [hide([f"s{t}"], f"s{t}") for t in range(trials)]
    rules += [hide([o], o) for o, _ in BAR_ORDER]
    rules += [hide([f"s{t}", o], f"s{t}-{o}") for t in range(trials) for o, _ in BAR_ORDER]
    return "".join(rules)


def value_and_interval(cell: str) -> tuple[str, str]:
    """Part a value from the interval in parentheses at its end, so that no line breaks inside it; "" where there is none."""
    found = _INTERVAL.fullmatch(cell)
    return (found[1], found[2]) if found else (cell, "")


def question_classes(question: Any, categories: list[str]) -> str:
    """Return the classes by which the filters find a question."""
    classes = ["q", f"d{question.dataset}", f"c{categories.index(question.category)}"]
    for given in question.answers:
        classes += [f"s{given.place}", given.outcome, f"s{given.place}-{given.outcome}"]
    return " ".join(dict.fromkeys(classes))
