"""The lock is what every install gets: it must be whole, small, and free of what we do not want on anyone's machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from hang import HANG

REPOSITORY = Path(__file__).resolve().parents[2]
LOCKED = REPOSITORY / "build" / "locked"
UNWANTED = {"gepa", "litellm", "openai"}
LIMIT_BYTES = 80_000_000
SEEDED = {"pip", "setuptools", "pkg_resources", "_distutils_hack"}  # venv's own, not ours

IMPORT_EVERYTHING = """
import importlib, importlib.util, json, pkgutil, sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("error")
import lerim, dspy
names = [found.name for found in pkgutil.walk_packages(lerim.__path__, "lerim.")]
names = [name for name in names if not name.startswith(("lerim.web.", "lerim.org.", "lerim.team."))]  # they need extras
names.remove("lerim.__main__")
for name in names:
    importlib.import_module(name)
print(json.dumps({
    "imported": len(names),
    "unwanted": [name for name in sys.argv[2:] if importlib.util.find_spec(name)],
}))
"""


@pytest.fixture(scope="session")
def locked() -> Path:
    """An environment with the lock and nothing else, made by plain pip; the journeys use the same one."""
    LOCKED.parent.mkdir(exist_ok=True)
    with FileLock(LOCKED.with_suffix(".lock")):
        command = [sys.executable, "scripts/make_environment.py", str(LOCKED), "requirements.lock"]
        subprocess.run(command, cwd=REPOSITORY, check=True, timeout=HANG)
    return LOCKED


def python_of(environment: Path) -> Path:
    return environment / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def test_every_module_imports_with_the_lock_alone_and_without_the_packages_we_keep_out(locked: Path) -> None:
    command = [str(python_of(locked)), "-c", IMPORT_EVERYTHING, str(REPOSITORY / "server"), *sorted(UNWANTED)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["unwanted"] == []
    package = REPOSITORY / "server" / "lerim"
    files = [path for path in package.rglob("*.py") if path.relative_to(package).parts[0] not in ("web", "org", "team")]
    assert seen["imported"] >= len(files) - 2


def test_the_installed_environment_stays_small(locked: Path) -> None:
    [site] = locked.glob("Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages")
    ours = [folder for folder in site.iterdir() if folder.name.split("-")[0] not in SEEDED]
    files = [path for top in ours for path in ([top] if top.is_file() else top.rglob("*"))]
    size = sum(path.stat().st_size for path in files if path.is_file())
    assert size <= LIMIT_BYTES, f"{size / 1e6:.0f} MB"


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("requirements.lock", 20),
        ("requirements-serve.lock", 20),
        ("requirements-org.lock", 20),
        ("requirements-meaning.lock", 3),  # what it needs besides requirements.lock
        ("requirements-dev.lock", 20),
    ],
)
def test_a_lock_holds_exact_hashed_versions_and_nothing_else(name: str, least: int) -> None:
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert len(entries) > least
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9._-]+==[\w.]+( ; [^\\]+)? \\(\n    --hash=sha256:[0-9a-f]{64}( \\)?)+", entry), (
            entry
        )
    packages = {entry.split("==")[0] for entry in entries}
    assert not packages & UNWANTED


def test_both_locks_agree_on_what_they_share() -> None:
    versions: list[dict[str, str]] = []
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = (REPOSITORY / name).read_text(encoding="utf-8").splitlines()
        versions.append({found[1]: found[2] for line in lines if (found := re.match(r"([\w.-]+)==(\S+)", line))})
    shared = versions[0].keys() & versions[1].keys()
    assert {name: versions[0][name] for name in shared} == {name: versions[1][name] for name in shared}
