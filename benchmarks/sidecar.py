"""How fast the sidecar starts and answers beside a bare pygls server, alone and while a sync runs, and what it weighs.

    python benchmarks/sidecar.py [--memories 10000] [--hovers 10000] [--json FILE]

Both servers run in the same minute and are asked in turns, so that a busy machine is busy for both. The bare server
answers with as many lenses.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _editor_client import SERVER, Client, wait_until
from lerim.lsp.protocol.core import MEMORIES_CHANGED, MEMORY_ACT, MEMORY_FOR_FILE, SYNC, SYNC_PROGRESS
from lerim.memory.record import Evidence, MemoryRecord, render_record
from table import Row, report_rows

ECHO = """
import sys
from lsprotocol import types as t
from pygls.lsp.server import LanguageServer
server = LanguageServer("echo", "1")
@server.feature(t.TEXT_DOCUMENT_HOVER)
async def hover(params: t.HoverParams):
    return t.Hover(t.MarkupContent(t.MarkupKind.Markdown, "x"))
@server.feature(t.TEXT_DOCUMENT_CODE_LENS, t.CodeLensOptions())
async def lens(params: t.CodeLensParams):
    place = t.Range(t.Position(0, 0), t.Position(0, 0))
    return [t.CodeLens(place, t.Command("x", "x")) for _ in range(int(sys.argv[1]))]
server.start_io()
"""
FILES = 200
ROUNDS = 9
BUSY = 400
SWAPPED = 100


def make_repository(root: Path, memories: int, draw: random.Random) -> None:
    """A repository of `FILES` files with that many memories about them, and one symbol in each that none is about."""
    (root / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for number in range(FILES):
        names = [f"symbol_{number}_{one}" for one in range(memories // FILES + 1)]
        text = "import os\n\n" + "".join(f"def {name}(value):\n    return value\n\n\n" for name in names)
        (root / "src" / f"module_{number}.py").write_text(text, encoding="utf-8")
    words = ("we", "keep", "the", "store", "small", "because", "a", "loader", "reads", "it", "at", "every", "start")
    for number in range(memories):
        symbol = f"symbol_{number % FILES}_{number // FILES}"
        write_memory(root, number, f"src/module_{number % FILES}.py#{symbol}", " ".join(draw.choices(words, k=60)))


def write_memory(root: Path, number: int, reference: str, body: str) -> Path:
    kind = ("decisions", "learnings")[number % 2]
    when = datetime(2026, 1 + number % 12, 1 + number % 28, tzinfo=UTC)
    record = MemoryRecord(
        id=f"20260101-memory-{number}",
        primitive="decision" if kind == "decisions" else "learning",
        title=f"Memory number {number} says what to do",
        created=when,
        updated=when,
        source="claude:11111111-2222-3333-4444-555555555555#0123456789ab",
        confidence=0.8,
        tags=("benchmark",),
        body=body,
        kind=None if kind == "decisions" else "pitfall",
        references=(reference,),
        evidence=(Evidence("do it like this", "0123456789ab", "user"),),
    )
    path = root / ".lerim" / "memory" / kind / f"{record.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    return path


def make_sessions(folder: Path, root: Path, sessions: int) -> None:
    """Sessions that keep a sync at work."""
    place = folder / "projects" / "".join(c if c.isalnum() else "-" for c in str(root))
    place.mkdir(parents=True)
    for number in range(sessions):
        with (place / f"{number:08d}-0000-4000-8000-000000000000.jsonl").open("w", encoding="utf-8") as file:
            for turn in range(200):
                role = "user" if turn % 2 == 0 else "assistant"
                words = f"Turn {turn}: we decided to use src/module_{turn}.py because `load` was slow. " * 20
                content: Any = words if role == "user" else [{"type": "text", "text": words}]
                record = {
                    "type": role,
                    "uuid": f"{number:08x}-{turn:04x}-4000-8000-000000000000",
                    "parentUuid": None,
                    "sessionId": f"{number:08d}-0000-4000-8000-000000000000",
                    "cwd": str(root),
                    "timestamp": f"2026-03-01T10:{turn // 60:02}:{turn % 60:02}.000Z",
                    "version": "2.1.100",
                    "message": {"role": role, "content": content, "id": f"m{number}-{turn}"},
                }
                file.write(json.dumps(record) + "\n")


def start_rows(ours: list[str], echo: list[str], environ: dict[str, str], root: Path) -> list[Row]:
    times: dict[str, list[float]] = {"ours": [], "echo": []}
    for _ in range(ROUNDS):
        for name, command in (("echo", echo), ("ours", ours)):
            client = Client(command, environ, root)
            times[name].append(client.start_ms)
            client.process.kill()
            client.process.wait()
    mine, bare = statistics.median(times["ours"]), statistics.median(times["echo"])
    return [
        ("start to answered initialize, bare pygls server", bare, None, "ms"),
        ("start to answered initialize, sidecar", mine, None, "ms"),
        ("start, ratio", mine / bare, 1.25, "x"),
    ]


def opened(client: Client, root: Path) -> list[str]:
    uris = []
    for number in range(FILES):
        path = root / "src" / f"module_{number}.py"
        text = path.read_text(encoding="utf-8")
        item = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
        client.send("textDocument/didOpen", {"textDocument": item})
        uris.append(path.as_uri())
    return uris


def question(uri: str, number: int) -> Any:
    return {"textDocument": {"uri": uri}, "position": {"line": 2 + 4 * number, "character": 6}}


def latency(ours: Client, echo: Client, uris: list[str], rounds: int, memories: int) -> dict[str, list[float]]:
    """As a person reads: a file comes into view (the editor asks for lenses), then its symbols are hovered."""
    times: dict[str, list[float]] = {"hover": [], "echo hover": [], "lens": [], "echo lens": []}
    each = max(1, memories // FILES)
    for number in range(rounds):
        uri = uris[number // each % FILES]
        asked = [("hover", "textDocument/hover", question(uri, number % each))]
        if number % each % 5 == 0:
            asked.insert(0, ("lens", "textDocument/codeLens", {"textDocument": {"uri": uri}}))
        for name, method, params in asked:
            for client, prefix in ((echo, "echo "), (ours, "")):
                spent, result = client.timed(method, params)
                assert result, f"nothing at {params}"
                times[prefix + name].append(spent)
    return times


def cold_rows(ours: Client, echo: Client, uris: list[str], memories: int) -> list[Row]:
    """The worst case: every hover in another file, about a memory that was not read before."""
    mine: list[float] = []
    bare: list[float] = []
    for number in range(1000):
        asked = question(uris[number % FILES], number // FILES % max(1, memories // FILES))
        bare.append(echo.timed("textDocument/hover", asked)[0])
        mine.append(ours.timed("textDocument/hover", asked)[0])
    ratio = percentile(mine, 0.5) / percentile(bare, 0.5)
    what = "hover p50, its memory not read before"
    return [(what, percentile(mine, 0.5), 2.0, "ms"), (f"{what}, ratio", ratio, None, "x")]


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def latency_rows(times: dict[str, list[float]], when: str, *, quiet: bool) -> list[Row]:
    rows: list[Row] = []
    for name in ("hover", "lens"):
        mine, bare = times[name], times[f"echo {name}"]
        for label, share, limit in (("p50", 0.5, 2.0), ("p99", 0.99, 10.0)):
            rows.append((f"{name} {label}, {when}", percentile(mine, share), limit if quiet else None, "ms"))
            rows.append((f"{name} {label}, {when}, echo", percentile(bare, share), None, "ms"))
        ratio = percentile(mine, 0.5) / percentile(bare, 0.5)
        rows.append((f"{name} p50, {when}, ratio", ratio, None if quiet else 2.0, "x"))
    return rows


def hover(client: Client, root: Path, file: int, symbol: int = 0) -> str:
    """What is shown about a symbol of a file; "" for nothing."""
    uri = (root / "src" / f"module_{file}.py").as_uri()
    found = client.ask("textDocument/hover", question(uri, symbol))
    return found["contents"]["value"] if found else ""


def tell_changed(client: Client, paths: Sequence[Path]) -> None:
    """Tells of changed or removed files, in parts, as an editor does after a checkout."""
    events = [{"uri": path.as_uri(), "type": 2 if path.exists() else 3} for path in paths]
    for at in range(0, len(events), 25):
        client.send("workspace/didChangeWatchedFiles", {"changes": events[at : at + 25]})


def time_edit(client: Client, root: Path, number: int) -> float:
    """A memory file is written and the editor says so: the milliseconds until a hover shows it."""
    path = write_memory(root, 0, "src/module_0.py#symbol_0_0", f"Edit number {number} is here")
    began = time.perf_counter()
    tell_changed(client, [path])
    wait_until("a hover that shows an edit", lambda: f"Edit number {number} is" in hover(client, root, 0))
    return (time.perf_counter() - began) * 1000


def verify_memory(client: Client, root: Path) -> None:
    """Marks the memory of the first file as still true, so that the code as it is now is what it is compared with."""
    uri = (root / "src" / "module_0.py").as_uri()
    [memory] = client.ask(MEMORY_FOR_FILE, {"uri": uri, "line": 2, "character": 6})["memories"]
    acted = client.ask(MEMORY_ACT, {"id": memory["handle"], "action": "verify"})
    if not acted["ok"]:
        sys.exit(f"the memory could not be verified: {acted['message']}")


def time_drift(client: Client, root: Path, text: str, *, drifted: bool) -> float:
    """A source file is saved with this text: the milliseconds until a hover marks its memory as drifted, or no more."""
    path = root / "src" / "module_0.py"
    path.write_text(text, encoding="utf-8")
    began = time.perf_counter()
    client.send("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})
    what = "a hover that marks a drifted memory" if drifted else "a hover that marks a memory no more"
    wait_until(what, lambda: ("Drifted since" in hover(client, root, 0)) == drifted)
    return (time.perf_counter() - began) * 1000


def time_checkout(client: Client, root: Path, memories: int, number: int) -> float:
    """A checkout swaps memories and brings or removes one: the milliseconds from the last event until hovers say so."""
    body, spare, brings = f"As on branch {number} it is", memories // FILES, number % 2 == 0
    paths = [write_memory(root, one, f"src/module_{one}.py#symbol_{one}_0", body) for one in range(SWAPPED)]
    extra = write_memory(root, memories, f"src/module_0.py#symbol_0_{spare}", body)
    if not brings:
        extra.unlink()
    tell_changed(client, [extra, *paths])
    began = time.perf_counter()
    seen = (0, SWAPPED // 2, SWAPPED - 1)
    wait_until("hovers of the other branch", lambda: all(body in hover(client, root, one) for one in seen))
    wait_until("a hover of the one it brings or removes", lambda: bool(hover(client, root, 0, spare)) == brings)
    return (time.perf_counter() - began) * 1000


def change_rows(client: Client, root: Path, memories: int) -> list[Row]:
    edits = [time_edit(client, root, number) for number in range(20)]
    verify_memory(client, root)
    text = (root / "src" / "module_0.py").read_text(encoding="utf-8")
    texts = (text.replace("return value", "return -value", 1), text)
    saves = [time_drift(client, root, texts[number % 2], drifted=number % 2 == 0) for number in range(20)]
    checkouts = [time_checkout(client, root, memories, number) for number in range(10)]
    swapped = f"{SWAPPED} of {memories:,} memory files swapped by a checkout, from the last event: worst of 10"
    return [
        ("memory file edited, until a hover shows it: worst of 20", max(edits), 100.0, "ms"),
        ("source edited and saved, until a hover marks its memory: worst of 20", max(saves), 100.0, "ms"),
        (swapped, max(checkouts), 100.0, "ms"),
    ]


def resident(pid: int) -> float:
    """MB of a process, where the system says so."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def busy_rows(ours: Client, echo: Client, uris: list[str], root: Path, memories: int) -> list[Row]:
    number = next(ours.ids)
    ours.send(SYNC, {"root": root.as_uri()}, number)
    ours.until(SYNC_PROGRESS)
    times = latency(ours, echo, uris, BUSY, memories)
    still = not any(told["stage"] == "done" for told in ours.told[SYNC_PROGRESS])
    ours.send("$/cancelRequest", {"id": number})
    rows = latency_rows(times, "while a sync runs", quiet=False)
    return [*rows, ("the sync ran until the last question (1: yes)", float(still), None, "")]


def measure(memories: int, hovers: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "repo"
        make_repository(root, memories, random.Random(7))
        make_sessions(base / "claude", root, 400)
        path = os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))
        ours_too = {"LERIM_HOME": str(base / "lerim"), "CLAUDE_CONFIG_DIR": str(base / "claude"), "PYTHONPATH": path}
        environ = {**os.environ, "HOME": str(base), **ours_too}
        mine = [sys.executable, "-P", "-X", "utf8", "-m", "lerim", "lsp"]
        bare = [sys.executable, "-P", "-c", ECHO, str(memories // FILES + 1)]
        rows = start_rows(mine, bare, environ, root)
        ours = Client(mine, environ, root)
        ours.until(MEMORIES_CHANGED)
        rows.append((f"start to {memories:,} memories read", (time.perf_counter() - ours.began) * 1000, None, "ms"))
        echo = Client(bare, environ, root)
        uris = opened(ours, root)
        opened(echo, root)
        rows.append(
            ("first hover of the process", ours.timed("textDocument/hover", question(uris[0], 0))[0], None, "ms")
        )
        rows += cold_rows(ours, echo, uris, memories)
        rows += latency_rows(latency(ours, echo, uris, hovers, memories), "alone", quiet=True)
        rows.append((f"resident after {hovers:,} hovers", resident(ours.process.pid), 60.0, "MB"))
        rows.append(("resident, echo", resident(echo.process.pid), None, "MB"))
        rows += busy_rows(ours, echo, uris, root, memories)
        rows += change_rows(ours, root, memories)
        ours.stop()
        echo.process.kill()
        echo.process.wait()
        return rows


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--hovers", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    report_rows(measure(given.memories, given.hovers), given.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
