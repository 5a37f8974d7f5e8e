"""Texts on disk by key, in one SQLite file: shared by processes, bounded, whole after a kill, made anew where
it is damaged.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time

from saturate.errors import CacheError

VARIABLE = "SATURATE_CACHE"
"""The environment variable that names the folder of the cache; `off` turns it off."""
BYTES = 256 * 2**20
"""What is kept, in bytes; what was not used for the longest time goes first."""
PATIENCE = 5.0
"""Seconds to wait for another process."""
SCHEMA = 1
TABLE = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, used REAL, text BLOB)"


@dataclass(frozen=True)
class Cache:
    """A file of texts by key. Each access opens the file, and is one transaction: SQLite keeps it whole."""

    path: Path

    def get(self, key: str) -> str | None:
        """The text of a key, None where there is none or the file cannot be read.

        Raises `CacheError` where there is one that is damaged.
        """
        if not self.path.exists():
            return None
        try:
            with self._open() as db:
                row = db.execute("SELECT CAST(text AS BLOB) FROM kept WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    db.execute("UPDATE kept SET used = ? WHERE key = ?", (time(), key))
        except CacheError:  # a search finds it again, and says so where it cannot put it down
            return None
        try:
            return None if row is None else zlib.decompress(row[0] or b"").decode()
        except (zlib.error, UnicodeDecodeError) as error:
            raise self.unread(error) from error

    def unread(self, why: Exception) -> CacheError:
        """What to say of an entry that is damaged."""
        return CacheError(
            f"an entry of the cache {self.path} could not be read ({why}): it was searched again"
        )

    def put(self, key: str, text: str) -> str | None:
        """Keep a text; says so where the file was damaged and had to be made anew. Raises `CacheError`."""
        try:
            self._put(key, text)
        except CacheError as fault:
            if not _damage(fault.__cause__) or not self._move_aside():
                raise
            self._put(key, text)
            why = f"the cache {self.path} was damaged ({fault.__cause__})"
            return f"{why}: it was moved to {self._aside}, and a new one was begun"
        return None

    def _put(self, key: str, text: str) -> None:
        packed = zlib.compress(text.encode(), 1)
        with self._open() as db:
            db.execute("REPLACE INTO kept VALUES (?, ?, ?)", (key, time(), packed))
            db.execute(
                "DELETE FROM kept WHERE key IN (SELECT key FROM (SELECT key, SUM(LENGTH(text)) OVER "
                "(ORDER BY used DESC, key) AS total FROM kept) WHERE total > ?)",
                (BYTES,),
            )

    @property
    def _aside(self) -> Path:
        return self.path.with_name(f"{self.path.name}.damaged")

    def _move_aside(self) -> bool:
        """Give a damaged file another name, one process at a time; one that another made anew stays."""
        guard = self.path.with_name(f"{self.path.name}.guard")  # SQLite's lock goes with its process
        try:
            with closing(sqlite3.connect(guard, timeout=PATIENCE, isolation_level=None)) as lock:
                lock.execute("BEGIN EXCLUSIVE")
                if self._damaged():
                    journal = Path(f"{self.path}-journal")  # of the old file, not to be played into a new one
                    journal.unlink(missing_ok=True)
                    self.path.replace(self._aside)
        except (OSError, sqlite3.Error):
            return False
        return True

    def _damaged(self) -> bool:
        try:
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as db:
                db.execute(TABLE)
                db.execute("SELECT key, used, text FROM kept LIMIT 1").fetchone()
                return bool(db.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            return _damage(error)

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE)) as db, db:
                db.execute(TABLE)
                yield db
        except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
            raise CacheError(
                f"the cache {self.path} cannot be used: {error}; name another folder in {VARIABLE}, remove "
                f"the file, or set {VARIABLE}=off"
            ) from error


def _damage(error: BaseException | None) -> bool:
    """Whether it is the content of the file that SQLite complains of.

    Its complaint itself may hold damaged text; and statements that always stand are errors only to another
    table than ours.
    """
    damage = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, UnicodeDecodeError) or (isinstance(error, sqlite3.Error) and code in damage)


def default() -> Cache | None:
    """The cache of this user, None where it is turned off."""
    named = os.environ.get(VARIABLE, "")
    if named.lower() == "off":
        return None
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(named or Path(home) / "saturate") / f"results-{SCHEMA}.sqlite")
