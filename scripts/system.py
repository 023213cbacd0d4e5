"""See to the programs that neither pip nor npm brings: a browser for the journeys, a compiler for the editor.

With apt and root they are installed, otherwise what to install is said. Prints the browser's path.
Standard library only.
"""

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
COMPILERS = ("c++", "g++", "clang++")
PACKAGES = {BROWSERS: ("chromium", "fonts-dejavu-core"), COMPILERS: ("g++",), ("git",): ("git",), ("make",): ("make",)}


def main() -> int:
    """Install what is missing, or say how; print the browser's path."""
    missing = [package for names, packages in PACKAGES.items() if not found(names) for package in packages]
    if missing:
        install(missing)
    browser = found(BROWSERS)
    if browser is None:
        raise SystemExit("No Chromium was found after installing it; name one in CHROMIUM.")
    print(browser)
    return 0


def found(names: tuple[str, ...]) -> str | None:
    """The first of these programs that is there; CHROMIUM names the browser."""
    if names is BROWSERS and os.environ.get("CHROMIUM"):
        return os.environ["CHROMIUM"]
    return next((path for name in names if (path := shutil.which(name))), None)


def install(packages: list[str]) -> None:
    """Install Debian packages, or stop with what the person has to install."""
    if not (shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0):
        raise SystemExit(f"Please install: {', '.join(packages)} (a browser elsewhere: set CHROMIUM to its path).")
    print(f"system: apt-get install {' '.join(packages)}", file=sys.stderr, flush=True)
    apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ([*apt, "update"], [*apt, "install", "--no-install-recommends", *packages]):
        done = subprocess.run(
            command, check=False, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")


if __name__ == "__main__":
    raise SystemExit(main())
