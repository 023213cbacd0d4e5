"""`lerim up`, `down`, `logs` and what installs the server: the real process, and files for each system as data."""

from __future__ import annotations

import configparser
import json
import os
import plistlib
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from desk import Desk
from hang import HANG
from lerim.errors import ServerError
from lerim.paths import Home
from lerim.views.running_server import RunningServer
from lerim.web.background.compose import plan_compose
from lerim.web.background.service import plan_service
from lerim.web.running import announce_server, hold_server_lock
from model_desk import SERVER
from terminal import answer, run

REPOSITORY = Path(__file__).resolve().parents[3]


def test_up_starts_one_server_that_status_shows_and_down_stops(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SERVER))
    try:
        started = answer("up", "--port", "0")
        assert started["started"]
        assert answer("up", "--port", "0") == {"server": started["server"], "started": False}
        assert answer("status", "--repo", str(desk.repo))["server"] == started["server"]
        assert answer("dashboard", "--no-open")["url"].startswith(started["server"]["origin"] + "/login?code=")
        assert "Started server process" in run("logs").output
        log = desk.home.server / "server.log"
        if sys.platform != "win32":
            assert stat.S_IMODE(log.stat().st_mode) == 0o600
        second = run("serve", "--port", "0")
        assert second.exit_code == 1
        assert "already running for this Lerim home" in second.output
    finally:
        stopped = answer("down")
    assert stopped == {"stopped": True}
    if sys.platform != "win32":
        assert os.waitpid(started["server"]["pid"], 0)[1] == 0, "a service would start it again after a failure"
    assert answer("down") == {"stopped": False}
    assert answer("status", "--repo", str(desk.repo))["server"] is None
    assert answer("dashboard", code=1)["error"]["todo"] == "Start one: `lerim up`."


def test_the_log_is_followed_line_by_line_until_nobody_reads_it(desk: Desk) -> None:
    log = desk.home.server / "server.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"first\nsec")
    assert run("logs").stdout == "first\nsec\n"
    environ = {**os.environ, "PYTHONPATH": str(SERVER)}
    command = [sys.executable, "-m", "lerim", "logs", "-f"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, cwd=desk.repo) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"first\n"
            with log.open("ab", buffering=0) as file:
                file.write(b"ond\nth")
                assert process.stdout.readline() == b"second\n"
                file.write("ird…\n".encode())
            assert process.stdout.readline() == "third…\n".encode()
            process.stdout.close()  # as `… | head -3` does
            log.write_bytes(log.read_bytes() + b"fourth\n")
            assert process.wait(HANG) == 0
        finally:
            process.kill()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the system does not tell what a process runs")
def test_down_ends_no_process_that_only_has_the_id_of_a_server_in_a_container(desk: Desk) -> None:
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    running = RunningServer(other.pid, "http://127.0.0.1:1", "http://127.0.0.1:1", "127.0.0.1:1", "")
    try:
        with hold_server_lock(desk.home), announce_server(desk.home, running):
            refused = answer("down", code=1)["error"]
        assert "in a container" in refused["message"]
        assert "docker compose -f" in refused["todo"]
        assert other.poll() is None
    finally:
        other.kill()
        other.communicate()


def test_an_address_that_others_reach_needs_encryption_on_the_command_line(desk: Desk) -> None:
    for command in ("serve", "up"):
        refused = run(command, "--host", "192.0.2.1", *(["--foreground"] if command == "up" else []))
        assert refused.exit_code == 2
        assert "--tls-cert" in refused.output


ARGV = ["/opt/a b/python", "-m", "lerim", "server", '{"port": 1, "x": "100% $HOME"}']
ENVIRON = {"HOME": "/home/me", "PATH": "/usr/bin", "OPENAI_API_KEY": "sk-secret"}


def test_the_service_of_linux_keeps_every_argument_and_no_key() -> None:
    plan = plan_service(ARGV, ENVIRON, "linux", 0o077)
    assert str(plan.path) == "/home/me/.config/systemd/user/lerim.service"
    unit = configparser.RawConfigParser(strict=False, delimiters="=")
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(plan.text)
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', unit["Service"]["ExecStart"])
    taken = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in words]
    assert taken == ARGV
    assert unit["Service"]["UMask"] == "0077"
    assert "sk-secret" not in plan.text
    assert "enable --now lerim" in plan.start
    moved = plan_service(ARGV, {**ENVIRON, "XDG_CONFIG_HOME": "/home/me/conf"}, "linux", 0o077)
    assert str(moved.path) == "/home/me/conf/systemd/user/lerim.service"
    agents = {"CLAUDE_CONFIG_DIR": "/data/claude", "CODEX_HOME": "/data/codex", "OPENCODE_DB": "/data/opencode.db"}
    lines = plan_service(ARGV, {**ENVIRON, **agents}, "linux", 0o077).text.splitlines()
    assert {f'Environment="{name}={value}"' for name, value in agents.items()} <= set(lines)
    assert 'Environment="HOME=/home/m $x 1%%"' in plan_service(ARGV, {"HOME": "/home/m $x 1%"}, "linux", 0o077).text
    with pytest.raises(ServerError, match="line break"):
        plan_service(["/a\nExecStartPre=/bin/evil"], ENVIRON, "linux", 0o077)


def test_the_service_of_macos_keeps_every_argument_and_no_key() -> None:
    plan = plan_service(ARGV, ENVIRON, "darwin", 0o077)
    assert str(plan.path) == "/home/me/Library/LaunchAgents/dev.lerim.server.plist"
    content = plistlib.loads(plan.text.encode())
    assert content["ProgramArguments"] == ARGV
    assert content["Umask"] == 0o077
    assert content["EnvironmentVariables"] == {"HOME": "/home/me", "PATH": "/usr/bin"}
    assert "launchctl load" in plan.start


def test_windows_has_no_service() -> None:
    with pytest.raises(ServerError, match="no service"):
        plan_service(ARGV, {"USERPROFILE": "C:\\Users\\me"}, "win32", 0o077)


def test_a_service_is_shown_and_written_only_after_a_yes(desk: Desk, isolated: Path) -> None:
    path = isolated / ".config" / "systemd" / "user" / "lerim.service"
    if not sys.platform.startswith("linux"):
        pytest.skip("systemd is Linux's")
    shown = run("up", "--service")
    assert "ExecStart=" in shown.output
    assert not path.exists()
    planned = answer("up", "--service")
    assert (planned["path"], planned["written"]) == (str(path), False) and not path.exists()
    assert run("up", "--service", "--yes").exit_code == 0
    assert "ExecStart=" in path.read_text(encoding="utf-8")


def test_the_compose_file_is_one_json_object_for_programs(desk: Desk, isolated: Path) -> None:
    written = answer("up", "--docker", "--yes")
    path = isolated / ".lerim" / "docker-compose.yml"
    assert (written["path"], written["written"]) == (str(path), True)
    assert path.read_text(encoding="utf-8") == written["text"]
    assert written["start"].startswith("docker compose -f ")
    assert answer("up", "--foreground", code=2)["error"]["code"] == "usage"
    refused = answer("up", "--docker", "--host", "0.0.0.0", "--yes", code=2)["error"]
    assert refused["message"] == "The server in the container is reached from this machine only."


def test_the_compose_file_mounts_the_agents_stores_read_only(tmp_path: Path) -> None:
    home = Home(tmp_path / ".lerim")
    stores = [tmp_path / ".claude", tmp_path / "a $b" / "sessions", tmp_path / ".claude" / "projects"]
    environ = {"HOME": str(tmp_path), "CODEX_HOME": str(tmp_path / "a $b"), "OPENAI_API_KEY": "sk-secret"}
    text = plan_compose(home, environ, stores, [tmp_path / "repo"], 8765, "1000:1000")
    service = yaml.safe_load(text)["services"]["lerim"]
    volumes = {one["source"].replace("$$", "$"): one.get("read_only", False) for one in service["volumes"]}
    assert all(one["source"] == one["target"] for one in service["volumes"])
    assert volumes == {
        str(tmp_path / ".lerim"): False,
        str(tmp_path / "repo"): False,
        str(tmp_path / ".claude"): True,
        str(tmp_path / "a $b" / "sessions"): True,
    }
    assert service["environment"] == {
        "HOME": str(tmp_path),
        "LERIM_HOME": str(tmp_path / ".lerim"),
        "CODEX_HOME": str(tmp_path / "a $b").replace("$", "$$"),
    }
    assert service["tmpfs"] == ["/tmp", f"{tmp_path}:uid=1000,gid=1000,mode=0700"], "home is not root's"
    with_home = plan_compose(home, environ, stores, [tmp_path], 8765, "1000:1000")
    assert yaml.safe_load(with_home)["services"]["lerim"]["tmpfs"] == ["/tmp"]
    assert service["ports"] == ["127.0.0.1:8765:8765"]
    name, options = service["command"]
    assert name == "server"
    assert json.loads(options)["proxy_origin"] == "http://127.0.0.1:8765"
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert ":latest" not in text


def test_the_dockerfile_installs_the_lock_and_runs_as_nobody_special() -> None:
    text = re.sub(r"\\\n", " ", (REPOSITORY / "Dockerfile").read_text(encoding="utf-8"))
    steps = [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in steps} <= known
    assert "--require-hashes -r requirements-serve.lock" in text
    assert [rest for name, rest in steps if name == "USER"] == ["1000:1000"]
    entry, command = (json.loads(rest) for name, rest in steps if name in ("ENTRYPOINT", "CMD"))
    assert entry[-2:] == ["-m", "lerim"]
    assert json.loads(command[1])["host"] == "0.0.0.0"
    copied = [word for name, rest in steps if name == "COPY" and "--from" not in rest for word in rest.split()[:-1]]
    assert [name for name in copied if not (REPOSITORY / name).exists()] == []
    sent = {line[1:] for line in (REPOSITORY / ".dockerignore").read_text("utf-8").splitlines() if line[:1] == "!"}
    assert set(copied) == sent


def docker(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["docker", *arguments], capture_output=True, text=True, cwd=REPOSITORY, check=False)


def test_the_image_is_built_and_runs_lerim() -> None:
    if shutil.which("docker") is None or docker("info").returncode:
        pytest.skip("no Docker runs here; `make lint` checks the Dockerfile")
    built = docker("build", "--quiet", ".")
    assert built.returncode == 0, built.stderr
    image = built.stdout.strip()
    try:
        shown = docker("run", "--rm", "--read-only", "--cap-drop", "ALL", image, "--version")
        assert shown.stdout.startswith("lerim "), shown.stderr
    finally:
        docker("rmi", "--force", image)
