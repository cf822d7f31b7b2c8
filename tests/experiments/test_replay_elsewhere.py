"""A finished run with its record of calls, on another machine: no network, no key, the same figures; and no key in any file."""

from __future__ import annotations

import base64
import json
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus

import orjson
import pytest
import yaml
from pydantic import BaseModel
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.experiments.config import load_config
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.score_ragas import score_run
from memtrial.experiments.store import CALLS, CONFIG, MEASURED_METRICS, METRICS, read_run
from memtrial.metrics.ragas.adapter import AskingLLM
from memtrial.metrics.ragas.samples import Sample
from memtrial.systems.models.llm.settings import ModelSettings
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

# Characters that a URL spells in another way.
KEY = "sk-te/st+0123456789=AB&cd"
PASSWORD = "pa55-of-the-proxy"
LIMIT = ["--limit", "6"]

NO_NETWORK = """
import socket
_connect = socket.socket.connect
def connect(self, address):
    if self.family != socket.AF_UNIX:
        raise OSError("the network is closed")
    return _connect(self, address)
socket.socket.connect = connect
"""


def spelt(secret: str) -> list[bytes]:
    """The secret as it may come back: plain, in JSON, in a URL, in base64 of three kinds."""
    raw = secret.encode()
    forms = [secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote(secret), quote_plus(secret)]
    forms += [base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode(), base64.b64encode(raw).decode().rstrip("=")]  # fmt: skip
    return [form.encode() for form in forms]


def reading_and_judging(said: str = "") -> Callable[[Seen], Step]:
    """Play a reader and a judge that knows right from wrong by the length of the prompt; both repeat what they are told to."""

    def reply(seen: Seen) -> Step:
        wanted = seen.body["response_format"]["json_schema"]["schema"]["properties"]
        if "verdict" in wanted:
            label = "correct" if len(seen.prompt) % 2 else "wrong"
            lure = {"lure": ""} if "lure" in wanted else {}
            return says(json.dumps({"reason": f"because {said}", **lure, "verdict": label}))
        return says(
            json.dumps({"answer": f"Tuesday {said}".strip(), "citations": [], "confidence": 0.7, "abstain": False})
        )

    return reply


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MY_ENDPOINT", KEY)


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Close the network for this process and the workers that it starts."""

    def close() -> None:
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / "sitecustomize.py").write_text(NO_NETWORK)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
        monkeypatch.delenv("MY_ENDPOINT")
        monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "another-cache"))
        real = socket.socket.connect

        def connect(self: socket.socket, address: Any) -> None:
            if self.family != socket.AF_UNIX:
                raise OSError("the network is closed")
            real(self, address)

        monkeypatch.setattr(socket.socket, "connect", connect)

    return close  # type: ignore[return-value]


def configured(tmp_path: Path, url: str, name: str = "toy.yaml") -> Path:
    default = {"model": "toy-1", "base_url": url, "api_key_env": "MY_ENDPOINT", "max_retries": 0}
    content = {
        "name": "toy",
        "data": ["handwritten"],
        "systems": {"bm25": {}, "recent": {}},
        "models": {"default": default, "judge": {"model": "grader"}},
        "metrics": {"resamples": 100},
        "warmup": 0,
    }
    (tmp_path / name).write_text(yaml.safe_dump(content, sort_keys=False))
    return tmp_path / name


def go(path: Path, out: Path, **options: Any) -> None:
    """Run without writing a report, which would take most of the time."""
    assert run(make_plan(load_config(path, limit=4)), out, options=ModelOptions(**options)).exit_code == 0


def command(*arguments: object) -> str:
    found = CliRunner().invoke(app, [str(a) for a in arguments])
    assert found.exit_code == 0, (found.output, found.exception)
    return found.output


def unmeasured(folder: Path) -> bytes:
    rows = orjson.loads((folder / METRICS).read_bytes())
    return orjson.dumps([row for row in rows if not row["metric"].startswith(MEASURED_METRICS)])


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_same_figures_and_report_without_network_and_key(tmp_path: Path, closed: Callable[[], None]) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    with ScriptedServer(reading_and_judging()) as server:
        go(configured(tmp_path, server.url), one)
        command("rejudge", one)
        command("report", one)
    two.mkdir()
    for name in (CALLS, CONFIG):
        shutil.copy(one / name, two / name)
    closed()
    go(two / CONFIG, two, replay="only")
    assert unmeasured(two) == unmeasured(one)
    command("rejudge", two, "--replay", "only")
    for name in ("rejudged/grader-ours.json", "rejudged/summary.md"):
        assert files(two)[name] == files(one)[name]
    command("report", two)
    assert _told(two) == _told(one)
    first, second = files(one), files(two)
    same = [name for name in first if name.startswith("figures/") and "latency" not in name]
    assert len(same) > 4 and all(first[name] == second[name] for name in same)
    assert second[CALLS] == first[CALLS]
    # Both commands again, on the first machine with the network closed: the same bytes, and nothing else is touched.
    command("rejudge", one, "--replay", "only")
    command("report", one)
    assert files(one) == first


def _told(folder: Path) -> list[str]:
    """report.md without what is measured anew: tables of latency, the share replayed, what the manifest says of time, and who else was busy."""
    kept, skipping = [], False
    for line in (folder / "report.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| "):
            head = line.split("|")
            if "latency" in line or "replayed" in line:
                skipping = True
                kept.append(head[1])
                continue
        else:
            skipping = False
        if line.startswith("> **The machine was not quiet.**"):
            continue
        key = line.removeprefix("- ").split(":")[0].replace("\\", "")
        measured = key.startswith(("timing.", "journal.", "models.replay", "models.latency", "models.calls")) or key.endswith(".replayed")  # fmt: skip
        if not skipping and not (line.startswith("- ") and measured):
            kept.append(line)
    assert len(kept) > 150  # most of a report is told
    return kept


class Held(BaseModel):
    reason: str
    verdict: int


async def one_question(metric: str, sample: Sample, llm: AskingLLM) -> Any:
    """Stands in for ragas: one question about the answer."""
    return SimpleNamespace(value=float((await llm.agenerate(f"{metric}: {sample.response}", Held)).verdict))


def test_no_spelling_of_a_key_or_of_a_password_in_any_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    echo = " ".join(form.decode() for form in spelt(KEY))
    told: list[str] = []

    def telling(seen: Seen) -> Step:
        place = len(server.requests)
        if place % 7 == 3:
            return error(400, f"Incorrect API key provided: {echo}; {seen.headers['authorization']}")
        if "Held" in seen.raw.decode():
            return says(json.dumps({"reason": echo, "verdict": 1}))
        return reading_and_judging(echo)(seen)

    with ScriptedServer(telling) as server:
        told.append(
            CliRunner().invoke(app, ["run", str(configured(tmp_path, server.url)), "--out", str(out), *LIMIT]).output
        )
        address = server.url.replace("://", f"://user:{PASSWORD}@")
        ask = ["--model", "other", "--base-url", address, "--api-key-env", "MY_ENDPOINT"]
        told.append(CliRunner().invoke(app, ["rejudge", str(out), *ask]).output)
        check = [
            "judge",
            "check",
            *ask,
            "--data",
            "handwritten",
            "--limit",
            "3",
            "--calls",
            str(out / "judge-calls.jsonl"),
        ]
        told.append(CliRunner().invoke(app, [*check, "--out", str(out / "errors.json")]).output)
        settings = ModelSettings(model="m", base_url=address, api_key_env="MY_ENDPOINT", max_retries=0)
        told.append(score_run(out, settings, metrics=["faithfulness", "answer_correctness"], ask=one_question).render())
        told.append(CliRunner().invoke(app, ["report", str(out)]).output)
        told.append(CliRunner().invoke(app, ["show", str(out)]).output)
        assert any(r.headers.get("authorization") == f"Bearer {KEY}" for r in server.requests)
    found = files(out)
    assert {"ragas.json", "errors.json", "judge-calls.jsonl", "rejudged/other-ours.json", "report.html", CALLS} <= set(
        found
    )
    found["terminal"] = "\n".join(told).encode()
    found["records, unpacked"] = str([r.model_dump() for r in read_run(out).records]).encode()  # parquet is compressed
    for secret in (*spelt(KEY), *spelt(PASSWORD)):
        assert not [name for name, content in found.items() if secret in content], secret[:6]
    assert "[key]" in found["records, unpacked"].decode()  # it did come back, and was taken out


def test_an_address_with_a_password_is_refused_where_it_would_be_written_down(tmp_path: Path) -> None:
    path = configured(tmp_path, f"http://user:{PASSWORD}@127.0.0.1:9/v1")
    found = CliRunner().invoke(app, ["run", str(path), "--out", str(tmp_path / "out")])
    assert "must hold no user, password or key" in str(found.exception)
    assert PASSWORD not in str(found.exception) + found.output and not (tmp_path / "out").exists()
