"""Imports SQLite and SHA-1 from the modules that `sqlite3` and `hashlib` are built on. These two would also import
datetime and OpenSSL, which takes a quarter of the whole time. If a Python lacks the smaller modules, the usual ones
are imported."""

try:
    from _sha1 import sha1  # type: ignore[import-not-found,unused-ignore]
    from _sqlite3 import Connection, connect
    from _sqlite3 import Error as DatabaseError
except ImportError:
    from hashlib import sha1
    from sqlite3 import Connection, connect
    from sqlite3 import Error as DatabaseError

__all__ = ["Connection", "DatabaseError", "connect", "hash_bytes"]


def hash_bytes(data: bytes) -> str:
    """Returns 40 hex digits that name some bytes; not for security."""
    digits: str = sha1(data, usedforsecurity=False).hexdigest()
    return digits
