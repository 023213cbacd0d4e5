"""Every module can be the first one imported: the editor, the worker and the terminal each begin elsewhere."""

import subprocess
import sys
from pathlib import Path

SESSIONS = Path(__file__).resolve().parents[2] / "server" / "lerim" / "sessions"
CODE = """
import importlib, sys
for name in sys.argv[1:]:
    for known in [one for one in sys.modules if one.startswith("lerim")]:
        del sys.modules[known]
    importlib.import_module(name)
"""


def test_each_module_of_the_sessions_can_be_imported_first() -> None:
    names = [f"lerim.sessions.{path.stem}" for path in sorted(SESSIONS.glob("*.py")) if path.stem != "__init__"]
    done = subprocess.run([sys.executable, "-c", CODE, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
