"""The installed hook program, called as agents call it, in a repository with memories."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hang import HANG
from lerim.hook import find_hook_index, install_hook_program, refresh_hook_index
from lerim.memory import MemoryRecord, render_record
from lerim.memory.record import FOLDERS, LearningKind, Primitive
from lerim.paths import Home
from lerim.project import Project
from warm_python import warm_python

DAY = datetime(2026, 3, 2, 10, tzinfo=UTC)
AGENT_VARIABLES = ("CLAUDECODE", "COPILOT_CLI", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR")


def write_memory(
    folder: Path,
    title: str,
    body: str = "",
    *,
    primitive: Primitive = "decision",
    kind: LearningKind | None = None,
    references: tuple[str, ...] = (),
    name: str = "",
    **more: Any,
) -> Path:
    """Writes a memory's file as git would bring it; returns its path."""
    name = name or "20260302-" + "-".join(word.strip(".,").lower() for word in title.split()[:4])
    record = MemoryRecord(
        *(name, primitive, title, DAY, DAY, "manual", 0.8, (), body), kind=kind, references=references, **more
    )
    path = folder / FOLDERS[primitive] / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), "utf-8")
    return path


def write_memories(folder: Path) -> None:
    """Writes the memories that the recorded answers tell of."""
    write_memory(folder, "Prices are Decimal, never float", "Floats lost cents.", references=("src/app.py#load",))
    write_memory(
        folder,
        "Store.save runs inside the lock",
        "Two writers lost rows.",
        primitive="learning",
        kind="pitfall",
        references=("src/app.py#Store",),
    )
    write_memory(
        folder,
        "uv sync fails behind the proxy until UV_NATIVE_TLS is set",
        "Set UV_NATIVE_TLS=1.",
        primitive="learning",
        kind="friction",
    )
    write_memory(folder, "Which provider of currency rates do we use?", primitive="question")


def leave_out_refreshes(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """What an installation starts in the background, to make the index of the hooks, does nothing from now on: it takes
    half a second of processor time, and nobody waits for it. `folder` is for the program that takes Python's place."""
    program = folder / "python"
    program.write_text(
        '#!/bin/sh\ncase "$*" in *" hook-refresh "*) exit 0;; esac\n' + f'exec {shlex.quote(sys.executable)} "$@"\n'
    )
    program.chmod(0o700)
    patch.setattr(sys, "executable", str(program))


class HookProgram:
    """The program, installed in a home. It waits longer than it does for people, because a test machine may be busy."""

    def __init__(self, project: Project, home: Home) -> None:
        self.project = project
        self.home = home
        install_hook_program(home)
        starter = home.root / "bin" / "hook.py"
        starter.write_text(starter.read_text().replace("main(__file__, 0.3)", "main(__file__, 60)"))

    @property
    def folder(self) -> Path:
        return self.home.root / "run" / "hooks"

    @property
    def index(self) -> Path:
        return find_hook_index(self.project.root, self.home)

    @property
    def refreshed(self) -> Path:
        """Its time tells when the program last started a refresh in the background."""
        return self.index.with_suffix(".refresh")

    def refresh(self) -> None:
        """Makes the index anew. From then on the program starts no refresh by itself, as if it had a moment ago: it
        would end at some time, and mend or renew the index while a test looks at what the old one answers."""
        assert refresh_hook_index(self.project, self.home) == []
        self.refreshed.touch()
        os.utime(self.refreshed, (DAY.timestamp() * 2,) * 2)

    def refresh_as_a_process(self, root: Path) -> int:
        """Runs what the program starts in the background; returns the exit code."""
        command = [warm_python(), "-P", "-m", "lerim", "hook-refresh", str(root)]
        return subprocess.run(command, check=False, env=self.environ({})).returncode

    def start(self, named: str = "claude", environ: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self.home.root / "bin" / "hook"), named],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ(environ or {}),
            cwd=self.project.root,
        )

    def environ(self, more: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name not in AGENT_VARIABLES} | more

    def call(
        self, payload: dict[str, Any] | bytes, named: str = "claude", environ: dict[str, str] | None = None
    ) -> str:
        """Returns what the program prints; it must end with 0 and print no error."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        process = self.start(named, environ)
        out, err = process.communicate(data)
        assert (process.returncode, err) == (0, b"")
        return out.decode()

    def tell(self, event: str, session: str = "s1", **fields: Any) -> str:
        """Sends an event of Claude Code; returns the text it is given, "" for silence."""
        payload = {"session_id": session, "cwd": str(self.project.root), "hook_event_name": event, **fields}
        out = self.call(payload, environ={"CLAUDECODE": "1"})
        if not out:
            return ""
        own = json.loads(out)["hookSpecificOutput"]
        return str(own.get("additionalContext") or own["permissionDecisionReason"])

    def ask(self, prompt: str, session: str = "s1") -> str:
        return self.tell("UserPromptSubmit", session, prompt=prompt)

    def read(self, path: str = "src/app.py", session: str = "s1") -> str:
        arguments = {"file_path": str(self.project.root / path)}
        return self.tell("PostToolUse", session, tool_name="Read", tool_input=arguments, tool_response={})

    def edit(self, path: str = "src/app.py", session: str = "s1", call: str = "t1") -> str:
        arguments = {"file_path": str(self.project.root / path), "old_string": "a", "new_string": "b"}
        return self.tell("PreToolUse", session, tool_name="Edit", tool_input=arguments, tool_use_id=call)

    def waits_for(self, is_so: Callable[[], bool]) -> bool:
        """Waits until something is so that another process does; returns whether it is in the end."""
        deadline = time.monotonic() + HANG
        while not (found := is_so()) and time.monotonic() < deadline:
            threading.Event().wait(0.02)
        return found

    def log(self) -> str:
        path = self.folder / "hook.log"
        return path.read_text() if path.exists() else ""
