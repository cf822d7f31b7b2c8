"""What a user gets from a built wheel, without the repository around it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    code = "import sys; from hatchling import build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(out)], cwd=ROOT, check=True, capture_output=True)
    return out


def test_wheel_holds_code_data_and_configurations(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for wanted in (
        "memtrial/py.typed",
        "memtrial/cli.py",
        "memtrial/datasets/schema.py",
        "memtrial/datasets/handwritten/zh01.json",
        "memtrial/datasets/handwritten/en04.json",
        "memtrial/systems/base.py",
        "memtrial/systems/models/reader/calibration.json",
        "memtrial/experiments/configs/bench.yaml",
        "memtrial/experiments/configs/quickstart.yaml",
        "memtrial/experiments/configs/locomo.yaml",
        "memtrial/experiments/configs/lifebench.yaml",
        "memtrial/reports/__init__.py",
    ):
        assert wanted in names
    assert not [n for n in names if "__pycache__" in n or n.startswith(("tests/", "datasets/"))]


def test_sdist_can_be_built_from_again(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {n.split("/", 1)[1] for n in archive.getnames() if "/" in n}
    for wanted in ("pyproject.toml", "README.md", "LICENSE", "memtrial/datasets/schema.py", "noxfile.py"):
        assert wanted in names


def test_every_module_of_the_wheel_imports_without_the_repository(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    code = (
        "import memtrial, importlib; from memtrial.cli import app; "
        "from memtrial.datasets.registry import load_dataset; "
        "d = load_dataset({'name': 'handwritten'}); "
        "assert memtrial.__file__.startswith(r'" + str(tmp_path) + "'), memtrial.__file__; "
        "print(sum(1 for _ in d.questions()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "144"


def test_import_is_light() -> None:
    """Importing memtrial pulls in none of the heavy packages (the reason it stays under 300 ms)."""
    code = (
        "import sys, memtrial; "
        "heavy = {'numpy', 'pydantic', 'matplotlib', 'pyarrow', 'tantivy', 'sklearn', 'typer', 'jieba'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
