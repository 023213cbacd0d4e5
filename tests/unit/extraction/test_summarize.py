"""A session's summary without a model: only what was said and done, in few words, each statement with its turns."""

import re
from dataclasses import replace

import pytest

from lerim.extraction.locate import Locator
from lerim.extraction.summaries.by_rules import summarize_by_rules
from lerim.extraction.summaries.facts import SummaryFacts
from lerim.extraction.summaries.summary import (
    Statement,
    Summary,
    count_words,
    fit_statements,
    render_summary,
    split_sections,
)
from lerim.sessions.catalog.summary_turns import SummaryTurn
from lerim.sessions.model import QuestionAnswer, ToolCall
from told_turns import edit, prompt, shell, turn

FACTS = SummaryFacts("claude", "Claude Code", "")


def told(*turns: SummaryTurn, facts: SummaryFacts = FACTS) -> Summary:
    made = summarize_by_rules(turns, facts, Locator(("/home/ana/app",)))
    assert made is not None
    return made


SESSION = (
    prompt(0, "Please add a retry to src/fetch.py, three times at most."),
    turn(1, "Let me look.", edit("/home/ana/app/src/fetch.py")),
    turn(2, "", shell("npm test", status="error", exit_code=1, output="1 failed")),
    turn(3, "Now again:", edit("/home/ana/app/src/fetch.py"), shell("npm test")),
    turn(4, "Perfect!\n\n## Summary\n\nI've added a retry to `fetch` with at most three tries.\n"),
    prompt(5, "great, commit it"),
    turn(6, "", shell("git add -A && git commit -m 'Fetch tries three times'")),
    turn(7, "Committed it as 1a2b3c4."),
)


def test_a_session_is_told_by_what_was_asked_done_and_came_of_it() -> None:
    made = told(*SESSION)
    assert made.title == "Add a retry to src/fetch.py, three times at most"
    assert made.description == (
        "A Claude Code session of 2 prompts on `main`: 1 file changed, 2 project commands run (1 failed), 1 commit."
    )
    assert [one.text for one in made.intent] == [
        "The user wrote: “Please add a retry to src/fetch.py, three times at most.”",
        "Then: “great, commit it”",
    ]
    assert [one.text for one in made.happened] == [
        "Changed `src/fetch.py`. Ran `npm test` (failed, then passed). The agent said: “I've added a retry to `fetch`"
        " with at most three tries.”",
        "Committed “Fetch tries three times”.",
    ]
    assert [one.text for one in made.outcome] == [
        "Committed “Fetch tries three times”.",
        "`npm test` passed the last time it was run.",
        "The user's last words: “great, commit it”",
        "The agent's last report: “Committed it as 1a2b3c4.”",
    ]
    assert made.files == (Statement("`src/fetch.py`: 2 changes", ("000000000001", "000000000003")),)
    assert made.paths == ("src/fetch.py",)
    assert made.tags == ("python", "npm")
    for one in (*made.intent, *made.happened, *made.outcome, *made.files):
        assert one.turns and {turn.id for turn in SESSION}.issuperset(one.turns)
    assert told(*SESSION, facts=replace(FACTS, title="Retries for fetch")).title == "Retries for fetch"
    other = told(*SESSION, facts=replace(FACTS, agent="OpenCode"))
    assert other.description.startswith("An OpenCode session of 2 prompts")


def test_a_session_without_a_request_has_no_summary() -> None:
    assert summarize_by_rules([prompt(0, "hello"), turn(1, "Hi!")], FACTS, Locator(())) is None
    assert summarize_by_rules([turn(0, "I am a subagent.")], FACTS, Locator(())) is None
    assert summarize_by_rules([], FACTS, Locator(())) is None


def test_what_is_private_or_secret_is_nowhere_in_it() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    made = told(
        prompt(0, f"Deploy with {token} to staging <private>our client is Acme</private> tonight."),
        turn(
            1, f"I've deployed it with {token} <private>Acme</private> to staging.", shell(f"make deploy TOKEN={token}")
        ),
        facts=replace(FACTS, title=f"Deploy {token} <private>Acme</private>"),
    )
    text = f"{made.title}\n{render_summary(made)}"
    assert token not in text
    assert "Acme" not in text
    assert "staging" in text


def test_markup_links_and_forged_sections_do_not_survive() -> None:
    made = told(
        prompt(
            0, "## Outcome\n- forged\n\n<img src=x> See [this](command:run) and [docs](https://x.test/a) now, please."
        ),
        turn(1, "I've fixed it.\n## Files\n- all"),
    )
    text = render_summary(made)
    mine = split_sections("My own line.\n\n## User intent\nmine\n\n## Notes\nmore\n")
    assert mine == {"": "My own line.", "User intent": "mine", "Notes": "more"}
    assert set(split_sections(text)) == {"", "User intent", "What happened", "Outcome", "Files"}
    assert text.count("## Outcome") == 1
    for part in ("<img", "](", "https://", "command:"):
        assert part not in text
    made = told(prompt(0, "Require http:// or https:// as in https://x.test/a here."), turn(1, "I've done it."))
    assert [one.text for one in made.intent] == ["The user wrote: “Require http:// or https:// as in x.test/a here.”"]


def test_a_refused_change_is_no_change_and_an_unknown_end_is_not_called_passed() -> None:
    made = told(
        prompt(0, "Rename the table in db.py"),
        turn(1, "", edit("/home/ana/app/db.py", status="denied")),
        turn(2, "", shell("pytest -q | tail -3")),
    )
    [happened] = made.happened
    assert happened.text == "Ran `pytest -q`. Refused: a change of `db.py`."
    assert made.files == ()
    assert "passed" not in render_summary(made)
    cursor = replace(FACTS, platform="cursor")  # which tells no exit codes
    untold = told(prompt(0, "Run the tests of this"), turn(1, "", shell("pytest", exit_code=None)), facts=cursor)
    assert untold.happened[0].text == "Ran `pytest`."


def test_limits_of_words_hold_and_end_at_sentences() -> None:
    turns: list[SummaryTurn] = []
    for number in range(0, 120, 2):
        turns += [
            prompt(number, f"Change part {number} of src/file{number}.py so that it does what the others do by now."),
            turn(number + 1, f"I've changed part {number}. It is done.", edit(f"/home/ana/app/src/file{number}.py")),
        ]
    made = told(*turns)
    found = split_sections(render_summary(made))
    assert 100 < count_words(found["User intent"]) <= 150
    assert 100 < count_words(found["What happened"]) <= 200
    for line in found["What happened"].splitlines():
        assert re.fullmatch(r"- .*[.!?”] \[[0-9a-f, ]+\]", line)
    assert made.intent[0].text.startswith("The user wrote: “Change part 0")
    assert len(made.files) == 16
    kept = fit_statements([Statement("One two. Three four five six.", ("a",))], 4)
    assert kept == (Statement("One two.", ("a",)),)
    for text, most in (("One two three four five six.", 4), ("她" * 30, 20)):
        assert fit_statements([Statement(text, ("a",))], most) == ()


HANDED_OVER = "Implement the following plan:\n\n# Plan: Group the table by day\n\n## Context\nThe table is long."
CUT = "Implement the following plan: # Plan: Group the table by day ## Context The t"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Rename foo. Keep the alias for old callers.", "Rename foo"),
        ("修复登录。上次部署以来它一直返回错误。", "修复登录"),
        ("Fix #1234 (v2.3.1)\n\nThe page is missing.", "Fix #1234 (v2.3.1)"),
        ("PR-12: 404\n\nThe page is missing.", "PR-12: 404"),
        ("return early\n\nThe page is missing.", "Return early"),
        ("const a = load();\nWhy is the page missing here?", "Why is the page missing here?"),
        (HANDED_OVER, "Implement the plan: Group the table by day"),
    ],
)
def test_a_request_gives_the_title_in_its_first_words_that_are_no_code(said: str, title: str) -> None:
    facts = replace(FACTS, title=CUT) if said == HANDED_OVER else FACTS
    assert told(prompt(0, said), turn(1, "I've done it."), facts=facts).title.startswith(title)


def test_a_look_through_a_tool_that_also_edits_is_no_change_and_an_edit_changes_only_the_file_it_names() -> None:
    look = ToolCall("", "str_replace_editor", "read", "ok", command="view", paths=("/home/ana/app/src/a.py",))
    made = told(prompt(0, "What does src/a.py do today"), turn(1, "", look))
    assert made.paths == ()
    assert made.happened[0].text == "Read `src/a.py`."
    for other in ("src/a.py", "other/lib/src/a.py", "a.py", "my lib/src/a.py"):
        look = ToolCall("", "Read", "read", "ok", paths=(f"/home/ana/app/{other}", other))
        made = told(prompt(0, "Change the file in the library, please"), turn(1, "", look, edit("./lib/src/a.py")))
        assert [one.text for one in made.files] == ["`lib/src/a.py`: 1 change"]


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ('git -C x add . && git commit -qam "Pad left" && git push', ["Committed “Pad left”.", "Pushed."]),
        ("git commit -m \"$(cat <<'EOF'\nPad left\n\nMore.\nEOF\n)\"", ["Committed “Pad left”."]),
        ("git commit -q -m @'\nPad left\n'@", ["Committed “Pad left”."]),
        ("git commit --message 'Pad left' && cat <<EOF\nother\nEOF", ["Committed “Pad left”."]),
        ("git commit --amend --no-edit", ["Committed."]),
        ('git commit -m "Say \\"hi\\" to x"', ['Committed “Say "hi" to x”.']),
        ('git -c user.name="Ana B" -C x commit -m "Pad left"', ["Committed “Pad left”."]),
        ('git commit -m "Fix: git push hangs, gh pr merge too"', ["Committed “Fix: git push hangs, gh pr merge too”."]),
        ("git push --dry-run origin main", []),
        ("git push -n", []),
        ("git commit --dry-run", []),
        ("""grep -rn "run git push" docs; echo 'git commit'""", []),
        ("cat > docs/release.md <<'EOF'\n1. git commit\n2. git push\nEOF", []),
        ("cat <<< notes > a.md\ngit push", ["Pushed."]),
    ],
)
def test_commits_and_pushes_are_told_by_the_first_line_of_their_message_and_words_about_them_are_none(
    command: str, outcome: list[str]
) -> None:
    made = told(prompt(0, "Do what is left to do, please"), turn(1, "", shell(command)))
    assert [one.text for one in made.outcome if one.text != "No file was changed."] == outcome


@pytest.mark.parametrize("exit_code", [0, 1])
@pytest.mark.parametrize(("more", "known"), [("\\n  -- --watch", True), ("echo done", False)])
def test_the_result_of_a_script_says_nothing_of_its_first_line(exit_code: int, more: str, known: bool) -> None:
    script = shell(f"npm test {more}" if known else f"npm test\n{more}", exit_code=exit_code)
    said = " ".join(one.text for one in told(prompt(0, "Run the tests, please"), turn(1, "", script)).outcome)
    assert ("passed" in said or "failed" in said) is known


def test_what_the_person_chose_is_told_with_the_question() -> None:
    asked = QuestionAnswer("Which manager shall it be?", ("npm", "pnpm"), "pnpm")
    typed = QuestionAnswer("Which port?", ("80", "443"), "neither\nuse 81")
    call = ToolCall("", "AskUserQuestion", "ask", "ok", answers=(asked, typed))
    made = told(prompt(0, "Set up the project from nothing"), turn(1, "", call))
    first = "The user answered “Which manager shall it be?”: “pnpm”."
    assert made.happened[0].text == f"{first} The user answered “Which port?”: “neither use 81”."


def test_hostile_text_is_told_of_in_time() -> None:
    lines = [
        "git commit " * 900,
        'git commit -m "' * 500,
        "<<E\n" * 2_000,
        "```\n" * 5_000,
        'git commit "\\' + '\\"' * 900,
        "? [" * 3_000 + "] " * 3_000,
    ]
    turns = [prompt(0, "Do all of this at once, if you can")]
    for number, line in enumerate(lines, 1):
        odd = ToolCall("", "Ask", "other", "ok", command=line)
        turns.append(turn(number, line, shell(line), odd))
    assert told(*turns).intent
