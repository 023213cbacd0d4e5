"""Damage of every kind to files and databases of agents, chosen by a random generator that can be seeded."""

from __future__ import annotations

import os
import random
import re
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

HOSTILE = (
    b"null", b"true", b"-1", b"1e999", b"-1e999", b"9" * 19, b"9" * 400, b"9" * 5000, b"0.1e-400", b"[]", b"{}", b'""',
    b"[" * 3000, b'{"a":' * 3000, b"[[[[]]]]", b'"\xff\xfe\xc3("', b'"\\ud800"', b'"\\u0000"', b'"\xef\xbb\xbf"', b"",
    b'"' + b"x" * 100_000 + b'"', b'[null,{"type":null,"text":7},[],"x"]', b'{"type":["text"],"id":{}}',
    b'"9999-99-99T99:99:99Z"',
)  # fmt: skip
"""What stands in place of a value of JSON."""
_VALUE = re.compile(rb'"(?:[^"\\]|\\.){0,2000}"|-?\d+(?:\.\d+)?|\b(?:true|false|null)\b')
CELLS: tuple[object, ...] = (
    None, "", b"", b"\xff\xfe\x00", 1 << 62, -(1 << 63), float("inf"), 1.5e300, "9" * 5000, b"[" * 3000, "{}",
    "null", "\0",
)  # fmt: skip

Damage = Callable[[random.Random, Path], None]


def flip(rng: random.Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def cut(rng: random.Random, path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: rng.randrange(len(data))])


def blank(rng: random.Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((1, 100, 4096)))
    data[start:end] = rng.choice((b"\0", b"\xff", b"\n")) * (end - start)
    path.write_bytes(data)


def swap(rng: random.Random, path: Path) -> None:
    """Exchanges two blocks, as large as the pages of a database."""
    data = path.read_bytes()
    size = 4096 if len(data) > 8192 else 64
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    one, other = rng.randrange(len(blocks)), rng.randrange(len(blocks))
    blocks[one], blocks[other] = blocks[other], blocks[one]
    path.write_bytes(b"".join(blocks))


def twice(rng: random.Random, path: Path) -> None:
    data = path.read_bytes()
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((10, 300, 5000)))
    path.write_bytes(data[:end] + data[start:])


def value(rng: random.Random, path: Path) -> None:
    """Puts something else in place of some values of JSON, wherever they stand."""
    data = path.read_bytes()
    for _ in range(rng.choice((1, 1, 3))):
        found = list(_VALUE.finditer(data))
        if found:
            one = rng.choice(found)
            data = data[: one.start()] + rng.choice(HOSTILE) + data[one.end() :]
    path.write_bytes(data)


def cell(rng: random.Random, path: Path) -> None:
    """Puts something else into a cell of a database, or damages the JSON in it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.text_factory = bytes
        tables = [os.fsdecode(name) for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice(tables)
        column = os.fsdecode(rng.choice(db.execute(f"PRAGMA table_info({table})").fetchall())[1])
        rows = [row for (row,) in db.execute(f"SELECT rowid FROM {table}")]
        if not rows:
            return
        row = rng.choice(rows)
        (now,) = db.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        found = list(_VALUE.finditer(now)) if isinstance(now, bytes) else []
        given = rng.choice(CELLS)
        if len(found) > 1 and rng.random() < 0.7:
            one = rng.choice(found)
            given = now[: one.start()] + rng.choice(HOSTILE) + now[one.end() :]
        kind = rng.choice(("?", "CAST(? AS TEXT)"))
        with suppress(sqlite3.IntegrityError):
            db.execute(f"UPDATE {table} SET {column} = {kind} WHERE rowid = ?", (given, row))


def schema(rng: random.Random, path: Path) -> None:
    """Puts bytes that are no text into names and definitions of tables."""
    data = path.read_bytes()
    names = list(re.finditer(rb"(?:table|CREATE TABLE |index)\w{4,}", data[:65536]))
    one = rng.choice(names)
    at = rng.randrange(one.start(), one.end())
    path.write_bytes(data[:at] + rng.choice((b"\xff", b"\0", b"(", b"'")) + data[at + 1 :])


def folder(_: random.Random, path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(_: random.Random, path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def door(_: random.Random, path: Path) -> None:
    """A socket."""
    path.unlink()
    before = Path.cwd()
    os.chdir(path.parent)  # the names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("s")
        Path("s").rename(path.name)
    finally:
        os.chdir(before)


def device(_: random.Random, path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def loop(_: random.Random, path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def noise_beside(rng: random.Random, path: Path) -> None:
    """Garbage where SQLite keeps its logs."""
    start = rng.choice((b"", bytes.fromhex("377f0682002de218"), bytes.fromhex("d9d505f920a163d7"), bytes(40)))
    path.with_name(path.name + rng.choice(("-wal", "-journal", "-shm"))).write_bytes(start + rng.randbytes(100_000))


OF_FILES: tuple[Damage, ...] = (flip, cut, blank, swap, twice, value, value, value)
OF_DATABASES: tuple[Damage, ...] = (flip, cut, blank, swap, twice, cell, cell, cell, cell, schema, noise_beside)
INSTEAD: tuple[Damage, ...] = (folder, pipe, door, device, loop)
