"""The command that continues a session."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lerim.sessions.display import make_resume_command
from lerim.sessions.search.browsing import SessionListItem

ID = "019a2b3c-0000-7000-8000-000000000000"
ITEM = SessionListItem(
    *("/home/ana/.claude/projects/app/s.jsonl", "claude", ID, "", "", "", None, None, (), (), ()),
    *(0, 0, 0, 0, 0, None, None, 0, False, "", False),
)
GEMINI_PLACE = f"/home/ana/.gemini/tmp/5f/chats/session-{ID}.json"
CLI_PLACE = f"/home/ana/.copilot/session-state/{ID}/events.jsonl"


@pytest.mark.parametrize(
    ("changes", "command"),
    [
        ({}, f"claude --resume {ID}"),
        ({"platform": "codex"}, f"codex resume {ID}"),
        ({"platform": "gemini", "place": GEMINI_PLACE}, f"gemini --resume {ID}"),
        ({"platform": "gemini", "place": f"/home/ana/.gemini/antigravity/brain/{ID}/log.jsonl"}, ""),
        ({"platform": "opencode", "session_id": "ses_1aB"}, "opencode --session ses_1aB"),
        ({"platform": "copilot", "place": CLI_PLACE}, f"copilot --resume {ID}"),
        ({"platform": "copilot"}, ""),
        ({"platform": "cursor"}, ""),
        ({"vanished": True}, ""),
        ({"parent": "another"}, ""),
        ({"session_id": "x; rm -rf ~"}, ""),
        ({"session_id": "--help"}, ""),
        ({"session_id": ""}, ""),
    ],
)
def test_a_session_is_continued_by_its_agent_if_its_id_needs_no_quotes(
    changes: dict[str, object], command: str
) -> None:
    assert make_resume_command(replace(ITEM, **changes)) == command  # type: ignore[arg-type]
