"""What syncs with a model are tested with: a server that answers, a session the rules find nothing in, the real job."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from chat_server import KEY, Act, Chat, chat, item
from claude_lines import Fields, prompt, reply, text
from desk import Desk
from hang import HANG
from lerim.jobs.sync_context import SyncOptions
from lerim.models.editor import EditorBridge
from lerim.models.model import Model
from lerim.sessions.catalog.catalog import Catalog
from warm_python import warm_python

SERVER = Path(__file__).resolve().parents[2] / "server"


@contextmanager
def model(desk: Desk, *acts: Act, timeout: float = 20, summaries: bool = False, **settings: object) -> Iterator[Chat]:
    """A server, and settings that name it: for candidates alone, or for `summaries` alone."""
    with chat(*acts) as server:
        lines = {"provider": "openai", "model": "m", "base_url": server.url, "timeout": timeout} | settings
        desk.home.config.parent.mkdir(parents=True, exist_ok=True)
        body = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
        one, other = ("summarize", "extract") if summaries else ("extract", "summarize")
        text_ = f'[roles.{one}]\n{body}[roles.{other}]\nprovider = "none"\n'
        desk.home.config.write_text(text_, encoding="utf-8")
        yield server


def story(desk: Desk, name: str = "s1", cents: str = "cents") -> Path:
    """A session the rules find nothing in."""
    records: list[Fields] = [
        prompt(f"In src/app.py amounts of `Money` are {cents} by agreement with billing, whatever the form says"),
        reply(f"{name}-a", text("Noted: `Money` holds integers in src/app.py.")),
        prompt("ok"),
        reply(f"{name}-b", text("Anything else?")),
    ]
    return desk.session(name, *records)


CENTS = item(
    "`Money` holds cents in `src/app.py`",
    "amounts of `Money` are cents by agreement with billing",
    references=["src/app.py"],
    body="`Money` in `src/app.py` holds cents, as agreed with billing.",
)


def start_job(desk: Desk, *arguments: str, python: str = "") -> subprocess.Popen[bytes]:
    """The real job process. Its input stays open: its end would mean that the parent died. `python`: what runs a job
    that is killed, since what `warm_python()` runs ends a little after it."""
    command = [python or warm_python(), "-P", "-X", "utf8", "-m", "lerim", "worker", "sync", "--repo", str(desk.repo)]
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *arguments], stdin=pipe, stdout=pipe, env=environ())


def job(desk: Desk, *arguments: str) -> list[dict[str, Any]]:
    """The lines of the real job process, which ends well."""
    with start_job(desk, *arguments) as process:
        assert process.stdout
        out = process.stdout.read()
        assert process.wait(HANG) == 0
    return [json.loads(line) for line in out.splitlines()]


def environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SERVER)}


def reported(desk: Desk, bridge: EditorBridge | None = None) -> dict[str, Any]:
    """What a sync in this process reports, as a job would: loading what a model needs takes a process two seconds."""
    report: dict[str, Any] = msgspec.to_builtins(desk.sync(SyncOptions(explicit=True), bridge=bridge))
    assert KEY not in json.dumps(report)
    return report


def told(desk: Desk) -> dict[str, Any]:
    """What the real job process reports."""
    lines = job(desk, "--explicit")
    assert KEY not in json.dumps(lines)
    report: dict[str, Any] = lines[-1]["report"]
    return report


def codes(report: dict[str, Any]) -> list[str]:
    return [problem["code"] for problem in report["problems"]]


def model_jobs(desk: Desk) -> Counter[str]:
    with Catalog.open(desk.home) as catalog:
        return Counter(catalog.count_jobs_by_state(desk.place.project.key, "model"))


def paid(name: str = "openai/gpt-5-nano", base_url: str = "https://openrouter.ai/api/v1", **changes: object) -> Model:
    """A model that is paid for by its tokens; `base_url` may make it one of this machine."""
    fields: dict[str, object] = {
        "provider": "openrouter",
        "name": name,
        "base_url": base_url,
        "key_variable": "OPENROUTER_API_KEY",
        "timeout": 1.0,
        "max_window_tokens": 1_000,
        "window_overlap_tokens": 0,
        "key": "k",
    }
    return Model(**(fields | changes))  # type: ignore[arg-type]
