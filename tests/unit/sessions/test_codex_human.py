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


def shown(said):
    return lines.event("user_message", message=said, images=["data:x"])


def spec_kit(typed):
    return (
        f"## User Input\n\n```text\n{typed}\n```\n\nYou **MUST** consider the user input before proceeding.\n\n# Steps"
    )


def first_spec_kit(typed):
    return (
        "---\ndescription: Make a specification.\n---\n\nThe user input to you can be provided directly by the agent "
        "or as a command argument - you **MUST** consider it.\n\nUser input:\n\n"
        f"{typed}\n\nGiven that, always do this:\n1. Run x"
    )


APPLICATION = "<system_instruction>\nYou are working inside an app. Always ask.\n</system_instruction>\n\nUse uv"
INIT = (
    "Generate a file named AGENTS.md that serves as a contributor guide for this repository.\n"
    "Your goal is to produce a clear document.\n- Keep it concise."
)
PICTURE = lines.message("user", "<image name=[Image #1]>", "</image>", "Look at this")
PICTURE["payload"]["content"].insert(1, {"type": "input_image", "image_url": "data:x"})
MEMORIES = "<lerim-memories>\nUse uv\n</lerim-memories>\n"
FILES = "# Files mentioned by the user:\n\n## a.png: /tmp/a.png\n\n## My request:\nUse uv\n"
DELEGATED = "<realtime_delegation>\n  <input>Use &quot;uv&quot;</input>\n</realtime_delegation>"
REQUEST = "Write the heading\n## My request:\nof it"
USE_UV = [("prompt", "Use uv")]
YES = ("reply", "Yes")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        # where events tell what was typed, a message of an unknown kind is not
        (
            [
                lines.message("user", "Plugins you may use: none"),
                lines.prompt("Use uv"),
                lines.said("Yes"),
                lines.message("user", "A new kind of reminder"),
                lines.said("And done"),
            ],
            [*USE_UV, ("reply", "Yes\n\nAnd done")],
        ),
        # where no events are, messages are
        (
            [lines.message("user", CONTEXT), lines.message("user", "Use uv"), lines.message("assistant", "Yes")],
            [*USE_UV, YES],
        ),
        ([lines.message("user", APPLICATION), lines.prompt(APPLICATION), lines.said("Yes")], [*USE_UV, YES]),
        ([lines.prompt(INIT)], [("command", "/init")]),
        ([PICTURE, lines.message("assistant", "Yes")], [("prompt", "Look at this"), YES]),
        ([lines.said(f"{MEMORIES}I add a test")], [("reply", "I add a test")]),
        ([lines.prompt(f"{MEMORIES}Add a test")], [("prompt", "Add a test")]),
        ([lines.prompt(FILES)], USE_UV),
        ([lines.prompt(f"{IDE}## Active file: a.py\n\n{IDE_REQUEST}Use uv\n")], USE_UV),
        ([lines.prompt(DELEGATED)], [("prompt", 'Use "uv"')]),
        ([lines.prompt(f'{REPLY}[{{"question":"Which?","answer":"Use uv"}}]{REPLY.replace("<", "</")}')], USE_UV),
        ([lines.prompt(f"{REPLY}\nUse uv\n{REPLY.replace('<', '</')}")], USE_UV),
        ([lines.prompt("# AGENTS.md\n\nWrite this file")], [("prompt", "# AGENTS.md\n\nWrite this file")]),
        ([lines.prompt(REQUEST)], [("prompt", REQUEST)]),
        ([shown("")], [("prompt", "[image]")]),
        ([shown(f"{IDE}{IDE_REQUEST}")], [("prompt", "[image]")]),
        # of a command that is stored as its whole text only what was typed after it is read
        ([lines.prompt(spec_kit("Let a pupil leave\na group"))], [("prompt", "Let a pupil leave\na group")]),
        ([lines.prompt(spec_kit(""))], [("prompt", "/speckit")]),
        ([lines.prompt(first_spec_kit("Let a pupil leave"))], [("prompt", "Let a pupil leave")]),
        ([lines.prompt(first_spec_kit("$ARGUMENTS"))], [("prompt", "/speckit")]),
    ],
)
def test_of_a_message_only_what_the_person_typed_or_showed_is_read(tmp_path, records, expected):
    turns, done = lines.turns_of(tmp_path, lines.meta(), *records)
    assert [(kind, said.strip()) for kind, said in texts(turns)] == expected
    if "group" in str(expected):
        assert done.session.title == "Let a pupil leave a group"


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
