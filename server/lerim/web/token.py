"""The token that every request to the server carries: in a header, or for browsers as a cookie made from it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from lerim.errors import ServerError, error_reason
from lerim.files import read_regular_file
from lerim.paths import Home
from lerim.project import make_private_folder, replace_private_file

TOKEN_FILE = "token"
LINK_SECONDS = 120.0
"""How long a link of `lerim dashboard` can be opened."""
MAX_LINKS = 20


def load_token(home: Home) -> str:
    """Returns the home's token and makes it at the first use, readable by its owner only. Raises ServerError."""
    path = home.server / TOKEN_FILE
    try:
        if token := _read_token(home):
            return token
        make_private_folder(home, home.server)
        replace_private_file(path, secrets.token_urlsafe(32).encode())
        return _read_token(home)  # another process may have made one at the same time: the last one counts
    except (OSError, UnicodeError) as error:
        todo = "Make the folder readable and writable for you, or set LERIM_HOME to another one."
        raise ServerError(
            f"The server's token cannot be used: {error_reason(error)}.", where=str(path), todo=todo
        ) from error


def _read_token(home: Home) -> str:
    try:
        return read_regular_file(home.server / TOKEN_FILE).decode("ascii").strip()
    except FileNotFoundError:
        return ""


def make_cookie(token: str) -> str:
    """Returns the cookie's value. It does not reveal the token."""
    return hmac.new(token.encode(), b"lerim dashboard cookie", hashlib.sha256).hexdigest()


@dataclass(slots=True)
class LoginLinks:
    """The links of `lerim dashboard` that were not opened yet. Each signs a browser in once."""

    clock: Callable[[], float] = time.monotonic
    _ends: dict[str, float] = field(default_factory=dict)

    def add(self) -> str:
        """Makes a link's code. Only the newest ones are kept."""
        code = secrets.token_urlsafe(24)
        self._ends[code] = self.clock() + LINK_SECONDS
        for oldest in list(self._ends)[:-MAX_LINKS]:
            del self._ends[oldest]
        return code

    def use(self, code: str) -> bool:
        """Returns whether the code is valid, and makes it invalid."""
        return self._ends.pop(code, float("-inf")) > self.clock()
