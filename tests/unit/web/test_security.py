"""Who may ask the server: real requests to a real server on loopback."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from isolation import isolate
from lerim.errors import ServerError, UsageError
from lerim.paths import Home
from lerim.web.binding import open_socket, plan_binding
from lerim.web.running import COMMAND_HEADER
from lerim.web.security import CONTENT_SECURITY_POLICY, MAX_BODY_BYTES
from lerim.web.token import LINK_SECONDS, LoginLinks
from web_server import WebServer, web_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, home)
        with web_server(Home(home / ".lerim", home)) as running:
            yield running


def test_the_token_is_readable_by_its_owner_alone_and_stays_the_same(server: WebServer) -> None:
    path = server.served.home.server / "token"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="ascii") == server.served.token


@pytest.mark.parametrize("path", ["/", "/api/v1/projects", "/api/v1/openapi.json", "/static/x", "/nothing"])
def test_nothing_is_answered_without_the_token(server: WebServer, path: str) -> None:
    assert server.stranger.get(path).status_code == 401
    assert server.stranger.get(path, headers={"Authorization": "Bearer wrong"}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1", "localhost", "127.0.0.1.evil.example"]
)
def test_a_name_that_was_rebound_to_this_machine_is_refused_even_with_the_token(server: WebServer, host: str) -> None:
    assert server.client.get("/api/v1/projects", headers={"Host": host}).status_code == 421


def test_the_names_of_the_bound_address_are_answered(server: WebServer) -> None:
    for host in server.served.binding.hosts:
        assert server.client.get("/api/v1/projects", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_other_websites_are_refused_even_with_the_token(server: WebServer, headers: dict[str, str]) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        response = server.client.request(method, "/api/v1/projects", headers=headers)
        assert response.status_code == 403
        assert not [name for name in response.headers if name.startswith("access-control")]


def sign_in(server: WebServer) -> dict[str, str]:
    """The cookie that a link of `lerim dashboard` sets."""
    link = server.post("/login-links", {})["url"]
    response = server.stranger.get(link.removeprefix(server.served.binding.origin), follow_redirects=False)
    assert response.status_code == 303
    assert response.headers["location"] == "/"
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    server.stranger.cookies.clear()
    return {"Cookie": cookie.partition(";")[0]}


def test_a_link_signs_a_browser_in_once(server: WebServer) -> None:
    link = urlsplit(server.post("/login-links", {})["url"])
    first, second = (server.stranger.get(f"{link.path}?{link.query}", follow_redirects=False) for _ in range(2))
    server.stranger.cookies.clear()
    assert (first.status_code, second.status_code) == (303, 401)
    assert server.served.token not in first.headers["set-cookie"]


def test_a_link_is_valid_for_two_minutes() -> None:
    now = [0.0]
    links = LoginLinks(lambda: now[0])
    code, late = links.add(), links.add()
    now[0] = LINK_SECONDS - 1
    assert links.use(code)
    now[0] = LINK_SECONDS
    assert not links.use(late)


@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "/\\evil.example"])
def test_signing_in_leads_to_no_other_website(server: WebServer, target: str) -> None:
    link = urlsplit(server.post("/login-links", {})["url"])
    answer = server.stranger.get(f"{link.path}?{link.query}", params={"next": target}, follow_redirects=False)
    server.stranger.cookies.clear()
    assert answer.headers.get("location", "/") == "/"


def test_the_cookie_reads_but_changes_something_only_from_our_own_pages(server: WebServer) -> None:
    cookie = sign_in(server)
    own = {"Origin": server.served.binding.origin}
    assert server.stranger.get("/api/v1/projects", headers=cookie).status_code == 200
    beside_others = {"Cookie": f'last={{"at": [1]}}; a@b=1; {cookie["Cookie"]}'}  # servers on other ports share them
    assert server.stranger.get("/api/v1/projects", headers=beside_others).status_code == 200
    assert server.stranger.post("/api/v1/login-links", headers=cookie, json={}).status_code == 401
    assert server.stranger.post("/api/v1/login-links", headers=cookie | own, json={}).status_code == 200
    other = {"Origin": "http://127.0.0.1:1"}
    assert server.stranger.post("/api/v1/login-links", headers=cookie | other, json={}).status_code == 403


def test_a_browser_gets_no_secret_by_calling_itself_a_command(server: WebServer) -> None:
    secret = "ghp_" + "a1B2" * 9
    server.served.home.config.write_text(f'[extract]\nguidance = "Never tell {secret}"\n', encoding="utf-8")
    path, as_command = "/api/v1/configuration", {COMMAND_HEADER: "1"}
    assert secret in server.client.get(path, headers=as_command).text
    shown = server.stranger.get(path, headers=sign_in(server) | as_command | {"Authorization": "Bearer wrong"}).text
    server.served.home.config.unlink()
    assert "Never tell" in shown
    assert secret not in shown


def test_a_body_is_bounded_whether_or_not_it_declares_its_length(server: WebServer) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 10_000 + 2):
            yield b" " * 10_000

    declared = server.client.post("/api/v1/login-links", content=b" " * (MAX_BODY_BYTES + 1))
    assert declared.status_code == 413
    path = "/api/v1/projects/global/memories"
    chunked = server.client.post(path, content=pieces(), headers={"Content-Type": "application/json"})
    assert chunked.status_code in (405, 413)


def test_every_answer_forbids_scripts_of_others_frames_and_caches(server: WebServer) -> None:
    for client in (server.client, server.stranger):
        headers = client.get("/api/v1/projects").headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"


def test_a_port_or_an_address_that_cannot_be_used_says_which_option_to_change() -> None:
    with open_socket("127.0.0.1", 0) as listener, pytest.raises(ServerError) as in_use:
        open_socket("127.0.0.1", listener.getsockname()[1])
    assert in_use.value.todo == "Another program uses this port; choose another one with --port."
    with pytest.raises(ServerError) as elsewhere:
        open_socket("192.0.2.7", 0)
    assert "--host" in elsewhere.value.todo


def test_an_address_that_others_can_reach_needs_encryption() -> None:
    with pytest.raises(UsageError, match="without encryption"):
        plan_binding("192.0.2.7", 8765, has_certificate=False)
    with pytest.raises(UsageError, match="cannot know the address"):
        plan_binding("0.0.0.0", 8765, has_certificate=True)
    encrypted = plan_binding("192.0.2.7", 8765, has_certificate=True)
    assert (encrypted.origin, encrypted.hosts) == ("https://192.0.2.7:8765", {"192.0.2.7:8765"})
    assert encrypted.is_encrypted
    proxied = plan_binding("0.0.0.0", 8765, has_certificate=False, proxy_origin="https://Lerim.example.org")
    assert (proxied.origin, proxied.hosts) == ("https://lerim.example.org", {"lerim.example.org"})
    for wrong in ("lerim.example.org", "ftp://lerim.example.org", "https://lerim.example.org/memories", "https://a@b"):
        with pytest.raises(UsageError, match="not the address of a proxy"):
            plan_binding("0.0.0.0", 8765, has_certificate=False, proxy_origin=wrong)
