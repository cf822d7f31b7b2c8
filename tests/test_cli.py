"""The command line as a user meets it: what it prints, what it leaves on disk, how it exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import memtrial as memtrial_package
from memtrial.cli import main

CONFIG = """
data: {hand: {name: handwritten, language: en}}
systems: [no_memory, bm25, oracle]
metrics: {resamples: 200}
warmup: 0
"""


def memtrial(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memtrial.cli", *args], cwd=cwd, check=False, capture_output=True, text=True, timeout=240
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run on a few questions."""
    folder = tmp_path_factory.mktemp("cli")
    (folder / "c.yaml").write_text(CONFIG)
    ran = memtrial("run", "c.yaml", "--out", "out", "--limit", "10", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "No language model was used" in ran.stdout
    assert "report: out/report.html" in ran.stdout
    return folder


def test_a_run_leaves_what_the_contract_names(done: Path) -> None:
    names = {p.name for p in (done / "out").iterdir()}
    assert names >= {
        "config.yaml",
        "manifest.json",
        "journal.jsonl",
        "records.parquet",
        "metrics.json",
        "report.html",
        "report.md",
        "figures",
    }
    rows = json.loads((done / "out" / "metrics.json").read_text(), parse_constant=lambda word: pytest.fail(word))
    assert set(rows[0]) == {
        "trial", "system", "params", "dataset", "slice", "metric", "value", "low", "high", "n", "judge", "status",
    }  # fmt: skip
    outcomes = [r for r in rows if r["trial"] == "oracle" and r["metric"] == "accuracy" and r["slice"] == "all"]
    assert [r["n"] for r in outcomes] == [10]


def edited_since(folder: Path) -> bool:
    """Whether a file of the package is newer than a run's configuration: another code is another trial, asked anew."""
    package = Path(memtrial_package.__file__).parent
    files = (Path(root, name) for root, _, names in os.walk(package, followlinks=True) for name in names)
    begun = (folder / "c.yaml").stat().st_mtime
    return any(file.stat().st_mtime > begun for file in files if file.suffix != ".pyc" and file.is_file())


def test_the_same_command_asks_nothing_again_and_changes_no_figure(done: Path) -> None:
    before = (done / "out" / "metrics.json").read_bytes()
    results = (done / "out" / "journal.jsonl").read_text().count('"type":"result"')
    again = memtrial("run", "c.yaml", "--out", "out", "--limit", "10", cwd=done)
    if edited_since(done):
        pytest.skip("the package was edited while the test ran")
    assert again.returncode == 0, again.stderr
    assert (done / "out" / "metrics.json").read_bytes() == before
    assert (done / "out" / "journal.jsonl").read_text().count('"type":"result"') == results == 30


def test_report_gives_the_same_bytes_from_the_same_records(done: Path) -> None:
    before = {name: (done / "out" / name).read_bytes() for name in ("report.html", "report.md")}
    assert memtrial("report", "out", cwd=done).returncode == 0
    assert {name: (done / "out" / name).read_bytes() for name in before} == before


def test_show_tells_a_run_and_a_question(done: Path) -> None:
    overview = memtrial("show", "out", cwd=done)
    assert overview.returncode == 0
    assert "oracle" in overview.stdout
    one = memtrial("show", "out", "en01-q09", cwd=done)
    assert one.returncode == 0, one.stderr
    assert "en01-q09" in one.stdout


def test_starter_configuration_runs(tmp_path: Path) -> None:
    assert memtrial("init", cwd=tmp_path).returncode == 0
    plan = memtrial("run", "memtrial.yaml", "--dry-run", cwd=tmp_path)
    assert plan.returncode == 0, plan.stderr
    assert "questions" in plan.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["memtrial.yaml"]
    again = memtrial("init", cwd=tmp_path)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)


def test_built_data_loads_back(tmp_path: Path) -> None:
    built = memtrial("datasets", "build", "--messages", "1000", "--seed", "4", "--out", "log", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    check = memtrial("datasets", "check", "json", "--path", "log", cwd=tmp_path)
    assert check.returncode == 0, check.stdout + check.stderr
    assert "1,000 messages" in check.stdout


@pytest.mark.parametrize(
    "command", [["systems"], ["systems", "list"], ["systems", "bm25"], ["datasets", "list"], ["--version"], ["--help"]]
)
def test_commands_that_only_tell(command: list[str], tmp_path: Path) -> None:
    told = memtrial(*command, cwd=tmp_path)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout


def test_faults_in_labels_are_said_on_the_terminal_and_on_the_page(tmp_path: Path) -> None:
    log = [
        {"message_id": "m1", "timestamp": "2024-05-01T09:00:00Z", "sender": "a", "receiver": "b", "content": "It is 5"}
    ]
    question = {
        "id": "q1",
        "text": "Which number is it?",
        "answers": ["5"],
        "answer_type": "number",
        "answerable": True,
        "needs_memory": True,
        "evidence": ["m77"],
    }
    (tmp_path / "log.json").write_text(json.dumps(log))
    (tmp_path / "q.json").write_text(json.dumps([question]))
    (tmp_path / "c.yaml").write_text(
        "data: {mine: {name: json, path: log.json, questions: q.json}}\nsystems: [no_memory]\nmetrics: {resamples: 100}\n"
    )
    ran = memtrial("run", "c.yaml", "--out", "out", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "m77" in ran.stdout + ran.stderr
    assert "The labels have faults" in (tmp_path / "out" / "report.html").read_text()


def test_conformance_passes_and_fails(tmp_path: Path) -> None:
    assert memtrial("systems", "check", "no_memory", cwd=tmp_path).returncode == 0
    (tmp_path / "own.py").write_text(
        "class Liar:\n"
        "    @classmethod\n"
        "    def create(cls, params, context): return cls()\n"
        "    async def ingest(self, messages, trace): pass\n"
        "    async def answer(self, query, trace): return 'forty-two'\n"
        "    async def close(self): pass\n"
    )
    failed = memtrial("systems", "check", "own.py:Liar", cwd=tmp_path)
    assert failed.returncode == 1
    assert "FAIL" in failed.stdout


def test_a_probe_for_leaks_passes_and_fails(tmp_path: Path) -> None:
    apart = memtrial("systems", "probe", "bm25", "--probes", "20", cwd=tmp_path)
    assert apart.returncode == 0, apart.stderr
    assert "0 of 20 probes leaked" in apart.stdout
    leaky = memtrial("systems", "probe", "bm25", "--probes", "20", "--set", "tenant_filter=false", cwd=tmp_path)
    assert leaky.returncode == 1
    assert "20 of 20 probes leaked" in leaky.stdout


def test_wrong_input_to_a_process_of_its_own(tmp_path: Path) -> None:
    told = memtrial("run", "nothing.yaml", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (2, "")
    assert "no file 'nothing.yaml'" in told.stderr and len(told.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["run", "nothing.yaml"], "no file 'nothing.yaml'"),
        (["run", "quickstrat"], "did you mean 'quickstart'"),
        (["run", "c.yaml", "--set", "systems.bm52.k=3"], "bm52"),
        (["run", "c.yaml", "--set", "bm25.kk=3"], "did you mean 'k'"),
        (["run", "c.yaml", "--set", "nonsense"], "nonsense"),
        (["run", "c.yaml", "--limit", "0"], "--limit"),
        (["run", "c.yaml", "--base-url", "http://127.0.0.1:9/v1"], "--model"),
        (["run", "locomo", "--set", "data.path=absent.json"], "absent.json"),
        (["report", "nowhere"], "nowhere"),
        (["show", "nowhere"], "nowhere"),
        (["systems", "bm52"], "did you mean 'bm25'"),
        (["systems", "check"], "TARGET"),
        (["systems", "probe"], "systems probe needs a TARGET"),
        (["systems", "bm25", "extra"], "extra"),
        (["systems", "check", "http://127.0.0.1:9"], "did not answer"),
        (["systems", "check", "no.such.module:Thing"], "no.such.module"),
        (["datasets", "check", "locmo"], "locomo"),
        (["datasets", "check", "locomo"], "path"),
        (["datasets", "build", "--out", "x", "--messages", "12"], "messages"),
        (["datasets", "build", "--out", "x", "--language", "fr"], "language"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(
    args: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process, since a process for each costs more than what it does."""
    (tmp_path / "c.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["memtrial", *args])
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # as ``python -m`` has it
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as stop:
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert says in told
    assert "Traceback" not in told
    assert [p.name for p in tmp_path.iterdir()] == ["c.yaml"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_exits_130_and_the_same_command_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import asyncio\n"
        "from memtrial import Answer\n"
        "class Slow:\n"
        "    @classmethod\n"
        "    def create(cls, params, context): return cls()\n"
        "    async def ingest(self, messages, trace): pass\n"
        "    async def answer(self, query, trace):\n"
        "        await asyncio.sleep(0.05)\n"
        "        return Answer(abstained=True)\n"
        "    async def close(self): pass\n"
    )
    (tmp_path / "c.yaml").write_text(
        "data: {hand: {name: handwritten, language: en}}\nsystems: {slow: {use: 'slow.py:Slow'}}\n"
        "metrics: {resamples: 100}\nwarmup: 0\n"
    )
    arguments = ["run", "c.yaml", "--out", "out", "--limit", "30"]
    command = [sys.executable, "-m", "memtrial.cli", *arguments]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=os.environ | {"CI": "1"})
    journal = tmp_path / "out" / "journal.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and journal.read_text().count('"result"') >= 3):
        time.sleep(0.05)
    running.send_signal(number)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert told.splitlines()[-1] == "memtrial: interrupted; run the same command again to go on"
    assert "Traceback" not in told
    finished = memtrial(*arguments, cwd=tmp_path)
    assert finished.returncode == 0, finished.stderr
    assert journal.read_text().count('"type":"result"') == 30
