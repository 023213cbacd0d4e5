"""Measures the tokens of a growing session with a model: synced five times, compared with sending all of it each time.

    python benchmarks/growing_session.py [--json FILE]

The model answers that there is nothing. Requests are counted in o200k tokens. An ideal reader would send only what is
new in the session since the last sync, and the end of what it sent before.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))

from lerim.extraction.model import ExtractionBrief
from lerim.extraction.model.extractor import SessionExtraction, TurnsSent
from lerim.extraction.model.material import Material
from lerim.models import lm15, tokens
from lerim.models.lm import make_language_model
from lerim.sessions.model import ToolCall, Turn

SYNCS, TURNS = 5, 60
WINDOW, OVERLAP = 6_000, 600
NOTHING = "[[ ## reasoning ## ]]\nnothing\n\n[[ ## primitives ## ]]\n[]\n\n[[ ## completed ## ]]\n"
WORDS = re.findall(
    r"\S+", "the parser fails because src/app.py opens a file that must never be cached so use pnpm test"
)


class Counting:
    """A model that finds nothing, and what it was sent."""

    def __init__(self) -> None:
        self.calls = self.sent = 0
        self._lock = threading.Lock()

    def complete(self, request: lm15.Request) -> lm15.Response:
        system = request.system if isinstance(request.system, str) else ""
        size = tokens.count_tokens(system + "".join(message.text or "" for message in request.messages))
        with self._lock:  # windows are asked several at once
            self.calls, self.sent = self.calls + 1, self.sent + size
        message = lm15.Message.assistant([lm15.TextPart(NOTHING)])
        return lm15.Response(id="1", model="m", message=message, finish_reason="stop", usage=lm15.Usage())

    def close(self) -> None:
        pass


def session() -> list[Turn]:
    """Prompts and answers with a command each, of 20 to 200 words."""
    chance = random.Random(3)
    turns = []
    for number in range(SYNCS * TURNS):
        said = " ".join(chance.choices(WORDS, k=chance.randrange(20, 200)))
        ran = ToolCall(str(number), "Bash", "shell", "ok", command="make check", output=f"{number} passed\n" * 40)
        calls, role = ((), "user") if number % 2 == 0 else ((ran,), "assistant")
        kind = "prompt" if role == "user" else "reply"
        turns.append(
            Turn(f"{number:012x}", number, role, kind, said, datetime.now(UTC), "/r", tool_calls=calls)  # type: ignore[arg-type]
        )
    return turns


def asked(turns: list[Turn], state: bytes | None, model: Counting) -> tuple[bytes, int]:
    """One sync: the state that the next one begins with, and the tokens of the turns that were new."""
    material = Material(None, "s", "claude", state)
    for turn in turns:
        material.add(turn)
    fresh = [turn for turn in material.window_turns(True) if turn.number > material.last_sent]
    size = sum(tokens.count_tokens(turn.header + turn.body()) for turn in fresh)
    results = SessionExtraction(
        make_language_model(model),
        material,
        ExtractionBrief("{}", "{}", "{}"),
        max_tokens=WINDOW,
        overlap_tokens=OVERLAP,
    ).run()
    last = max((result.number for result in results if isinstance(result, TurnsSent)), default=material.last_sent)
    return material.state(last, OVERLAP), size


def main() -> int:
    """Measure, print, and write the rows where `--json` says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    target = parser.parse_args().json
    turns = session()
    growing, again = Counting(), Counting()
    state: bytes | None = None
    new = 0
    for sync in range(SYNCS):
        state, size = asked(turns[sync * TURNS : (sync + 1) * TURNS], state, growing)
        new += size
        asked(turns[: (sync + 1) * TURNS], None, again)
    empty = Counting()
    asked(turns[:1], None, empty)
    told = empty.sent - tokens.count_tokens(f"[0] user:\n{turns[0].text}\n")
    shown = growing.sent - growing.calls * told
    ideal = 1.2 * new + growing.calls * OVERLAP
    rows: list[dict[str, object]] = [
        {
            "what": f"tokens of turns sent in {SYNCS} syncs, of those that were new",
            "measured": shown / new,
            "unit": "×",
            "budget": f"<= {ideal / new:.2f} × (1.2 × the new ones, one overlap a window)",
            "ok": shown <= ideal,
        },
        {
            "what": "all that was sent, beside asking of all each time",
            "measured": growing.sent / again.sent,
            "unit": "×",
        },
        {"what": "calls, beside asking of all each time", "measured": growing.calls / again.calls, "unit": "×"},
        {"what": "calls", "measured": growing.calls, "unit": ""},
        {"what": "tokens of instructions a call", "measured": told, "unit": ""},
    ]
    for row in rows:
        print(f"{row['what']}: {row['measured']:.2f} {row['unit']}")
    if target:
        target.write_text(json.dumps(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
