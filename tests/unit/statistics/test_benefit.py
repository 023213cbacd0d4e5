"""`lerim benefit`: what became of the memories that agents were given."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

import terminal
from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.memory import ServedOutcomes, Serving, Uses, record_serving
from lerim.memory.serving.servings import Channel
from lerim.statistics import BenefitFigures, compute_benefit
from reviews import remember

run = partial(terminal.run, "benefit")
show = partial(terminal.answer, "benefit")
DAY = "2026-03-02T12:"


def at(clock: str) -> str:
    return f"{DAY}{clock}Z"


def seconds(clock: str) -> float:
    return datetime.fromisoformat(at(clock)).timestamp()


def serve(
    desk: Desk, memory: str, clock: str, session: str = "s1", *, event: str = "start", agent: str = "claude"
) -> None:
    channel: Channel = "hook" if session else "mcp"
    assert (
        record_serving(desk.place.private, Serving(seconds(clock), channel, agent, event, (memory,), session)) is None
    )


def figures(desk: Desk, memory: str) -> BenefitFigures:
    desk.sync()
    found = compute_benefit(desk.place.project, desk.home).memories
    return next(one for one in found if one.id == memory)


def outcome(one: BenefitFigures) -> list[str]:
    return [
        name
        for name in ("followed", "contradicted", "corrected", "not_seen", "unknown")
        for _ in range(getattr(one, name))
    ]


def shell(native: str, clock: str, command: str, *, failed: bool = False) -> list[Fields]:
    return [
        reply(f"m-{native}", call(native, "Bash", command=command), timestamp=at(clock)),
        answer(native, "Exit code 1" if failed else "ok", is_error=failed, timestamp=at(clock)),
    ]


def edit(native: str, clock: str, old: str, new: str) -> list[Fields]:
    path = "/app/src/app.py"
    block = call(native, "Edit", file_path=path, old_string=old, new_string=new)
    return [reply(f"m-{native}", block, timestamp=at(clock)), answer(native, "updated", timestamp=at(clock))]


def say(clock: str, words: str) -> Fields:
    return prompt(words, timestamp=at(clock))


PATHLIB, PNPM = "Use pathlib instead of os.path", "Use pnpm instead of npm"


@pytest.mark.parametrize(
    ("title", "records", "event", "found"),
    [
        (PATHLIB, [*edit("e1", "01:30", "", "import os.path\n"), say("03:00", "Good")], "start", "not_seen"),
        (PNPM, [*shell("c1", "03:00", "pnpm add x"), *shell("c2", "04:00", "npm install y")], "start", "contradicted"),
        (PNPM, shell("c1", "03:00", "grep -rn npm docs"), "start", "not_seen"),
        (PNPM, shell("c1", "03:00", "echo npm is slow"), "start", "not_seen"),
        (PNPM, shell("c1", "03:00", "git commit -m 'npm is gone'"), "start", "not_seen"),
        (PNPM, shell("c1", "03:00", "cat docs/npm.md | head -3"), "start", "not_seen"),
        (
            PATHLIB,
            [*edit("e1", "03:00", "", "import pathlib\n"), say("04:00", "No, I said pathlib instead of os.path.")],
            "start",
            "corrected",
        ),
        ("Use caution when you migrate", shell("c1", "03:00", "caution --all"), "start", "unknown"),
        (PATHLIB, [say("02:01", "Use pathlib instead of os.path here, please.")], "prompt", "not_seen"),
    ],
)
def test_what_happened_after_a_memory_was_served_counts_and_a_correction_above_all_else(
    desk: Desk, title: str, records: list[Fields], event: str, found: str
) -> None:
    memory = remember(desk.place, title)
    last = reply("m", text("Yes."), timestamp=at("05:00"))
    desk.session("s1", say("01:00", "Load the config"), *records, last)
    serve(desk, memory, "02:00", event=event)
    assert outcome(figures(desk, memory)) == [found]


def test_a_fix_is_followed_only_if_its_command_ran_and_succeeded(desk: Desk) -> None:
    memory = remember(desk.place, "`make test` needs `DB_URL` to be set")
    desk.session("s1", say("01:00", "Test"), *shell("c1", "03:00", "DB_URL=x make test", failed=True))
    desk.session("s2", say("01:00", "Test"), *shell("c2", "03:00", "cd app && DB_URL=x make test | tail"))
    desk.session("s3", say("01:00", "Test"), *shell("c3", "03:00", "make test", failed=True))
    for session in ("s1", "s2", "s3"):
        serve(desk, memory, "02:00", session, event="failure")
    one = figures(desk, memory)
    assert (one.sessions, sorted(outcome(one))) == (3, ["contradicted", "followed", "not_seen"])


def test_a_memory_that_asks_for_nothing_code_can_see_is_unknown_until_it_is_corrected(desk: Desk) -> None:
    memory = remember(desk.place, "Error messages name the file and the person's next step")
    desk.session("s1", say("01:00", "Write it"), *edit("e1", "03:00", "a", "b"))
    desk.session(
        "s2", say("01:00", "Write it"), say("03:00", "Again: error messages must name the file and the next step.")
    )
    serve(desk, memory, "02:00", "s1")
    serve(desk, memory, "02:00", "s2")
    assert sorted(outcome(figures(desk, memory))) == ["corrected", "unknown"]
    assert compute_benefit(desk.place.project, desk.home).unknown.nothing_to_see == 1


def test_over_mcp_the_session_is_the_only_one_of_the_agent_at_that_time(desk: Desk) -> None:
    memory = remember(desk.place, PNPM)
    desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "pnpm add x"))
    for name in ("s2", "s3"):
        desk.session(name, say("20:00", "Add it"), *shell(f"c-{name}", "25:00", "pnpm add x"))
    serve(desk, memory, "02:00", "", event="recall", agent="claude-code")
    serve(desk, memory, "02:00", "", event="recall", agent="codex-mcp-client")
    serve(desk, memory, "09:00", "", event="recall", agent="claude-code")
    serve(desk, memory, "22:00", "", event="recall", agent="claude-code")
    one = figures(desk, memory)
    assert (one.served, one.mcp, one.sessions, outcome(one)) == (4, 4, 1, ["followed"])
    assert compute_benefit(desk.place.project, desk.home).unknown.no_session == 3


def test_a_correction_in_a_session_where_the_memory_was_not_served_is_missed(desk: Desk) -> None:
    memory = remember(desk.place, "Use pathlib instead of os.path")
    desk.session("s1", say("01:00", "Load it"), reply("m", text("Yes."), timestamp=at("03:00")))
    desk.session("s2", say("10:00", "Save it"), say("11:00", "Use pathlib instead of os.path."))
    serve(desk, memory, "02:00")
    assert figures(desk, memory).missed == 1
    assert Uses(desk.place.private).of_all()[memory].outcomes == ServedOutcomes(repeated=1)


def test_maintenance_finds_out_what_became_of_memories(desk: Desk) -> None:
    memory = remember(desk.place, "Use pnpm instead of npm")
    desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "pnpm add x"))
    serve(desk, memory, "02:00")
    desk.sync()
    terminal.run("maintain", "--repo", str(desk.repo), "--dry-run")
    assert Uses(desk.place.private).of_all()[memory].outcomes == ServedOutcomes()
    terminal.run("maintain", "--repo", str(desk.repo))
    assert Uses(desk.place.private).of_all()[memory].outcomes == ServedOutcomes(followed=1)


def test_a_transcript_that_is_gone_leaves_the_outcome_unknown(desk: Desk) -> None:
    memory = remember(desk.place, "Use pnpm instead of npm")
    path = desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "pnpm add x"))
    serve(desk, memory, "02:00")
    desk.sync()
    path.unlink()
    assert outcome(figures(desk, memory)) == ["unknown"]
    assert compute_benefit(desk.place.project, desk.home).unknown.not_read == 1


def test_the_figures_change_no_memory_and_no_file_but_the_record_of_uses(desk: Desk) -> None:
    memory = remember(desk.place, "Use pnpm instead of npm")
    desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "npm add x"))
    serve(desk, memory, "02:00")
    desk.sync()
    stored = desk.place.store().load_by_id(memory)

    def files() -> dict[Path, bytes]:
        paths = [path for path in desk.home.root.rglob("*") if path.is_file() and "index" not in path.parts]
        return {path: path.read_bytes() for path in paths if not path.name.startswith("uses.sqlite3")}

    before = files()
    assert compute_benefit(desk.place.project, desk.home) == compute_benefit(desk.place.project, desk.home)
    assert desk.place.store().load_by_id(memory) == stored
    assert files() == before


def test_the_command_shows_each_memory_and_all_of_them_and_says_what_is_unknown(desk: Desk) -> None:
    assert run("--repo", str(desk.repo)).stdout == "No memory was ever given to an agent here.\n"
    memory = remember(desk.place, "Use pnpm instead of npm")
    other = remember(desk.place, "Names are short")
    desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "pnpm add x"))
    serve(desk, memory, "02:00")
    serve(desk, other, "02:00")
    serve(desk, other, "02:00", "unheard-of")
    desk.sync()
    shown = run("--repo", str(desk.repo)).stdout
    assert "Use pnpm instead of npm" in shown and "all (3 servings)" in shown
    assert "Without a known session: 1 serving." in shown
    assert "Unknown 1 times: Lerim cannot recognize in a session what the memory asks for." in shown
    found = show("--repo", str(desk.repo))
    assert [one["id"] for one in found["memories"]] == [other, memory]
    assert (found["servings"], found["total"]["served"], found["total"]["sessions"]) == (3, 3, 1)
    assert found["unknown"] == {"no_session": 1, "not_read": 0, "older": 0, "nothing_to_see": 1}
    [one] = show("--repo", str(desk.repo), "--memory", memory[:-3])["memories"]
    assert (one["id"], one["followed"]) == (memory, 1)


def test_a_memory_that_was_archived_is_still_counted_by_its_id(desk: Desk) -> None:
    desk.session("s1", say("01:00", "Add it"), *shell("c1", "05:00", "pnpm add x"))
    serve(desk, "20260301-gone", "02:00")
    one = figures(desk, "20260301-gone")
    assert (one.title, one.served, outcome(one)) == ("", 1, ["unknown"])
    assert "20260301-gone (no longer active)" in run("--repo", str(desk.repo)).stdout
