"""Install the programs that neither pip nor npm provides: a browser for the journeys, a compiler for the editor,
Neovim for a test of the language server, and PostgreSQL for those of an organisation's database.

Installs them with apt if run as root, otherwise says what to install. Prints the browser's path. Uses only the standard
library.
"""

import os
import shutil
import subprocess
import sys

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
COMPILERS = ("c++", "g++", "clang++")
PACKAGES = {BROWSERS: ("chromium", "fonts-dejavu-core"), COMPILERS: ("g++",), ("git",): ("git",), ("make",): ("make",)}
OPTIONAL_PACKAGES = {("nvim",): ("neovim",), ("pg_createcluster",): ("postgresql",)}
"""Programs whose tests are skipped where they cannot be installed."""


def main() -> int:
    """Install what is missing, or say what to install; print the browser's path."""
    wanted = PACKAGES | (OPTIONAL_PACKAGES if can_install() else {})
    missing = [package for names, packages in wanted.items() if not find_program(names) for package in packages]
    if missing:
        install_packages(missing)
    browser = find_program(BROWSERS)
    if browser is None:
        raise SystemExit("No Chromium was found after installing it; name one in CHROMIUM.")
    print(browser)
    return 0


def find_program(names: tuple[str, ...]) -> str | None:
    """The path of the first of these programs that is installed. CHROMIUM overrides the browser."""
    if names is BROWSERS and os.environ.get("CHROMIUM"):
        return os.environ["CHROMIUM"]
    return next((path for name in names if (path := shutil.which(name))), None)


def can_install() -> bool:
    """Whether packages can be installed: with apt, as root."""
    return bool(shutil.which("apt-get")) and hasattr(os, "geteuid") and os.geteuid() == 0


def install_packages(packages: list[str]) -> None:
    """Install Debian packages. Raises SystemExit if that is not possible, with what the person has to install."""
    if not can_install():
        raise SystemExit(f"Please install: {', '.join(packages)} (a browser elsewhere: set CHROMIUM to its path).")
    print(f"system: apt-get install {' '.join(packages)}", file=sys.stderr, flush=True)
    apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]
    environ = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ([*apt, "update"], [*apt, "install", "--no-install-recommends", *packages]):
        result = subprocess.run(
            command, check=False, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if result.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{result.stderr[-3000:]}")


if __name__ == "__main__":
    raise SystemExit(main())
