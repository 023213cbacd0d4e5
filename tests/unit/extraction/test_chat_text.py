"""What was said in a chat stands in the evidence; the body is a note, which says it in other words."""

import re

import pytest
from lerim.facts.retold import RUN, retold

from lerim.extraction.candidate import Candidate
from lerim.facts.where import unrepeated
from lerim.review import queue
from lerim.sessions.model import Answer, Edit, ToolCall, Turn
from sample import make_sample
from scripted import ROOT, agent, asked, candidates, denied, edited, planned, ran, you

LOOK = ran("rg -n parse_day src", "src/days.py:3: def parse_day(text)", 0)
GREEN = ran("pytest -q", "9 passed in 1s", 0)
COMMIT = ran("git commit -am 'log it'", "[main 1a2b3c] log it", 0)
NOTE = (
    "---\nname: real-database\ndescription: Integration tests run against a real database, never a stub, and the "
    "person wants every failure of them looked at before a release - owner\nmetadata:\n  type: feedback\n---\n\nTests "
    "run on the real thing.\n\n**Why:** a stubbed migration passed in the last release and the real one failed.\n"
)


def written(path: str, text: str) -> ToolCall:
    return ToolCall(f"write-{path}", "Write", "write", "ok", paths=(path,), edits=(Edit(path, "", text),))


EXCHANGES: dict[str, tuple[Turn, ...]] = {
    "correction": (
        you("store the orders"),
        agent("done", edited("src/orders.py")),
        you(
            "no, never delete rows from the `orders` table because the accountants have to find every one of them when "
            "the yearly audit asks for it"
        ),
        agent("ok", edited("src/orders.py", "a", "b")),
        you("ok"),
    ),
    "correction, with its reason after it": (
        you("hello"),
        agent("hi"),
        you("Always run `make check` before a commit. CI broke on Monday and on Friday only since nobody had run it."),
        agent("ok"),
        you("ok"),
    ),
    "correction, on a refused call": (
        you("add the parser"),
        agent("", denied("pip install lxml", "use uv, not pip, so that the lock file in the repository stays right")),
        you("ok"),
    ),
    "choice": (
        you("which store"),
        agent("?"),
        you("let's use SQLite because there is one writer only and any backup tool can copy the file"),
        agent("ok", edited("src/db.py")),
        you("ok"),
    ),
    "answer": (
        you("how to store"),
        agent(
            "",
            asked(
                "Which database should we use?",
                ("PostgreSQL", "SQLite in one file next to the service that any backup tool can copy at night"),
                "PostgreSQL",
            ),
        ),
        you("ok"),
    ),
    "plan": (
        you("Plan the cache"),
        agent(
            "",
            planned(
                "# Cache the rates in SQLite\n\n## Context\nThe API is slow and it is down for an hour each night.\n\n"
                "## Approach\nStore rates in a `rates` table in `src/rates.py`, one row per day, instead of a file.\n"
            ),
        ),
        agent("", edited("src/rates.py")),
        you("thanks"),
    ),
    "remark": (
        you("load the settings"),
        agent("Loading them in src/settings.py.", edited("src/settings.py")),
        you("isn't that doing the fallback twice now for every caller of the settings in the whole shop?"),
        agent(
            "You're right! The fallback should live only in `load_settings()`. Every caller tried the same two files "
            "again, so a broken file was reported twice.",
            edited("src/settings.py", "a", "b"),
        ),
        you("ok"),
    ),
    "diagnosis": (
        you("why are reports off"),
        agent("", LOOK, LOOK),
        agent(
            "The issue is that `parse_day` drops the zone of every date, so reports shift by a day whenever a server "
            "is run in another zone. The tests never saw it, since all of them run in UTC on every machine.",
            edited("src/days.py", "def parse_day(text)", "def parse_day(text, zone)"),
        ),
        agent("", GREEN),
    ),
    "lesson": (
        you("log what went wrong"),
        agent(
            "",
            edited(
                "docs/friction-log.md",
                "# Friction\n",
                "# Friction\n- **`land.sh` names the wrong cause when given the wrong file.** The log of the parent "
                "holds the result, because the child never writes one of its own.\n",
            ),
        ),
        agent("", COMMIT),
        you("what is next?"),
    ),
    "rule": (
        you("look at tests/db"),
        agent("ok"),
        you("those integration tests hit a stub database, that burned us badly in the night of the last release"),
        agent(
            "Noted.",
            written("/home/kim/.claude/projects/-home-kim-shop/memory/real-database.md", NOTE),
        ),
        you("ok"),
    ),
    "rule, of a file": (
        you("code that is older than the migration to `orders2` is not touched any more, put that down"),
        agent(
            "",
            written(
                f"{ROOT}/CLAUDE.md",
                "Code older than `orders2` is never touched - not now, not later, not by somebody who tidies up.\n",
            ),
        ),
        you("ok"),
    ),
    "question": (
        you("fix the check in src/checks.py"),
        agent("Fixed.", edited("src/checks.py", "limit of the quota check", "shared quota check")),
        you("could you see if it is easy to extract the quota check so both `api` and `cli` share it in one place?"),
        agent("### Option 1: One helper in `checks.py`\n### Option 2: Keep both\n\nOption 1, or is Option 2 better?"),
    ),
    "question, of the tool": (
        you("store them"),
        agent(
            "",
            ToolCall(
                "ask",
                "AskUserQuestion",
                "ask",
                "error",
                answers=(Answer("Should the orders of last year stay in `orders` for good?", ("Yes", "No"), ""),),
            ),
        ),
    ),
    "fixed-command": (
        you("run the tests"),
        agent("", ran("pytest -q", "Exit code 1\nE   ModuleNotFoundError: No module named 'freezegun'", 1)),
        agent("The tests need a package that nobody has listed in the requirements of the project so far."),
        agent("", ran("uv pip install freezegun", "ok", 0)),
        agent("", GREEN),
        you("ok"),
    ),
}  # fmt: skip


def runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w[\w./-]*\w|\w", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def quoted(candidate: Candidate) -> set[tuple[str, ...]]:
    """Eight words in a row of the evidence that the body repeats, and the title does not assert."""
    said = {run for item in candidate.evidence if item.who != "tool" for run in runs(item.quote)}
    return said & runs(candidate.body) - runs(candidate.title)


@pytest.mark.parametrize("name", EXCHANGES)
def test_no_body_repeats_what_its_evidence_quotes(name: str) -> None:
    found = [item for item in candidates(*EXCHANGES[name]) if item.signal == name.partition(",")[0]]
    assert found
    for item in found:
        assert quoted(item) == set(), item.body
        assert "person's words" not in item.body


def test_a_reason_is_told_in_other_words() -> None:
    [found] = candidates(*EXCHANGES["choice"])
    assert found.body.startswith("Use SQLite. The reason: ")
    assert "one writer only" in found.body
    assert "any backup tool" in found.body


def test_short_reasons_errors_and_commands_stay_as_they_are() -> None:
    said = "never delete orders, they must stay searchable"
    body = "Never delete orders. The reason: they must stay searchable."
    assert retold(body, "Never delete orders", [said]) == body
    command = "Run `go test ./... -tags integration -run Store -count 1 -v` first."
    assert retold(command, "Run the tests first", [command.replace("`", "")]) == command


def test_a_body_of_which_nothing_is_left_says_the_title() -> None:
    said = "whoever edits these files has to ask one of the three owners of them beforehand"
    assert retold(f"{said.capitalize()}.", "Ask an owner first", [said]) == "Ask an owner first."


def test_no_body_of_the_sample_repeats_its_evidence_and_a_file_with_local_quotes_holds_none_of_them(tmp_path) -> None:
    sample = make_sample(tmp_path / "sample")
    for candidate in sample.sync().candidates:
        said = {run for item in candidate.evidence if item.who != "tool" for run in runs(item.quote)}
        done = queue.accept(sample.place, candidate.id, quotes="local")
        text = (sample.repo / (done.path or "")).read_text(encoding="utf-8")
        assert (said & runs(text)) - runs(candidate.title) == set(), text
        for item in candidate.evidence:
            assert len(item.quote.split()) < RUN or item.who == "tool" or item.quote not in text


def test_a_body_names_no_file_a_second_time() -> None:
    assert unrepeated("Never edit `a.py`. It concerns `src/a.py`.", "Never edit `a.py`") == "Never edit `a.py`."
    assert unrepeated("Use uv. It concerns `src/a.py`.", "Use uv") == "Use uv. It concerns `src/a.py`."
    [found] = candidates(
        you("store it"),
        agent("ok", edited("server.py")),
        you("don't ever hard-code the port in `server.py`"),
        agent("ok"),
    )
    assert (found.body, found.references) == ("Never hard-code the port in `server.py`.", ("server.py",))
