"""How long it takes to say what is wrong in an edited memory, and in all memories of a project.

    python benchmarks/memory_checks.py [--memories 10000] [--json FILE]

An edit is timed from the change of the document to its diagnostics. Each edited memory refers to a symbol, links to no
memory, and has AGENTS.md beside it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _editor_client import SERVER, Client
from lerim.check import check_project
from lerim.lsp.protocol.core import MEMORIES_CHANGED
from lerim.paths import Home
from lerim.project import locate_project
from sidecar import make_repository, percentile
from table import Row, report_rows

EDITS = 50
DIAGNOSTICS = "textDocument/publishDiagnostics"
RULES = "# Rules\n\n" + "".join(f"- Never call the loader number {number} by hand.\n" for number in range(200))


def time_edits(client: Client, root: Path) -> list[float]:
    """The milliseconds from each change of an open memory to its diagnostics."""
    path = root / ".lerim/memory/decisions/20260101-memory-8.md"
    text = path.read_text(encoding="utf-8").replace("evidence:", "related: [nowhere]\nevidence:", 1)
    document: dict[str, Any] = {"uri": path.as_uri(), "languageId": "markdown", "version": 1, "text": text}
    client.send("textDocument/didOpen", {"textDocument": document})
    wait_for_version(client, path.as_uri(), 1)
    times: list[float] = []
    for version in range(2, EDITS + 2):
        began = time.perf_counter()
        changes = [{"text": f"{text}\nMore {version}.\n"}]
        client.send(
            "textDocument/didChange",
            {"textDocument": {"uri": path.as_uri(), "version": version}, "contentChanges": changes},
        )
        wait_for_version(client, path.as_uri(), version)
        times.append((time.perf_counter() - began) * 1000)
    return times


def wait_for_version(client: Client, uri: str, version: int) -> None:
    client.until(DIAGNOSTICS, lambda one: one["uri"] == uri and one.get("version") == version)


def measure(memories: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "repo"
        make_repository(root, memories, random.Random(7))
        (root / "AGENTS.md").write_text(RULES, encoding="utf-8")
        path = os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))
        environ = {**os.environ, "HOME": str(base), "LERIM_HOME": str(base / "lerim"), "PYTHONPATH": path}
        client = Client([sys.executable, "-P", "-X", "utf8", "-m", "lerim", "lsp"], environ, root)
        client.until(MEMORIES_CHANGED)
        times = time_edits(client, root)
        client.stop()
        home = Home(base / "lerim")
        project = locate_project(root, home)
        assert project is not None
        began = time.perf_counter()
        report = check_project(project, home, environ)
        spent = time.perf_counter() - began
        assert report.memory_count == memories
        return [
            (f"diagnostics after an edit at {memories:,} memories, p50", percentile(times, 0.5), 50.0, "ms"),
            (f"diagnostics after an edit, slowest of {EDITS}", max(times), None, "ms"),
            (f"check of a project with {memories:,} memories", spent, None, "s"),
        ]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    report_rows(measure(given.memories), given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
