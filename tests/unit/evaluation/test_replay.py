"""The replay of a project's sessions: which repeats memories would have prevented, what was given for nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from claude_lines import Fields, answer, call, encoded, prompt, reply, text
from lerim_evals.cli import main
from lerim_evals.replay.projects import find_projects, read_sessions
from lerim_evals.replay.repeats import LabelledRepeat, find_repeats
from lerim_evals.replay.replay import ProjectReplay, replay_project

RULE = "No, use pathlib instead of os.path in src/app.py."
AGAIN = "I said to use pathlib instead of os.path in src/app.py."


def talk(day: int, *records: Fields) -> list[Fields]:
    """A session's records, a minute apart."""
    return [{**one, "timestamp": f"2026-03-{day:02}T12:{minute:02}:00.000Z"} for minute, one in enumerate(records)]


def correction(day: int) -> list[Fields]:
    """A session in which the person corrects the agent."""
    path = "/home/ana/app/src/app.py"
    return talk(
        day,
        prompt("Read the config in src/app.py"),
        reply(f"a{day}", text("I will use os.path in src/app.py."), call(f"t{day}", "Read", file_path=path)),
        answer(f"t{day}", "def load(path): ..."),
        prompt(RULE),
        reply(
            f"b{day}",
            text("Done."),
            call(f"e{day}", "Edit", file_path=path, old_string="os.path", new_string="pathlib"),
        ),
        answer(f"e{day}", "The file was updated."),
        prompt("perfect, commit it"),
        reply(f"c{day}", text("Committed.")),
    )


def small_talk(day: int) -> list[Fields]:
    return talk(day, prompt(f"Explain test number {day} to me"), reply(f"m{day}", text("It loads the file.")))


def repetition(day: int) -> list[Fields]:
    return talk(
        day,
        prompt("Save the config, too"),
        reply(f"m{day}", text("I will do that with os.path.")),
        prompt(AGAIN),
        reply(f"n{day}", text("Done.")),
    )


def write_project(folder: Path, sessions: Sequence[Sequence[Fields]], name: str = "ana+app") -> None:
    target = folder / name / "claude"
    target.mkdir(parents=True)
    for number, records in enumerate(sessions):
        session = f"00000000-0000-4000-8000-{number:012d}"
        lines = ({**record, "sessionId": session} for record in records)
        (target / f"{session}.jsonl").write_bytes(encoded(*lines))


def replay(folder: Path, labelled: Sequence[LabelledRepeat] = (), variant: Any = "proposed") -> ProjectReplay:
    [(project, transcripts)] = find_projects([folder]).items()
    sessions, problems = read_sessions(transcripts)
    assert not problems
    return replay_project(project, sessions, labelled, variant)


def test_a_repeated_correction_counts_as_prevented_if_its_memory_was_given_before_it(tmp_path: Path) -> None:
    write_project(tmp_path, [correction(1), small_talk(2), repetition(3)])
    [outcome] = replay(tmp_path).repeats
    assert (outcome.repeat.kind, outcome.repeat.said, outcome.is_remembered) == ("said again", AGAIN, True)
    assert {"rules", "start"} <= outcome.in_time


def test_a_memory_that_comes_with_the_repeat_itself_is_late(tmp_path: Path) -> None:
    write_project(tmp_path, [correction(1), repetition(3)])
    [outcome] = replay(tmp_path).repeats
    assert "prompt" in outcome.late and "prompt" not in outcome.in_time


def test_what_is_said_again_in_the_same_session_or_before_is_no_repeat(tmp_path: Path) -> None:
    write_project(tmp_path, [small_talk(1), [*correction(2), *talk(3, prompt(AGAIN), reply("z", text("Yes.")))]])
    assert replay(tmp_path).repeats == ()


def test_the_same_prompt_sent_again_to_start_over_is_no_repeat(tmp_path: Path) -> None:
    write_project(tmp_path, [correction(1), correction(3)])
    assert replay(tmp_path).repeats == ()


def test_a_session_that_had_not_ended_teaches_nothing_yet(tmp_path: Path) -> None:
    unfinished = [*correction(1), *talk(4, prompt("Anything else?"), reply("y", text("No.")))]
    write_project(tmp_path, [unfinished, repetition(3)])
    result = replay(tmp_path)
    assert (result.repeats, result.servings) == ((), ())


def test_a_failure_that_comes_again_with_the_same_fix_is_a_repeat(tmp_path: Path) -> None:
    def failing(day: int) -> list[Fields]:
        path = "/home/ana/app/pyproject.toml"
        return talk(
            day,
            prompt(f"Run the tests of part {day}"),
            reply(f"a{day}", call(f"r{day}", "Bash", command="uv run pytest")),
            answer(f"r{day}", "Exit code 2\nerror: Failed to spawn: `pytest`", is_error=True),
            reply(f"b{day}", call(f"e{day}", "Edit", file_path=path, old_string="[]", new_string='["pytest"]')),
            answer(f"e{day}", "The file was updated."),
            reply(f"c{day}", call(f"s{day}", "Bash", command="uv run pytest")),
            answer(f"s{day}", "3 passed in 0.1s"),
        )

    write_project(tmp_path, [failing(1), small_talk(2), failing(3)])
    [outcome] = replay(tmp_path).repeats
    assert outcome.repeat.kind == "failed again"


def test_a_labelled_repeat_is_known_by_its_turns_and_taken_instead_of_a_found_one(tmp_path: Path) -> None:
    write_project(tmp_path, [correction(1), repetition(3)])
    [(project, transcripts)] = find_projects([tmp_path]).items()
    first, second = read_sessions(transcripts)[0]
    before = next(turn for turn in first.prompts if turn.text == RULE)
    again = next(turn for turn in second.prompts if turn.text == AGAIN)
    label = LabelledRepeat(project, second.id, again.id, AGAIN, first.id, before.id, RULE, "Paths are pathlib's")
    assert [one.kind for one in find_repeats([first, second], [label])] == ["labelled"]
    written = replay(tmp_path, [label], "written")
    assert [one.title for one in written.servings if one.serving.channel == "start"] == ["Paths are pathlib's"]
    assert "start" in written.repeats[0].in_time


def test_what_came_up_in_a_session_was_needed_and_everything_else_was_not(tmp_path: Path) -> None:
    write_project(tmp_path, [correction(1), small_talk(2), repetition(3)])
    rules = [one for one in replay(tmp_path).servings if "pathlib" in one.title and one.serving.channel == "rules"]
    assert [one.was_needed for one in rules] == [False, True]


def test_the_command_prints_the_same_table_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talks = [correction(1), *(small_talk(day) for day in range(2, 7)), repetition(8)]
    write_project(tmp_path, talks, "EntityProcess+agentv")
    tables = []
    for _ in range(2):
        assert main(["--replay", "--sessions", str(tmp_path)]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert "EntityProcess/agentv: hooks" in tables[0]
    assert main(["--replay", "--sessions", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    [row] = [one for one in rows if (one["channel"], one["variant"], one["project"]) == ("rules", "proposed", "")]
    assert (row["repeats"], row["labelled"], row["prevented"]) == (1, 0, 1)


def test_a_project_for_tuning_is_not_among_those_for_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path, [small_talk(day) for day in range(1, 8)], "EntityProcess+agentv")
    assert main(["--replay", "--set", "held", "--sessions", str(tmp_path)]) == 1
    assert "No project has 6 sessions here" in capsys.readouterr().err
