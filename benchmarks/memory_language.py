"""How fast the sidecar answers in memory files: completion, hovers, definitions, references and renames.

    python benchmarks/memory_language.py [--memories 10000] [--json FILE]

Every memory refers to one symbol, and links to the memory before it. Medians and the slowest of a hundred requests,
each in another memory file that was opened and checked shortly before. Of hovers, the processor time is measured, too,
beside that of a server that does nothing else: it says more than the time on a busy machine.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _editor_client import SERVER, Client
from lerim.lsp.protocol.core import MEMORIES_CHANGED
from memory_checks import wait_for_version
from sidecar import ECHO, FILES, make_repository, percentile
from table import Row, report_rows

REQUESTS = 100
SECONDS_BEFORE_ASKING = 0.1
"""A person asks later than that: VS Code itself waits for 0.3 s before it asks for a hover."""


def memory_path(root: Path, number: int) -> Path:
    """The file of a memory of `make_repository`."""
    return root / ".lerim/memory" / ("decisions", "learnings")[number % 2] / f"20260101-memory-{number}.md"


def link_memories(root: Path, memories: int) -> None:
    """Adds to each memory a link to the one before it."""
    for number in range(1, memories):
        path = memory_path(root, number)
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("evidence:", f"related: [20260101-memory-{number - 1}]\nevidence:", 1), encoding="utf-8"
        )


def ask_often(
    client: Client, root: Path, ask: Callable[[str, list[str]], tuple[str, Any]]
) -> tuple[list[float], list[float]]:
    """The milliseconds of one request in each of many memory files, and the processor time of each, if it is known.
    `ask` makes it from the file's URI and lines."""
    times: list[float] = []
    processor: list[float] = []
    for number in range(1, REQUESTS + 1):
        path = memory_path(root, number)
        text = path.read_text(encoding="utf-8")
        item = {"uri": path.as_uri(), "languageId": "markdown", "version": 1, "text": text}
        client.send("textDocument/didOpen", {"textDocument": item})
        client.ask("textDocument/foldingRange", {"textDocument": {"uri": path.as_uri()}})  # as editors do at once
        wait_for_version(client, path.as_uri(), 1)
        time.sleep(SECONDS_BEFORE_ASKING)
        method, params = ask(path.as_uri(), text.split("\n"))
        before = client.processor_ms()
        spent, result = client.timed(method, params)
        after = client.processor_ms()
        assert result, f"nothing at {params}"
        times.append(spent)
        if before is not None and after is not None:
            processor.append(after - before)
        client.send("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    return times, processor


def bare_row(client: Client, root: Path) -> list[Row]:
    """The processor time of a hover of a server that does nothing but answer."""
    processor: list[float] = []
    asked = {"textDocument": {"uri": memory_path(root, 1).as_uri()}, "position": {"line": 0, "character": 0}}
    for _ in range(REQUESTS):
        time.sleep(SECONDS_BEFORE_ASKING)
        before = client.processor_ms()
        client.ask("textDocument/hover", asked)
        after = client.processor_ms()
        if before is not None and after is not None:
            processor.append(after - before)
    what = "hover of a bare pygls server, processor time, p50"
    return [(what, percentile(processor, 0.5), None, "ms")] if processor else []


def at(lines: list[str], key: str, character: int) -> dict[str, int]:
    """The place on the line of a key, or below it if `character` is that of an item."""
    line = next(number for number, line in enumerate(lines) if line.startswith(f"{key}:"))
    return {"line": line + (key == "references"), "character": character}


def on(method: str, key: str, character: int, **more: Any) -> Callable[[str, list[str]], tuple[str, Any]]:
    """Makes requests at the value of a key."""

    def ask(uri: str, lines: list[str]) -> tuple[str, Any]:
        return method, {"textDocument": {"uri": uri}, "position": at(lines, key, character), **more}

    return ask


def rename_row(client: Client, uris: Sequence[str], what: str, budget: float | None) -> Row:
    """How long the edit takes that belongs to files or folders about to be renamed."""
    files = [{"oldUri": uri, "newUri": uri.replace("/src", "/lib").replace("-8.md", "-eight.md")} for uri in uris]
    began = time.perf_counter()
    edit = client.ask("workspace/willRenameFiles", {"files": files})
    spent = (time.perf_counter() - began) * 1000
    return (f"{what}: {len(edit['changes']):,} memories edited", spent, budget, "ms")


def measure(memories: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "repo"
        make_repository(root, memories, random.Random(7))
        link_memories(root, memories)
        path = os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))
        environ = {**os.environ, "HOME": str(base), "LERIM_HOME": str(base / "lerim"), "PYTHONPATH": path}
        client = Client([sys.executable, "-P", "-X", "utf8", "-m", "lerim", "lsp"], environ, root)
        client.until(MEMORIES_CHANGED)
        context = {"includeDeclaration": True}
        asked = (
            ("hover on an id", on("textDocument/hover", "related", 20), 2.0, 10.0),
            ("hover on a symbol", on("textDocument/hover", "references", 28), 2.0, 10.0),
            ("definition of a symbol", on("textDocument/definition", "references", 28), None, None),
            ("references of a memory", on("textDocument/references", "id", 8, context=context), 10.0, 50.0),
            ("references of a symbol", on("textDocument/references", "references", 28, context=context), 10.0, 50.0),
            ("completion of ids, nothing typed", on("textDocument/completion", "related", 10), 50.0, 100.0),
            ("completion of ids, 16 characters typed", on("textDocument/completion", "related", 26), 50.0, 100.0),
        )
        bare = Client([sys.executable, "-P", "-c", ECHO, "1"], environ, root)
        rows = bare_row(bare, root)
        bare.stop()
        for what, ask, middle, most in asked:
            times, processor = ask_often(client, root, ask)
            rows.append((f"{what}, p50", percentile(times, 0.5), middle, "ms"))
            rows.append((f"{what}, slowest of {REQUESTS}", max(times), most, "ms"))
            if processor and "hover" in what:
                rows.append((f"{what}, processor time, p50", percentile(processor, 0.5), middle, "ms"))
                rows.append((f"{what}, processor time, slowest", max(processor), most, "ms"))
        spent = [client.timed("workspace/symbol", {"query": f"number {number}"})[0] for number in range(20)]
        rows.append(("memories by title (workspace/symbol), p50", percentile(spent, 0.5), 50.0, "ms"))
        files = [(root / "src" / f"module_{number}.py").as_uri() for number in range(20)]
        rows.append(rename_row(client, files[:1], f"rename one of {FILES} files", 200.0))
        rows.append(rename_row(client, files, f"rename 20 of {FILES} files", 3_000.0))
        rows.append(rename_row(client, [(root / "src").as_uri()], "rename their folder", None))
        rows.append(rename_row(client, [memory_path(root, 8).as_uri()], "rename a memory's file", 500.0))
        client.stop()
        return rows


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    report_rows(measure(given.memories), given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
