"""Measures `lerim mcp`: how long an agent waits for it at its start, its size, and how fast it recalls memories.

    python benchmarks/mcp_server.py [--memories 10000] [--json FILE]

The start is compared with `python -c pass`, taken in turn, because what a process costs differs between machines.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memory_search import percentile, write_memories

STARTS, CALLS = 30, 200
START_BUDGET_MS, SIZE_BUDGET_MB, RECALL_BUDGET_MS = 50.0, 15.0, 50.0
HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}


class Client:
    """A started server."""

    def __init__(self, repo: Path, environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lerim", "mcp"],
            cwd=repo,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def recall(self, number: int, question: str) -> dict[str, Any]:
        params = {"name": "recall", "arguments": {"question": question}}
        return self.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    def resident_mb(self) -> float:
        """MB of the process in memory; 0 where the system does not say."""
        pages = Path(f"/proc/{self.process.pid}/statm")
        return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if pages.exists() else 0.0

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def write_referenced_files(repo: Path) -> None:
    """Write the files and symbols that the memories refer to, so that the memories are fresh."""
    for memory in (repo / ".lerim" / "memory").rglob("*.md"):
        for path, symbol in re.findall(r"^  - (src/[^#\s]+)#?(\S*)", memory.read_text("utf-8"), re.MULTILINE):
            file = repo / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a", encoding="utf-8") as source:
                source.write(f"def {symbol or 'load'}():\n    return 1\n\n\n")


def milliseconds_since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


def start_rows(repo: Path, environ: dict[str, str]) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of the start."""
    bare: list[float] = []
    starts: list[float] = []
    size = 0.0
    for _ in range(STARTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-P", "-c", "pass"], check=True, env=environ)
        bare.append(milliseconds_since(start))
        start = time.perf_counter()
        client = Client(repo, environ)
        client.ask(HELLO)
        starts.append(milliseconds_since(start))
        size = client.resident_mb()
        client.close()
    return [
        ("python -c pass: p50", percentile(bare, 0.5), None, "ms"),
        ("mcp: start until `initialize` is answered: p50", percentile(starts, 0.5), START_BUDGET_MS, "ms"),
        ("mcp: start until `initialize` is answered: p95", percentile(starts, 0.95), None, "ms"),
        ("mcp: size then", size, SIZE_BUDGET_MB, "MB"),
    ]


def recall_rows(repo: Path, environ: dict[str, str], words: list[str]) -> list[tuple[str, float, float | None, str]]:
    """(what, measured, budget, unit) of recalling."""
    client = Client(repo, environ)
    client.ask(HELLO)
    start = time.perf_counter()
    client.recall(1, words[0])
    built = milliseconds_since(start)
    client.close()
    client = Client(repo, environ)
    client.ask(HELLO)
    start = time.perf_counter()
    client.recall(1, words[0])
    first = milliseconds_since(start)
    times = []
    for number in range(CALLS):
        start = time.perf_counter()
        answer = client.recall(number + 2, " ".join(words[3 * number : 3 * number + 3]))
        times.append(milliseconds_since(start))
        assert not answer["result"]["isError"], answer
    size = client.resident_mb()
    client.close()
    return [
        ("mcp: first recall ever, which builds the index", built, None, "ms"),
        ("mcp: first recall of a server", first, None, "ms"),
        ("mcp: recall: p50", percentile(times, 0.5), RECALL_BUDGET_MS, "ms"),
        ("mcp: recall: p95", percentile(times, 0.95), None, "ms"),
        ("mcp: size after that", size, None, "MB"),
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        repo = Path(temporary).resolve() / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        words = write_memories(repo / ".lerim" / "memory", options.memories, random.Random(7))
        write_referenced_files(repo)
        environ = os.environ | {"LERIM_HOME": str(Path(temporary) / "home")}
        rows = [*start_rows(repo, environ), *recall_rows(repo, environ, words)]
    print(f"{options.memories:,} memories\n")
    for what, measured, budget, unit in rows:
        limit = "" if budget is None else f"{budget:.0f} {unit}"
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        print(f"{what:55} {measured:9.2f} {unit} {limit:>10} {verdict}")
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("what", "measured", "budget", "unit"), row, strict=True)) for row in rows])
        )


if __name__ == "__main__":
    main()
