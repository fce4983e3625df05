"""The ledger's SQLite file: made whole or not at all, checked before use, never overwritten.

A new ledger is built under another name and linked into place, so that a process killed at any
moment leaves either no ledger or a complete one; an empty or cut file at its place is therefore
damage, not a beginning. WAL and one short transaction per row let several gates share it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from refute import plain
from refute.errors import LedgerError, NotPlainData
from refute.ledger.key import Key
from refute.plain import Plain

APPLICATION_ID = 0x72667574  # "rfut"
SCHEMA_VERSION = 1
_MAGIC = b"SQLite format 3\0"
_SCHEMA = {
    "row": (
        "CREATE TABLE row (kind TEXT NOT NULL, key TEXT NOT NULL, part TEXT NOT NULL, "
        "payload TEXT NOT NULL, mac TEXT NOT NULL, at REAL NOT NULL, "
        "PRIMARY KEY (kind, key, part)) WITHOUT ROWID"
    ),
}
_BUSY_S = 10.0


class LedgerFile:
    """Authenticated rows (kind, key, part) → plain data. Raises LedgerError on damage."""

    def __init__(self, path: Path | None, key: Key, note: str = "") -> None:
        """path: the database, which must exist; None keeps rows in memory, with the reason."""
        self.path = path
        self.note = note
        self._key = key
        self._lock = threading.RLock()  # one connection serves the threads of one gate
        with self._sound():
            self._database = sqlite3.connect(
                str(path) if path else ":memory:",
                timeout=_BUSY_S,
                isolation_level=None,
                check_same_thread=False,
            )
            self._database.execute("PRAGMA trusted_schema = OFF")
            if path is None:
                _create(self._database)
            self._check()

    def close(self) -> None:
        """Close the database; later calls fail."""
        self._database.close()

    def get(self, kind: str, key: str) -> list[Plain]:
        """The authentic rows under a key, newest first; none, and a note, where reading fails.

        Damage raises LedgerError; a full disk or a lock only means that evidence is found again.
        """
        try:
            with self._sound():
                rows = self._database.execute(
                    "SELECT part, payload, mac FROM row WHERE kind = ? AND key = ? "
                    "ORDER BY at DESC",
                    (kind, key),
                ).fetchall()
        except LedgerError as error:
            if not _passing(error):
                raise
            self.note = f"evidence could not be read: {error.__cause__}"
            return []
        found = []
        for part, payload, mac in rows:
            if self._key.authentic([kind, key, part, payload], mac):
                with contextlib.suppress(NotPlainData):
                    found.append(plain.loads(payload))
        return found

    def put(self, kind: str, key: str, part: str, value: Plain) -> None:
        """Write one row in a transaction of its own, in place of one of the same name.

        A full disk or a lock that is not given back costs the row and leaves a note, no more.
        """
        payload = plain.dumps(value, canonical=False)
        row = (kind, key, part, payload, self._key.mac([kind, key, part, payload]), time.time())
        try:
            with self._sound():
                self._database.execute("INSERT OR REPLACE INTO row VALUES (?, ?, ?, ?, ?, ?)", row)
        except LedgerError as error:
            if not _passing(error):
                raise
            self.note = f"evidence could not be kept: {error.__cause__}"

    def _check(self) -> None:
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise foreign(self.path, "it belongs to another application")
        if version != SCHEMA_VERSION:
            raise foreign(self.path, f"its schema is version {version}, not {SCHEMA_VERSION}")
        found = dict(self._database.execute("SELECT name, sql FROM sqlite_schema").fetchall())
        if found != _SCHEMA:
            raise foreign(self.path, "its tables are not those of a ledger")
        self._database.execute(f"PRAGMA busy_timeout = {int(_BUSY_S * 1000)}")
        self._database.execute("PRAGMA synchronous = NORMAL")

    @contextlib.contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except sqlite3.OperationalError as error:
            if "malformed" in str(error) or "not a database" in str(error):
                raise foreign(self.path, str(error)) from error
            raise LedgerError(
                f"the ledger {self.path} cannot be used: {error}",
                thing="ledger",
                value=str(self.path),
                next_step="wait for the other process, or look at the directory's permissions",
            ) from error
        except sqlite3.DatabaseError as error:
            raise foreign(self.path, str(error)) from error


def _passing(error: LedgerError) -> bool:
    """Whether the disk or another process is in the way, and the file itself may be sound."""
    cause = error.__cause__
    damaged = any(word in str(cause) for word in ("malformed", "not a database"))
    return isinstance(cause, sqlite3.OperationalError) and not damaged


def foreign(path: Path | None, why: str) -> LedgerError:
    """The error for a file that is not a sound ledger of this version."""
    return LedgerError(
        f"{path} is not a ledger that this version can use: {why}",
        thing="ledger",
        value=str(path),
        next_step="move the file away; a new ledger is made and evidence is found again",
    )


def open_file(path: Path, key: Key) -> LedgerFile:
    """The ledger at `path`, made if nothing is there; in memory where nothing can be written.

    Raises LedgerError for a file that is something else or damaged; it is left as it is.
    """
    try:
        if not os.path.lexists(path):
            _make(path)
        _check_header(path)
    except (OSError, sqlite3.OperationalError) as error:
        return LedgerFile(None, key, f"no ledger: {path} cannot be written ({error})")
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return LedgerFile(None, key, f"no ledger: {path} is read-only")
    try:
        return LedgerFile(path, key)
    except LedgerError as error:
        if not _passing(error):
            raise
        return LedgerFile(None, key, f"no ledger: {path} cannot be used ({error.__cause__})")


def _check_header(path: Path) -> None:
    if not path.is_file():
        raise foreign(path, "it is no regular file")
    with path.open("rb") as file:
        header = file.read(100)
    size = path.stat().st_size
    if size == 0:
        raise foreign(path, "it is empty")
    if not header.startswith(_MAGIC) or len(header) < 100:
        raise foreign(path, "it is no SQLite database")
    application = int.from_bytes(header[68:72], "big")
    if application != APPLICATION_ID:
        raise foreign(path, "it belongs to another application")
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    log = path.with_name(path.name + "-wal")
    if size < page * pages and not (log.exists() and log.stat().st_size):
        raise foreign(path, f"it is cut off: {size} of {page * pages} bytes")


def _make(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    ignore = path.parent / ".gitignore"
    if path.parent.name == ".refute" and not ignore.exists():
        ignore.write_text("*\n", encoding="ascii")
    aside = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        database = sqlite3.connect(str(aside), isolation_level=None)
        try:
            _create(database)
            database.execute("PRAGMA journal_mode = WAL")
        finally:
            database.close()
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        for suffix in ("", "-wal", "-shm"):
            aside.with_name(aside.name + suffix).unlink(missing_ok=True)


def _create(database: sqlite3.Connection) -> None:
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    for statement in _SCHEMA.values():
        database.execute(statement)
