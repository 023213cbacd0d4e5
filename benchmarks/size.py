"""Measures the disk space of an installed Lerim: the extension, and the environment that its first start makes.

    python benchmarks/size.py [--json FILE]

The environment is made with venv and pip, as a start without uv does, compiled files included; pip and setuptools,
which that start takes out again, do not count. The extension is `lerim.vsix`, unpacked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

REPOSITORY = Path(__file__).resolve().parents[1]
ENVIRONMENT = REPOSITORY / "build" / "locked"
INSTALLERS = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-")
BUDGET_MB = 80


def environment() -> int:
    """Bytes of all packages and of the environment around them."""
    files = (path for path in ENVIRONMENT.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if not taken_out(path))


def taken_out(path: Path) -> bool:
    """Whether a file is one of the installers'."""
    parts = path.relative_to(ENVIRONMENT).parts
    top = parts[parts.index("site-packages") + 1] if "site-packages" in parts else parts[-1]
    return top.startswith(INSTALLERS)


def extension() -> int:
    """Bytes of the extension, unpacked."""
    vsix = REPOSITORY / "lerim.vsix"
    if not vsix.exists():
        sys.exit(f"{vsix} is missing: run `make package` first")
    with ZipFile(vsix) as package:
        return sum(entry.file_size for entry in package.infolist())


def main() -> int:
    """Measure, print, and write the rows where asked."""
    parser = argparse.ArgumentParser(description="The installed size.")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    unpacked = extension()
    make = [sys.executable, str(REPOSITORY / "scripts" / "make_environment.py"), str(ENVIRONMENT), "requirements.lock"]
    subprocess.run(make, check=True, cwd=REPOSITORY)
    sizes = {"environment": environment() / 1e6, "extension": unpacked / 1e6}
    sizes["both"] = sum(sizes.values())
    rows = [(name, size, BUDGET_MB if name == "both" else None) for name, size in sizes.items()]
    for name, size, _ in rows:
        print(f"installed: {name:<12} {size:6.1f} MB")
    if options.json:
        named = [
            {"what": f"installed: {name}", "measured": size, "unit": "MB", "budget": budget}
            for name, size, budget in rows
        ]
        options.json.write_text(json.dumps(named, indent=1) + "\n", encoding="utf-8")
    return 0 if sizes["both"] <= BUDGET_MB else 1


if __name__ == "__main__":
    sys.exit(main())
