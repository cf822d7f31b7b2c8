from __future__ import annotations

import logging
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import make_url

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import Extraction, Fact

Open = Callable[..., MemoryRecords]
START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)


def facts(first: int, count: int = 1, *, words: int = 1) -> Extraction:
    return Extraction(
        [
            Fact(f"fact {n}" * words, "t1", (f"m{n}",), START + timedelta(minutes=n), entities=(f"e{n}",))
            for n in range(first, first + count)
        ]
    )


def sentence(failure: pytest.ExceptionInfo[UserError]) -> str:
    """The message, once it is one sentence in one line that no lower error stands behind."""
    text = str(failure.value)
    assert "\n" not in text and not text.endswith(".")
    shown = "".join(traceback.format_exception(failure.value))
    assert "sqlalchemy" not in shown.replace("/sqlalchemy/", "").lower()
    return text


def change(records: MemoryRecords, statement: str) -> None:
    database = records._database
    prefix = f'"{database.schema}".' if database.server else ""
    with database.write("changing") as connection:
        connection.exec_driver_sql(statement.replace("stamp", f"{prefix}stamp"))


def test_another_schema_version_names_both(open_records: Open) -> None:
    records = open_records()
    change(records, "UPDATE stamp SET schema_version = 7")
    with pytest.raises(UserError) as failure:
        open_records()
    assert "has schema version 7, this memtrial reads and writes 2; use another folder and ingest again" in sentence(
        failure
    )


def test_other_settings_name_the_first_that_differs(open_records: Open) -> None:
    open_records(settings={"window": 3, "keep": {"a": [1]}, "model": "x"}).write(facts(1))
    with pytest.raises(UserError) as failure:
        open_records(settings={"window": 4, "keep": {"a": [1]}, "language": "zh"})
    told = sentence(failure)
    assert "other settings (language None there, 'zh' here and 2 more); use another folder and ingest again" in told
    assert open_records(settings={"model": "x", "keep": {"a": [1]}, "window": 3}).count() == 1


def test_foreign_tables_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "records.sqlite"
    foreign = sqlite3.connect(path)
    foreign.execute("CREATE TABLE photos (id INTEGER)")
    foreign.commit()
    with pytest.raises(UserError, match=r"records\.sqlite holds tables \(photos\) that are no memory records"):
        MemoryRecords(tmp_path)
    assert foreign.execute("SELECT name FROM sqlite_master").fetchall() == [("photos",)]


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").write_text("certainly not a database " * 100)
    with pytest.raises(UserError) as failure:
        MemoryRecords(tmp_path)
    assert "is damaged or no memory records (file is not a database); move it away" in sentence(failure)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"folder .*file.sub for the memory records cannot be made: Not a directory"):
        MemoryRecords(tmp_path / "file" / "sub")


def test_a_locked_database_says_so_and_nothing_is_lost(tmp_path: Path) -> None:
    records = MemoryRecords(tmp_path, patience_s=0.05)
    records.write(facts(1), ["m1"])
    holder = sqlite3.connect(tmp_path / "records.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(UserError) as failure:
        records.write(facts(2), ["m2"])
    told = sentence(failure)
    assert told.startswith(
        f"{tmp_path / 'records.sqlite'} is locked by another process (waited 0.05 s while writing 1 facts)"
    )
    assert records.count() == 1  # a reader is not kept waiting
    holder.execute("ROLLBACK")
    records.write(facts(2), ["m2"])
    assert records.known(["m1", "m2"]) == {"m1", "m2"}


def test_a_writer_on_the_server_waits_for_its_turn_and_says_so(tmp_path: Path, postgres_server: Any) -> None:
    records = MemoryRecords(tmp_path, url=postgres_server.get_uri(), patience_s=0.05)
    change(records, "UPDATE stamp SET next_seq = next_seq")
    with records._database.write("holding the lock") as connection:
        connection.exec_driver_sql(f'SELECT * FROM "{records._database.schema}".stamp FOR UPDATE')
        with pytest.raises(UserError, match=r"PostgreSQL at .* is locked by another process .*waited 0\.05 s"):
            records.write(facts(1), ["m1"])
    assert len(records.write(facts(1), ["m1"])) == 1
    records.drop()


def test_a_full_disk_keeps_what_was_committed(tmp_path: Path) -> None:
    records = MemoryRecords(tmp_path)
    records.write(facts(0, 20), [f"m{n}" for n in range(20)])
    with records._database.write("limiting") as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        # A quota on the one pooled connection: a hundred pages more, then the engine says what a full disk says.
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 100}")
    with pytest.raises(UserError) as failure:
        records.write(facts(100, 2_000, words=200), [f"m{n}" for n in range(100, 2_100)])
    assert (
        f"the disk of {tmp_path / 'records.sqlite'} is full while writing 2000 facts: nothing of this step"
        in sentence(failure)
    )
    assert (records.count(), records.waiting(), records.known(["m19", "m100"])) == (20, 20, {"m19"})
    records.close()
    again = MemoryRecords(tmp_path)  # space was freed
    assert len(again.write(facts(100, 2_000, words=200), [f"m{n}" for n in range(100, 2_100)])) == 2_000


def test_a_full_disk_of_the_server(open_records: Open) -> None:
    records = open_records()
    error = sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full"), False)
    with pytest.raises(UserError) as failure, records._database.write("writing"):
        raise error
    assert "is full while writing" in sentence(failure)


def test_a_server_that_goes_away_loses_nothing_and_shows_no_password(
    tmp_path: Path, mortal_server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url, secret = mortal_server.url(), mortal_server.password
    records = MemoryRecords(tmp_path, url=url)
    records.write(facts(0, 50), [f"m{n}" for n in range(50)])
    shown = [repr(records), records.place, repr(records._database), repr(records._database._engine)]

    mortal_server.stop()
    for act in (
        lambda: records.write(facts(50), ["m50"]),
        lambda: records.count(),
        lambda: MemoryRecords(tmp_path, url=url),
    ):
        with pytest.raises(UserError) as failure:
            act()
        told = sentence(failure)
        assert "PostgreSQL at /" in told and "cannot be reached while" in told
        assert "nothing of this step was kept, everything before it was" in told
        shown += [told, "".join(traceback.format_exception(failure.value))]

    mortal_server.start()
    assert (records.count(), records.known(["m49", "m50"])) == (50, {"m49"})
    assert len(records.write(facts(50), ["m50"])) == 1

    # Between two statements of one transaction.
    with pytest.raises(UserError) as failure, records._database.write("writing") as connection:
        connection.exec_driver_sql(f'DELETE FROM "{records._database.schema}".outbox')
        mortal_server.stop()
        connection.exec_driver_sql(f'DELETE FROM "{records._database.schema}".nodes')
    shown += [sentence(failure)]
    mortal_server.start()
    assert (records.count(), records.waiting()) == (51, 51)
    records.drop()
    for text in (*shown, caplog.text):
        assert secret not in text and "hunt%40r" not in text and "hunt@r" not in text


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://u:hunter2@h/db", "memory records cannot be kept by 'mysql'; expected postgresql"),
        ("hunter2 is no address", "the address of the PostgreSQL server cannot be read; expected postgresql"),
        ("postgresql://u:pw@h:hunter2/db", "the address of the PostgreSQL server cannot be read"),
        ("postgresql://u:pw@hunter2@h/db", "has one @ too many (in a password it is written %40)"),
        ("postgresql://u:pw@s/hunter2@h/db", "has one @ too many"),
        ("postgresql://u:hunter2@127.0.0.1:1/db", "PostgreSQL at 127.0.0.1:1/db cannot be reached while opening"),
        ("postgresql://127.0.0.1:1/db?password=hunter2", "PostgreSQL at 127.0.0.1:1/db cannot be reached"),
        (
            "postgresql+psycopg://u:pw@127.0.0.1:1/db?nonsense=hunter2",
            "127.0.0.1:1/db cannot be used while opening the memory records: invalid",
        ),
    ],
)
def test_an_address_that_cannot_be_used_is_told_without_its_password(tmp_path: Path, url: str, told: str) -> None:
    with pytest.raises(UserError) as failure:
        MemoryRecords(tmp_path, url=url)
    shown = sentence(failure)
    assert told in shown
    assert "hunter2" not in shown + "".join(traceback.format_exception(failure.value))


def test_a_database_that_is_not_there_and_a_right_that_is_missing(tmp_path: Path, postgres_server: Any) -> None:
    url = make_url(postgres_server.get_uri())
    with pytest.raises(UserError, match=r'cannot be reached while opening .*database "nope" does not exist'):
        MemoryRecords(tmp_path, url=url.set(database="nope").render_as_string(hide_password=False))
    postgres_server.psql("CREATE ROLE nobody_much LOGIN")
    with pytest.raises(UserError, match="cannot be used while opening the memory records: permission denied"):
        MemoryRecords(tmp_path, url=url.set(username="nobody_much").render_as_string(hide_password=False))


def test_without_the_driver_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memtrial\[postgres\]'"):
        MemoryRecords(tmp_path, url="postgresql://h/db")


def test_sqlite_needs_no_driver_of_a_server(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from memtrial.systems.stores.records import MemoryRecords; "
        f"MemoryRecords(Path({str(tmp_path)!r})).close(); print('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
