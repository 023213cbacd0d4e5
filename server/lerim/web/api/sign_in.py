"""The one-time links that sign a browser in."""

from __future__ import annotations

import msgspec

from lerim.web.api.operations import Call, Operation


class LoginLinkOutput(msgspec.Struct, frozen=True):
    """A link that opens the dashboard once, within two minutes."""

    url: str


async def add_login_link(call: Call) -> LoginLinkOutput:
    """Makes a link that signs a browser in."""
    return LoginLinkOutput(f"{call.served.binding.origin}/login?code={call.served.links.add()}")


operations = [Operation("POST", "/login-links", "Make a link that signs a browser in", add_login_link, is_secret=True)]
