"""The secret that authenticates the ledger's rows.

It lies in the user's state directory, mode 0600, outside every judged tree and every worker's
filesystem, so that a change under test cannot write its own evidence.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from pathlib import Path

from refute import plain
from refute.errors import LedgerError
from refute.plain import Plain

KEY_VARIABLE = "REFUTE_KEY_FILE"
_SIZE = 32


def key_path() -> Path:
    """Where the key lies: `$REFUTE_KEY_FILE`, or `refute/key` in `$XDG_STATE_HOME`."""
    named = os.environ.get(KEY_VARIABLE)
    if named:
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "refute" / "key"


class Key:
    """A secret and what is derived from it. lasting: whether the next run will have it too."""

    def __init__(self, secret: bytes, *, lasting: bool) -> None:
        self._secret = secret
        self.lasting = lasting

    def mac(self, row: Plain) -> str:
        """Hex HMAC-SHA256 over the row's canonical text."""
        return hmac.new(self._secret, plain.dumps(row).encode(), hashlib.sha256).hexdigest()

    def authentic(self, row: Plain, mac: object) -> bool:
        """Whether `mac` was made for exactly this row with this key."""
        return type(mac) is str and hmac.compare_digest(self.mac(row), mac)

    def seed(self, text: str) -> int:
        """A 63-bit seed that whoever lacks the key cannot foresee."""
        raw = hmac.new(self._secret, b"seed/" + text.encode(), hashlib.sha256).digest()
        return int.from_bytes(raw[:8], "big") >> 1


def read_key(path: Path | None = None) -> Key:
    """The user's key, made on first use; one for this run only where it cannot be kept.

    Raises LedgerError for a file that others can read or that holds no key.
    """
    place = path or key_path()
    try:
        if not place.exists():
            _make(place)
        return _load(place)
    except OSError:
        return Key(secrets.token_bytes(_SIZE), lasting=False)


def _load(place: Path) -> Key:
    facts = place.stat()
    if not stat.S_ISREG(facts.st_mode) or facts.st_mode & 0o077:
        raise LedgerError(
            f"the ledger's key {place} can be read by others",
            thing=str(place),
            value=oct(facts.st_mode & 0o777),
            next_step=f"chmod 600 {place}; delete it if somebody may have read it",
        )
    secret = place.read_bytes()
    if len(secret) != _SIZE:
        raise LedgerError(
            f"{place} holds {len(secret)} bytes, not a key of {_SIZE}",
            thing=str(place),
            next_step="move the file away; a new key is made and old evidence is found again",
        )
    return Key(secret, lasting=True)


def _make(place: Path) -> None:
    """Written aside and linked, so that two first runs agree on one key."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = place.with_name(f"{place.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_SIZE))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(aside, place)
        except FileExistsError:
            return
    finally:
        aside.unlink(missing_ok=True)
