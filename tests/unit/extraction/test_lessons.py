"""What the agent wrote into the project's own notes: friction logs, lessons, decision records."""

import pytest

from lerim.sessions.model import Edit, ToolCall
from scripted import ROOT, agent, candidates, edited, ran, titles, you

LOG = "# Friction\n\n| When | What | Cost |\n|---|---|---|\n"
ROW = (
    "| 07-02 | **`land.sh` names the wrong cause when given the wrong file.** It wants the parent's log, "
    "because the result lives there. | one round trip |"
)
COMMIT = ran("git commit -am 'log it'", "[main 1a2b3c] log it", 0)


def written(path: str, text: str) -> ToolCall:
    whole = f"{ROOT}/{path}"
    return ToolCall(f"write-{path}", "Write", "write", "ok", paths=(whole,), edits=(Edit(whole, "", text),))


def test_an_entry_of_a_friction_log_is_a_pitfall_once_it_was_committed() -> None:
    logged = edited("docs/friction-log.md", LOG, f"{LOG}{ROW}\n")
    [found] = candidates(you("log what went wrong"), agent("", logged), agent("", COMMIT), you("what is next?"))
    assert found.title == "`land.sh` names the wrong cause when given the wrong file"
    assert (found.signal, found.kind, found.confidence) == ("lesson", "pitfall", 0.6)
    assert "It wants" not in found.body
    assert found.evidence[0].quote == "`land.sh` names the wrong cause when given the wrong file."
    assert found.evidence[0].who == "assistant"


def test_an_entry_appended_by_a_shell_command_counts_too() -> None:
    append = ran("cat >> docs/gotchas.md << 'EOF'\n- **`db.sh` skips rows without a total.** Seen twice.\nEOF\n", "", 0)
    assert titles(you("log it"), agent("", append), you("perfect")) == ["`db.sh` skips rows without a total"]


@pytest.mark.parametrize(
    ("path", "text", "after"),
    [
        ("docs/friction-log.md", f"{LOG}{ROW}\n", "and now?"),
        ("docs/friction-log.md", f"{LOG}{ROW}\n", "no, take that out again"),
        ("docs/overview.md", f"{LOG}{ROW}\n", "perfect"),
        ("docs/friction-log.md", f"{LOG}| 07-02 | **A long day, and the board came up at last.** | - |\n", "perfect"),
        ("docs/lessons.md", "\n".join(f"- **`a{n}.sh` never closes `b{n}`.**" for n in range(20)), "perfect"),
    ],
    ids=["not committed", "taken back", "no file of lessons", "no lesson", "a whole archive"],
)
def test_what_is_no_lesson_of_this_session_gives_nothing(path: str, text: str, after: str) -> None:
    assert titles(you("write it down"), agent("", edited(path, LOG, text)), you(after)) == []


def test_a_decision_record_is_a_decision() -> None:
    text = (
        "# ADR-0007: Keep sessions in Postgres, not in Redis\n\nStatus: accepted\n\n## Context\nCarts were lost.\n\n"
        "## Decision\nSessions are rows of `sessions` in Postgres, because Redis is emptied on every deploy.\n"
    )
    [found] = candidates(you("write the record"), agent("", written("docs/adr/0007-sessions.md", text)), you("lgtm"))
    assert (found.title, found.primitive, found.kind) == ("Keep sessions in Postgres, not in Redis", "decision", None)
    assert "Redis is emptied on every deploy" in found.body
    draft = text.replace("accepted", "proposed")
    assert titles(you("write the record"), agent("", written("docs/adr/0007-sessions.md", draft)), you("lgtm")) == []


def test_a_lesson_in_a_file_of_its_own_is_an_insight() -> None:
    text = (
        "---\ndate: 2026-07-02\n---\n# Correct next-tag-only names before `npm publish`\n\n## Guidance\n- Look first.\n"
    )
    path = "docs/solutions/releases/next-tag-only.md"
    [found] = candidates(you("note it as a learning"), agent("", written(path, text)), agent("", COMMIT), you("ok"))
    assert (found.title, found.kind) == ("Correct next-tag-only names before `npm publish`", "insight")
    more = written("docs/solutions/releases/other.md", text)
    assert titles(you("note them"), agent("", written(path, text), more), agent("", COMMIT), you("ok")) == []
