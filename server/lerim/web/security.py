"""Which requests are answered at all, and the headers of every answer.

The server holds everything a person decided and said, so it must not be usable by other websites that are open in the
same browser (docs/decisions/0042-who-may-ask-the-server.md).
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from lerim.web.token import make_cookie

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from lerim.web.served import Served

MAX_BODY_BYTES = 1_000_000
LOGIN_PATH = "/login"
SAFE_METHODS = ("GET", "HEAD")
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send `Origin: null` with our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class BodyTooLargeError(Exception):
    """The body of a request has more than MAX_BODY_BYTES bytes."""


class Guard:
    """Wraps the application: refuses requests from elsewhere, bounds bodies, and sets the headers of answers."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self._app = app
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = refuse_request(self._served, scope)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        await self._app(scope, bound_body(receive), send_with_headers)


def refuse_request(served: Served, scope: Scope) -> Response | None:
    """Returns the answer to a request that is not served, or None for one that is."""
    headers, method, path = Headers(scope=scope), str(scope["method"]), str(scope["path"])
    if headers.get("host", "").lower() not in served.binding.hosts:
        return PlainTextResponse("This server is not known under that name.\n", 421)
    if not comes_from_here(served, headers):
        return PlainTextResponse("Requests from other websites are refused.\n", 403)
    if _declares_too_much(headers):
        return PlainTextResponse(f"A request may have {MAX_BODY_BYTES} bytes.\n", 413)
    if path == LOGIN_PATH and method in SAFE_METHODS:
        return None
    if has_token(served, headers):
        return None
    if has_cookie(served, headers) and (method in SAFE_METHODS or is_same_origin(served, headers)):
        return None
    return PlainTextResponse("Sign in: run `lerim dashboard` and open the link that it prints.\n", 401)


def comes_from_here(served: Served, headers: Headers) -> bool:
    """Returns whether neither `Origin` nor `Sec-Fetch-Site` names another website. Programs send none of them."""
    origin = headers.get("origin")
    if origin is not None and origin not in served.binding.origins:
        return False
    return headers.get("sec-fetch-site", "none") in ("none", "same-origin")


def is_same_origin(served: Served, headers: Headers) -> bool:
    """Returns whether the browser says that one of our own pages makes the request. Another port of this machine counts
    as the same site for cookies, so a cookie alone is not enough to change anything."""
    return headers.get("origin") in served.binding.origins or headers.get("sec-fetch-site") == "same-origin"


def has_token(served: Served, headers: Headers) -> bool:
    """Returns whether the request carries the token in its `Authorization` header."""
    return hmac.compare_digest(headers.get("authorization", "").encode(), f"Bearer {served.token}".encode())


def has_cookie(served: Served, headers: Headers) -> bool:
    """Returns whether the request carries the cookie that a login link has set."""
    cookies = cookie_parser("; ".join(headers.getlist("cookie")))
    return hmac.compare_digest(cookies.get(cookie_name(served), "").encode(), make_cookie(served.token).encode())


def cookie_name(served: Served) -> str:
    """Returns the cookie's name. Browsers share cookies between ports, so it contains the port."""
    return f"lerim-{served.binding.port}"


def sign_in(served: Served, request: Request) -> Response:
    """Answers `/login?code=…`: sets the cookie once and goes to the dashboard, at `next` if that is a path of ours."""
    if not served.links.use(request.query_params.get("code", "")):
        return PlainTextResponse("This link has been used or has expired. Run `lerim dashboard` for a new one.\n", 401)
    target = request.query_params.get("next", "/")
    is_own_path = target.startswith("/") and not target.startswith(("//", "/\\"))
    response = RedirectResponse(quote(target, safe="/?&=%#~:+,;") if is_own_path else "/", 303)
    response.set_cookie(
        cookie_name(served),
        make_cookie(served.token),
        max_age=30 * 86_400,
        path="/",
        httponly=True,
        samesite="strict",
        secure=served.binding.is_encrypted,
    )
    return response


def _declares_too_much(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return not length.isascii() or not length.isdigit() or len(length) > 12 or int(length) > MAX_BODY_BYTES


def bound_body(receive: Receive) -> Receive:
    """Wraps `receive`; it raises BodyTooLargeError after MAX_BODY_BYTES, for bodies that do not declare a length."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY_BYTES:
            raise BodyTooLargeError
        return message

    return receive_bounded
