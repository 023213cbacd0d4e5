"""How fast sessions are extracted, with the facts of each turn, and redacted, in MB of text a second (at least 5 each).

    python benchmarks/extraction.py [folder of transcripts] [--json FILE]

Without a folder only made-up turns. The seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from lerim.extraction.facts import extract_from_turn
from lerim.extraction.pipeline import Extraction
from lerim.redaction.redact import redact_secrets
from lerim.sessions.model import ToolCall, Turn
from lerim.sessions.readers.claude import store
from lerim.sessions.tables import encode_facts

BUDGET = 5.0
ROUNDS = 3
PROSE = (
    "I looked at src/store.py and decided to use SQLite instead of Redis because it needs no server. "
    "The tests in tests/test_store.py pass now. No, don't use pip here, use uv. The password comes from outside. "
)
LOG = "2026-07-01T10:00:00Z INFO request id=550e8400-e29b-41d4-a716-446655440000 token_count=512 status=200 path=/api\n"


def make_session(count: int = 2_000) -> list[Turn]:
    """A session of about 8 MB: prompts, answers, and tool output."""
    turns = []
    for number in range(count):
        role = "user" if number % 4 == 0 else "assistant"
        call = ToolCall("1", "Bash", "shell", "ok", command="uv run pytest -q", output=LOG * 20)
        turn = Turn(
            f"{number:012x}", number, "assistant", "reply", PROSE * 8, datetime.now(UTC), "/r", tool_calls=(call,)
        )
        turns.append(
            replace(
                turn,
                role="user",
                kind="prompt",
                tool_calls=(),
                text=f"{PROSE}Use port {number}, not {number + 1}. " * 3,
            )
            if role == "user"
            else turn
        )
    return turns


def read_sessions(folder: Path) -> list[list[Turn]]:
    """Every session under the folder, read into memory."""
    return [list(store.open_session(item)) for item in store.scan_root(folder).transcripts]


def collect_texts(sessions: list[list[Turn]]) -> list[str]:
    """All text a session holds: what was said, and what tools were given and printed."""
    out = []
    for turn in (turn for session in sessions for turn in session):
        out.append(turn.text)
        out += [text for call in turn.tool_calls for text in (call.output, call.command, call.plan)]
    return [text for text in out if text]


def extract(sessions: list[list[Turn]]) -> None:
    for number, session in enumerate(sessions):
        extraction = Extraction(None, str(number), "claude")
        for turn in session:
            read = extraction.feed(turn)
            encode_facts(extract_from_turn(read) if read else ())
        extraction.finish(True)


def redact_all(texts: list[str]) -> None:
    for text in texts:
        redact_secrets(text)


def best_seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def rows(transcripts: Path | None) -> list[tuple[str, float, float]]:
    """(what, MB of text, MB a second), the best of three rounds."""
    sets = [("made-up session", [make_session()])]
    if transcripts is not None:
        sets.append(("real sessions", read_sessions(transcripts)))
    out = []
    for name, sessions in sets:
        said = collect_texts(sessions)
        size = sum(len(text.encode("utf-8", "replace")) for text in said) / 1e6
        joined = "\n".join(said)
        work: tuple[tuple[str, Callable[[], object]], ...] = (
            (f"extraction, {name}", partial(extract, sessions)),
            (f"redaction, {name}, turn by turn", partial(redact_all, said)),
            (f"redaction, {name}, one text", partial(redact_secrets, joined)),
        )
        out += [(what, size, size / best_seconds(one)) for what, one in work]
    hostile = [
        "a/" * 50_000,
        "(" * 100_000,
        "use " * 25_000,
        "a_" * 50_000,
        "password=" * 11_000,
        "-----BEGIN " * 9_000,
        "x because " * 10_000,
    ]
    size = sum(map(len, hostile)) / 1e6
    turns = [Turn(f"{n:012x}", n, "user", "prompt", text, None, "/r") for n, text in enumerate(hostile)]
    out.append(("extraction, hostile prompts", size, size / best_seconds(lambda: extract([turns]))))
    out.append(("redaction, hostile texts", size, size / best_seconds(partial(redact_all, hostile))))
    return out


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measures extraction and redaction.")
    arguments.add_argument("transcripts", nargs="?", type=Path)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    found = rows(options.transcripts)
    print(f"| {'what':44} |    MB |  MB/s | budget |")
    print(f"|{'-' * 46}|{'-' * 7}|{'-' * 7}|{'-' * 8}|")
    for what, size, speed in found:
        print(f"| {what:44} | {size:5.1f} | {speed:5.1f} | {'met' if speed >= BUDGET else 'MISSED'} |")
    if options.json:
        named = [
            {"what": what, "measured": speed, "unit": "MB/s", "budget": f">= {BUDGET:g}", "ok": speed >= BUDGET}
            for what, _size, speed in found
        ]
        options.json.write_text(json.dumps(named, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
