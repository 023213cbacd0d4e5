"""A second editor on a memory file: Neovim's own language client with a server process, as `lerim lsp` starts it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hang import HANG
from window import RECORD, server_environ, write_memory

SCRIPT = Path(__file__).resolve().parents[1] / "services" / "neovim.lua"
PITFALL = "20260802-close-files"
NEW = "20260802-close-everything"


def test_neovim_has_diagnostics_completion_definitions_renames_and_actions(
    repo: Path, tmp_path: Path, isolated: Path
) -> None:
    program = shutil.which("nvim")
    if program is None:
        pytest.skip("Neovim is not installed; scripts/install_system_packages.py installs it")
    linking = write_memory(repo, related=(PITFALL,))
    linked = write_memory(repo, id=PITFALL, title="Close what you open", related=(RECORD.id,))
    archived = write_memory(repo, id="20260804-over", title="Over")
    broken = write_memory(repo, id="20260803-broken", title="Broken")
    broken.write_text("no header\n", encoding="utf-8")
    before = {path: path.read_text(encoding="utf-8") for path in (linking, linked)}
    output = tmp_path / "seen.json"
    request = {
        "command": [sys.executable, "-P", "-m", "lerim", "lsp"],
        "root": str(repo),
        "broken": str(broken),
        "memory": str(linked),
        "link": RECORD.id,
        "typed": "keep",
        "id": PITFALL,
        "new_id": NEW,
        "archived": str(archived),
        "renamed": str(linked.with_name(f"{NEW}.md")),
        "output": str(output),
        "deadline": int(HANG / 4 * 1000),  # so that Neovim says what it waited for
    }
    environ = server_environ() | {"LERIM_NEOVIM": json.dumps(request), "NVIM_LOG_FILE": os.devnull}
    command = [program, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {SCRIPT}"]
    done = subprocess.run(command, check=False, env=environ, cwd=repo, timeout=HANG, capture_output=True, text=True)
    assert output.exists(), done.stderr
    seen = json.loads(output.read_text(encoding="utf-8"))
    assert "problem" not in seen, seen["problem"]
    assert "header" in seen["diagnostic"]
    assert seen["definition"] == str(linking)
    assert seen["completion"] == [RECORD.id]
    assert not linked.exists()
    assert (repo / ".lerim/memory/archived/decisions" / archived.name).exists()
    assert Path(str(request["renamed"])).read_text(encoding="utf-8") == before[linked].replace(PITFALL, NEW)
    assert linking.read_text(encoding="utf-8") == before[linking].replace(PITFALL, NEW)
