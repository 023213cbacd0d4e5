"""The packages that some commands need beside those of every installation."""

from __future__ import annotations

import importlib.util
from typing import Literal

from lerim.errors import LerimError, OrgError, ServerError

_EXTRAS: dict[str, tuple[str, type[LerimError], tuple[str, ...]]] = {
    "serve": ("The server", ServerError, ("jinja2", "starlette", "uvicorn", "watchfiles")),
    "org": ("`lerim org`", OrgError, ("procrastinate", "psycopg")),
}


def require_extra(extra: Literal["serve", "org"]) -> None:
    """Raises ServerError or OrgError if packages of this extra are not installed."""
    what, error, modules = _EXTRAS[extra]
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        todo = f"Install them: `pip install 'lerim[{extra}]'`."
        raise error(f"{what} needs packages that are not installed: {', '.join(missing)}.", todo=todo)
