"""What a person typed in a rollout, told from what Codex and the applications around it put there."""

from __future__ import annotations

import pytest

import codex_lines as lines

CONTEXT = "<environment_context>\n<cwd>/home/ana/app</cwd>\n</environment_context>"
REPLY = "<send_user_message_question_reply>"
IDE, IDE_REQUEST = "# Context from my IDE setup:\n\n", "## My request for Codex:\n"


def texts(turns):
    return [(turn.kind, turn.text) for turn in turns]


@pytest.mark.parametrize(
    "injected",
    [
        CONTEXT,
        "# AGENTS.md instructions for /home/ana/app\n\n<INSTRUCTIONS>\nUse uv\n</INSTRUCTIONS>",
        "<permissions instructions>\nx\n</permissions instructions>",
        "The following is the Codex agent history added since your last approval assessment",
        '<hook_prompt hook_run_id="stop-1">Run the tests</hook_prompt>',
        '<codex_internal_context source="goal">\nGo on\n</codex_internal_context>',
        "<external_codex_apps_open_page>x</external_codex_apps_open_page>",
        "<realtime_delegation><source>transcript_tail_flush</source><input>Go on</input></realtime_delegation>",
        "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
    ],
)
def test_what_codex_puts_into_messages_of_the_user_makes_no_turn(tmp_path, injected):
    for records in ([lines.message("user", injected)], [lines.event("user_message", message=injected)]):
        turns, _ = lines.turns_of(tmp_path, lines.meta(), *records, lines.said("Hello"))
        assert texts(turns) == [("reply", "Hello")]


def test_a_message_of_an_unknown_kind_is_not_typed_where_events_tell_what_was(tmp_path):
    turns, _ = lines.turns_of(
        tmp_path,
        lines.meta(),
        lines.message("user", "Plugins you may use: none"),
        lines.prompt("Use uv"),
        lines.said("Yes"),
        lines.message("user", "A new kind of reminder"),
        lines.said("And done"),
    )
    assert [turn.text for turn in turns] == ["Use uv", "Yes\n\nAnd done"]


def test_what_an_application_puts_before_the_persons_words_is_not_theirs(tmp_path):
    said = "<system_instruction>\nYou are working inside an app. Always ask.\n</system_instruction>\n\nUse uv"
    turns, _ = lines.turns_of(
        tmp_path, lines.meta(), lines.message("user", said), lines.prompt(said), lines.said("Yes")
    )
    assert texts(turns) == [("prompt", "Use uv"), ("reply", "Yes")]


def test_messages_are_what_was_typed_where_no_events_are(tmp_path):
    said = [lines.message("user", CONTEXT), lines.message("user", "Use uv"), lines.message("assistant", "Yes")]
    turns, _ = lines.turns_of(tmp_path, lines.meta(), *said)
    assert texts(turns) == [("prompt", "Use uv"), ("reply", "Yes")]


def shown(said):
    return lines.event("user_message", message=said, images=["data:x"])


@pytest.mark.parametrize(
    ("record", "asked"),
    [
        (lines.prompt("# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request:\nUse uv\n"), "Use uv"),
        (lines.prompt(f"{IDE}## Active file: a.py\n\n{IDE_REQUEST}Use uv\n"), "Use uv"),
        (
            lines.prompt("<realtime_delegation>\n  <input>Use &quot;uv&quot;</input>\n</realtime_delegation>"),
            'Use "uv"',
        ),
        (lines.prompt(f'{REPLY}[{{"question":"Which?","answer":"Use uv"}}]{REPLY.replace("<", "</")}'), "Use uv"),
        (lines.prompt(f"{REPLY}\nUse uv\n{REPLY.replace('<', '</')}"), "Use uv"),
        (lines.prompt("# AGENTS.md\n\nWrite this file"), "# AGENTS.md\n\nWrite this file"),
        (lines.prompt("Write the heading\n## My request:\nof it"), "Write the heading\n## My request:\nof it"),
        (lines.prompt("<lerim-memories>\nUse uv\n</lerim-memories>\nAdd a test"), "Add a test"),
        (shown(""), "[image]"),
        (shown(f"{IDE}{IDE_REQUEST}"), "[image]"),
    ],
)
def test_of_a_prompt_only_what_the_person_typed_or_showed_is_read(tmp_path, record, asked):
    assert texts(lines.turns_of(tmp_path, lines.meta(), record)[0]) == [("prompt", asked)]


@pytest.mark.parametrize(("typed", "asked"), [("Let a pupil leave\na group", None), ("", "/speckit")])
def test_of_a_command_that_is_stored_as_its_whole_text_what_was_typed_after_it_is_read(tmp_path, typed, asked):
    text = (
        f"## User Input\n\n```text\n{typed}\n```\n\nYou **MUST** consider the user input before proceeding.\n\n# Steps"
    )
    turns, done = lines.turns_of(tmp_path, lines.meta(), lines.prompt(text), lines.said("Yes"))
    assert texts(turns) == [("prompt", asked or typed), ("reply", "Yes")]
    assert done.session.title == (asked or "Let a pupil leave a group")


@pytest.mark.parametrize(("typed", "asked"), [("Let a pupil leave", None), ("$ARGUMENTS", "/speckit")])
def test_of_a_command_of_the_first_spec_kit_what_was_typed_after_it_is_read(tmp_path, typed, asked):
    text = (
        "---\ndescription: Make a specification.\n---\n\nThe user input to you can be provided directly by the agent "
        "or as a command argument - you **MUST** consider it.\n\nUser input:\n\n"
        f"{typed}\n\nGiven that, always do this:\n1. Run x"
    )
    turns, _ = lines.turns_of(tmp_path, lines.meta(), lines.prompt(text), lines.said("Yes"))
    assert texts(turns) == [("prompt", asked or typed), ("reply", "Yes")]


def test_what_codex_sends_for_its_command_init_is_the_command(tmp_path):
    text = (
        "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\n"
        "Your goal is to produce a clear document.\n- Keep it concise."
    )
    turns, _ = lines.turns_of(tmp_path, lines.meta(), lines.prompt(text), lines.said("Done"))
    assert texts(turns) == [("command", "/init"), ("reply", "Done")]


def test_what_frames_a_picture_is_not_typed(tmp_path):
    picture = {"type": "input_image", "image_url": "data:x"}
    message = lines.message("user", "<image name=[Image #1]>", "</image>", "Look at this")
    message["payload"]["content"].insert(1, picture)
    turns, _ = lines.turns_of(tmp_path, lines.meta(), message, lines.message("assistant", "I see"))
    assert texts(turns) == [("prompt", "Look at this"), ("reply", "I see")]


def test_our_own_memories_are_never_learned_from_again(tmp_path):
    told = "<lerim-memories>\nUse uv\n</lerim-memories>\nI add a test"
    turns, _ = lines.turns_of(tmp_path, lines.meta(), lines.said(told))
    assert [turn.text.strip() for turn in turns] == ["I add a test"]


def test_a_persons_own_command_is_a_turn_with_what_it_printed(tmp_path):
    told = (
        "<user_shell_command>\n<command>\nmake test\n</command>\n<result>\n"
        "Exit code: 2\nDuration: 0.1 seconds\nOutput:\nno\0rule\n</result>\n</user_shell_command>"
    )
    turns, done = lines.turns_of(
        tmp_path, lines.meta(), lines.message("user", told), lines.event("user_message", message=told)
    )
    assert texts(turns) == [("shell", "make test")]
    (call,) = turns[0].tool_calls
    assert (call.name, call.status, call.exit_code, call.output) == ("!", "error", 2, "no\ufffdrule")
    assert done.session.prompts == 0
