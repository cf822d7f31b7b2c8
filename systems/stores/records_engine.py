"""Where the memory records live: a SQLite file in the system's folder, or a schema of its own on a PostgreSQL server.

Whatever goes wrong outside of this process (a lock, a full disk, a server that went away) becomes one sentence. A password
stands in none of them: sentences name host and database alone, and what a driver says is searched for it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, InterfaceError, OperationalError

from memtrial.datasets.errors import MissingExtraError, UnavailableError, UserError
from memtrial.systems.stores.records_schema import METADATA, NODES, STAMP

SQLITE_FILE = "records.sqlite"
_SCHEMA_FILE = "postgres_schema.txt"
_FORM = "postgresql+psycopg://user:password@host:port/database"
_KEEPING = "keeping memory records on PostgreSQL"
_CONNECT_S = 10
_SILENCE_MS = 30_000


class Database:
    """A store's tables, and connections to them.

    Args:
        folder: the system's folder; holds the SQLite file, or the name of the schema on the server.
        url: of a PostgreSQL server; "" for SQLite.
        patience_s: how long to wait for a lock that another process holds.

    Raises:
        MissingExtraError: PostgreSQL is asked for and its driver is not installed.
        UserError: the address is none.
        UnavailableError: nothing answers there; also from any later use of what is read or written.
    """

    def __init__(self, folder: Path, url: str = "", *, patience_s: float = 10.0) -> None:
        """Make the folder; connect at the first use."""
        self._folder = folder
        self._patience = patience_s
        self._secret: tuple[str, ...] = ()
        self._place = str(folder / SQLITE_FILE)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"folder {folder} for the memory records cannot be made: {error.strerror}") from None
        self.schema = ""
        self._engine = self._postgres(url) if url else self._sqlite()

    def __repr__(self) -> str:
        """Name the place, never a password."""
        return f"Database({self._place})"

    @property
    def place(self) -> str:
        """What a message calls this store."""
        return self._place

    @property
    def server(self) -> bool:
        """Whether the records are on a PostgreSQL server."""
        return bool(self.schema)

    def _sqlite(self) -> sa.Engine:
        engine = sa.create_engine(
            URL.create("sqlite", database=str(self._folder / SQLITE_FILE)),
            connect_args={"timeout": self._patience},
            hide_parameters=True,
        )

        @sa.event.listens_for(engine, "connect")
        def set_up(raw: Any, _record: Any) -> None:
            raw.isolation_level = None  # the driver begins nothing by itself: a transaction starts where ours does
            cursor = raw.cursor()
            cursor.execute("PRAGMA journal_mode=WAL")
            # The index is filled after SQL was made durable. With less than FULL, a power cut could take back what
            # the index has already got.
            cursor.execute("PRAGMA synchronous=FULL")
            # Rows come in at random places of their indexes: a batch should fit, and be moved from the log rarely.
            cursor.execute("PRAGMA cache_size=-65536")
            cursor.execute("PRAGMA wal_autocheckpoint=8000")
            cursor.close()

        @sa.event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            # A writer takes its lock first: one that reads and then writes can be refused half-way.
            writes = connection.get_execution_options().get("memtrial_writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def _postgres(self, text: str) -> sa.Engine:
        url = _parsed(text)
        password = str(url.password or "")
        self._secret = tuple(filter(None, (password, quote(password, safe=""), quote_plus(password))))
        host = url.host or url.query.get("host") or "localhost"
        self._place = f"PostgreSQL at {host}{f':{url.port}' if url.port else ''}/{url.database or ''}"
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError(_KEEPING, "postgres") from None
        # A schema for each folder, under a name kept in it: two trials never meet in one, and a folder that was
        # deleted and made again does not find the rows of its forerunner.
        kept = self._folder / _SCHEMA_FILE
        if not kept.exists():
            kept.write_text(f"memtrial_{uuid.uuid4().hex[:16]}", encoding="utf-8")
        self.schema = kept.read_text(encoding="utf-8").strip()
        engine = sa.create_engine(
            url,
            connect_args={
                "connect_timeout": _CONNECT_S,
                "tcp_user_timeout": _SILENCE_MS,  # a host that vanished without a word
                "options": f"-c lock_timeout={int(self._patience * 1000)}",
            },
            pool_pre_ping=True,  # a server that was started again is met with a new connection
            hide_parameters=True,
        )
        return engine.execution_options(schema_translate_map={None: self.schema})

    @contextmanager
    def read(self, doing: str) -> Iterator[Connection]:
        """Open a transaction that only reads; ``doing`` is what a message says was tried."""
        with self._told(doing), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, doing: str) -> Iterator[Connection]:
        """Open a transaction that is kept as a whole when the block ends, or not at all."""
        with self._told(doing), self._engine.connect() as connection:
            connection = connection.execution_options(memtrial_writes=True)
            with connection.begin():
                yield connection

    def make_tables(self, connection: Connection) -> bool:
        """Make what is missing; return whether the store was there already.

        Raises:
            UserError: there are tables, but not those of memory records.
        """
        if self.server:
            connection.execute(sa.schema.CreateSchema(self.schema, if_not_exists=True))
        there = sa.inspect(connection).get_table_names(schema=self.schema or None)
        if STAMP.name in there:
            return True
        if there:
            raise UserError(f"{self._place} holds tables ({', '.join(sorted(there)[:3])}) that are no memory records")
        METADATA.create_all(connection, checkfirst=False)
        return False

    def make_partition(self, connection: Connection, tenant: str, number: int) -> None:
        """Give a tenant's facts a partition of their own; SQLite has none, there the tenant leads every key."""
        if self.server:
            literal = "'" + tenant.replace("'", "''") + "'"
            part = f'"{self.schema}"."{NODES.name}_{number}"'
            parent = f'"{self.schema}"."{NODES.name}"'
            # Through the driver as it stands, without parameters: a percent sign means itself.
            connection.connection.cursor().execute(
                f"CREATE TABLE {part} PARTITION OF {parent} FOR VALUES IN ({literal})"
            )

    def drop(self) -> None:
        """Remove the store for good."""
        if self.server:
            with self.write("removing the store") as connection:
                connection.execute(sa.schema.DropSchema(self.schema, cascade=True, if_exists=True))
        self.close()
        (self._folder / _SCHEMA_FILE).unlink(missing_ok=True)
        for ending in ("", "-wal", "-shm"):
            (self._folder / f"{SQLITE_FILE}{ending}").unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of all connections; safe to call twice."""
        self._engine.dispose()

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            sentence = self._sentence(doing, error)
            if sentence is None:
                raise
            # From None: what lies below may show an address with its password, or chat text.
            raise UnavailableError(sentence) from None

    def _sentence(self, doing: str, error: DBAPIError) -> str | None:
        said = " ".join((str(error.orig).strip().splitlines() or [""])[0].split())
        for secret in self._secret:
            said = said.replace(secret, "***")
        state = str(getattr(error.orig, "sqlstate", None) or "")
        if "disk is full" in said or state == "53100":
            return (
                f"the disk of {self._place} is full while {doing}: nothing of this step was kept, everything before it "
                "was; free some space and run the same command again"
            )
        if "database is locked" in said or state == "55P03":
            return (
                f"{self._place} is locked by another process (waited {self._patience:g} s while {doing}); "
                "end that one or use another folder"
            )
        if "not a database" in said or "malformed" in said:
            return f"{self._place} is damaged or no memory records ({said}); move it away and ingest again"
        if self.server and (error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)):
            return (
                f"{self._place} cannot be reached while {doing} ({said}): nothing of this step was kept, everything before "
                "it was; see that the server runs and run the same command again"
            )
        # A right that is missing, or an address with an option that there is not.
        if isinstance(error, OperationalError) or state == "42501" or "invalid connection option" in said:
            return f"{self._place} cannot be used while {doing}: {said}"
        return None


def require_postgres(text: str) -> None:
    """See that an address is one and the driver is installed; the server itself is not asked.

    Raises:
        UserError: the address is none.
        MissingExtraError: the driver is not installed.
    """
    _parsed(text)
    if find_spec("psycopg") is None:
        raise MissingExtraError(_KEEPING, "postgres")


def _parsed(text: str) -> URL:
    """Return the address of a PostgreSQL server, with the driver named and the password where it is hidden.

    Raises:
        UserError: it is none; the sentence shows nothing of it, since any part may be a password.
    """
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise UserError(f"the address of the PostgreSQL server cannot be read; expected {_FORM}") from None
    if url.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise UserError(f"memory records cannot be kept by {url.drivername!r}; expected {_FORM}, or none for SQLite")
    if "@" in (url.host or "") or "@" in (url.database or ""):
        raise UserError(
            f"the address of the PostgreSQL server has one @ too many (in a password it is written %40); expected {_FORM}"
        )
    query = dict(url.query)
    password = query.pop("password", None)
    return url.set(
        drivername="postgresql+psycopg", query=query, password=url.password or (str(password) if password else None)
    )
