"""Compares the price that `lerim org backfill` says with what is spent then, on three real projects.

    python benchmarks/org_price.py [--json FILE]

The model on loopback gives the recorded answers of `evals/answers`: to each window the one to a window of about as many
turns. It counts o200k tokens of what it is asked and answers. Other projects are worked through before, so that the
team has answers of the model. PostgreSQL's programs have to be installed.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from pathlib import Path

from _model_service import ModelHandler
from first_sync import CWD, NEWEST
from indexing import SHARED
from lerim.config import load
from lerim.models import Usage, choose_allowed, compute_cost, count_tokens
from lerim.org import BackfillScope, LocalSessions, Worker, plan_sessions, send_plan
from lerim.paths import Home
from lerim.project import locate_project
from lerim.team import TeamDatabase
from table import Row, report_rows

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "tests" / "services"), str(ROOT / "tests" / "faults")]
MEASURED = ("entireio/cli", "EntityProcess/agentv", "PackmindHub/context-evaluator")
PRICED_AS = ("openai/gpt-5-nano", "anthropic/claude-sonnet-5")
TURN = re.compile(r"^\[(\d{1,9})\] (?:user|assistant)\b", re.MULTILINE)
WITHIN = 0.15


def load_answers() -> list[tuple[int, str]]:
    """The recorded answers, each with the number of the last turn of its window."""
    found: list[tuple[int, str]] = []
    for path in sorted((ROOT / "evals" / "answers").glob("*.json")):
        for name, text in json.loads(path.read_text(encoding="utf-8"))["answers"].items():
            found.append((int(name.rpartition("-")[2]), text))
    return found


class RecordedModel(ModelHandler):
    """Answers with what was recorded for the window nearest in its last turn."""

    answers = load_answers()

    def answer_request(self, request: bytes) -> None:
        asked = json.loads(request)
        prompt = "\n".join(message["content"] for message in asked["messages"])
        last = max(map(int, TURN.findall(prompt)), default=0)
        text = min(self.answers, key=lambda one: abs(one[0] - last))[1]
        self.send_answer(text, count_tokens(prompt), count_tokens(text))


def write_projects(base: Path) -> dict[str, Path]:
    """Writes the shared sessions of Claude Code and Codex as if their repositories lay in `base`; the repositories."""
    roots: dict[str, Path] = {}
    with (SHARED / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["real|fixture|built"] == "real"]
    for row in rows:
        source = SHARED / row["path"]
        if row["platform"] not in ("claude", "codex") or source.suffix != ".jsonl":
            continue
        name = row["source"].partition(":")[2].partition("@")[0]
        root = roots.setdefault(name, base / name.replace("/", "+"))
        if not root.exists():
            subprocess.run(["git", "init", "-q", str(root)], check=True)
        if row["platform"] == "claude":
            path = base / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root)) / source.name
        else:
            path = base / ".codex" / "sessions" / "2026" / "03" / "01" / source.name
        path.parent.mkdir(parents=True, exist_ok=True)
        cwd = b'"cwd":"%s"' % str(root).encode()
        path.write_bytes(CWD.sub(cwd.replace(b"\\", rb"\\"), source.read_bytes()))
        os.utime(path, (NEWEST,) * 2)
    return roots


def work_through(database: TeamDatabase, home: Home, roots: list[Path]) -> tuple[Usage, Usage]:
    """Sends the sessions of repositories and lets a worker do them; what was said before, and what was used."""
    settings, _ = load.load_settings(os.environ, home)
    model = choose_allowed("extract", settings, home, os.environ, explicit=False).model
    projects = [one for one in (locate_project(root, home) for root in roots) if one is not None]
    here = LocalSessions(home, os.environ)
    plan = plan_sessions(database, here, BackfillScope(projects, None, model), datetime.now(UTC))
    said, before = plan.view(here, database).estimate, count_usage(database)
    send_plan(database, plan, here)
    Worker(database, os.environ, until_done=True).run()
    after = count_usage(database)
    spent = Usage(*(new - old for new, old in zip(after, before, strict=True)))
    return Usage(said.calls, said.input_tokens, said.output_tokens), spent


def count_usage(database: TeamDatabase) -> tuple[int, int, int]:
    with database.open() as connection:
        row = connection.execute(
            "SELECT count(*), coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint"
            " FROM calls"
        ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--only-others", action="store_true", help="the projects that an estimate is mended with")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    from postgres import PostgresServer, find_programs

    programs = find_programs()
    if programs is None:
        sys.exit("PostgreSQL is not installed")
    server = PostgresServer(programs)
    service = ThreadingHTTPServer(("127.0.0.1", 0), RecordedModel)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        os.environ |= {"HOME": str(base), "LERIM_HOME": str(base / "lerim"), "OPENAI_API_KEY": "none"}
        for name in [name for name in os.environ if name.startswith(("XDG_", "CODEX_", "CLAUDE_"))]:
            del os.environ[name]
        home = Home.from_environ(os.environ)
        home.config.parent.mkdir()
        url = f"http://127.0.0.1:{service.server_address[1]}/v1"
        role = f'[roles.extract]\nprovider = "openai"\nmodel = "m"\nbase_url = "{url}"\n'
        home.config.write_text(f'{role}[roles.summarize]\nprovider = "none"\n', encoding="utf-8")
        roots = write_projects(base)
        database = TeamDatabase(server.make_database().replace("admin@", "platform_worker@"), "platform")
        others = [name for name in roots if name not in MEASURED]
        for names in [[name] for name in others] if options.only_others else [others, *([one] for one in MEASURED)]:
            said, spent = work_through(database, home, [roots[name] for name in names])
            print(
                f"{' '.join(names)}: said {said.calls} calls, {said.input_tokens} + {said.output_tokens} tokens;",
                end=" ",
            )
            print(f"spent {spent.calls} calls, {spent.input_tokens} + {spent.output_tokens}")
            for model in PRICED_AS if names[0] in MEASURED else ():
                before, after = compute_cost(model, said), compute_cost(model, spent)
                assert before and after
                off = abs(before / after - 1) * 100
                rows.append(
                    (f"{names[0]}, {model}: said ${before:.4f}, spent ${after:.4f}, off by", off, WITHIN * 100, "%")
                )
    report_rows(rows, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
