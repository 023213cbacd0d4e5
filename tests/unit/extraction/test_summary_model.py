"""Summaries with a model: asked of what is new, believed only where it stands in what was shown, told by rules else."""

import json
from pathlib import Path
from typing import Any

import pytest

from lerim.errors import ModelGoneError, ModelKeyError
from lerim.extraction.locate import Locator
from lerim.extraction.model.answer_cache import AnswerCache
from lerim.extraction.summaries.by_rules import summarize_by_rules
from lerim.extraction.summaries.facts import SummaryFacts
from lerim.extraction.summaries.model import SummaryTask, summarize_with_model
from lerim.extraction.summaries.parts import SessionPart, SummaryParts, unpack_parts
from lerim.extraction.summaries.summary import Summary, count_words, render_summary, split_sections
from lerim.models import lm15, tokens
from lerim.models.money.usage import ModelStep
from lerim.sessions.catalog.summary_turns import SummaryTurn
from scripted_lm import Cut, Script
from told_turns import edit, prompt, shell, turn

GROWS = [
    prompt(0, "Always use pnpm here, never npm, because of the lockfile. Please install left-pad."),
    turn(1, "I've added left-pad with pnpm.", shell("pnpm add left-pad"), edit("/home/ana/app/package.json")),
]
MORE = [
    prompt(2, "No, do not add left-pad: write src/pad.ts instead, because we want no new dependencies."),
    turn(3, "I've written `src/pad.ts` and removed left-pad.", edit("/home/ana/app/src/pad.ts")),
]


def says(*statements: tuple[str, str, list[int]], **more: Any) -> str:
    told = [{"about": about, "text": text, "turns": turns} for about, text, turns in statements]
    value = json.dumps({"title": "Padding", "description": "", "tags": [], "statements": told} | more)
    return f"[[ ## summary ## ]]\n{value}\n\n[[ ## completed ## ]]\n"


WANTED = says(
    ("intent", "The person wanted left-pad installed with pnpm", [0]),
    ("happened", "The agent added left-pad to `package.json`.", [1]),
    ("outcome", "left-pad is installed.", [1]),
    title="Install left-pad with pnpm",
    description="A package is added with pnpm.",
    tags=["pnpm", "Not A Tag"],
)


def told(
    script: Script, turns: list[SummaryTurn], folder: Path, parts: SummaryParts | None = None, **how: Any
) -> tuple[Summary, list[ModelStep]]:
    rules = summarize_by_rules(turns, SummaryFacts("claude", "Claude Code", ""), Locator(("/home/ana/app",)))
    assert rules is not None
    steps: list[ModelStep] = []
    given: dict[str, Any] = {
        "limit": lambda: 300_000,
        "overlap_tokens": 0,
        "gate": True,
        "count": tokens.count_tokens,
        "model": "x:m",
        "before_call": lambda: None,
        "add_step": steps.append,
    } | how
    answers = AnswerCache(folder, "x:m", SessionPart)
    task = SummaryTask("claude:s1", turns, rules, "{}", answers=answers, **given)
    return summarize_with_model(script.lm, task, parts or SummaryParts(model="x:m")), steps


def test_what_a_model_says_is_kept_with_the_turns_it_names(tmp_path: Path) -> None:
    made, steps = told(Script(WANTED), GROWS, tmp_path)
    assert steps == []
    assert made.title == "Install left-pad with pnpm"
    assert [(one.text, one.turns) for one in made.intent] == [
        ("The person wanted left-pad installed with pnpm.", ("000000000000",))
    ]
    assert made.happened[0].turns == ("000000000001",)
    assert made.description.startswith("A package is added with pnpm. A Claude Code session of 1 prompt")
    assert made.tags[0] == "pnpm"
    assert made.paths == ("package.json",)
    script = Script("never")
    again, steps = told(script, GROWS, tmp_path)  # asked again, it asks nothing
    assert (again, script.prompts, [step.kind for step in steps]) == (made, [], ["resumed"])
    cut = Script(Cut(WANTED.partition('{"about": "outcome"')[0]))
    assert told(cut, GROWS, tmp_path / "cut")[0].intent == made.intent


@pytest.mark.parametrize(
    "text",
    [
        "The agent ran 14 tests.",
        "The agent changed `src/other.ts`.",
        "The function getUser was renamed.",
    ],
)
def test_a_statement_with_a_number_path_or_name_nobody_said_is_dropped(tmp_path: Path, text: str) -> None:
    script = Script(says(("intent", "The person wants pnpm.", [0]), ("happened", text, [1])))
    made, _ = told(script, GROWS, tmp_path)
    assert text not in render_summary(made)
    assert made.intent[0].text == "The person wants pnpm."
    assert "`pnpm add left-pad` (passed)" in made.happened[0].text  # what the rules say instead


def test_statements_about_turns_that_were_not_shown_and_too_many_words_are_left_out(tmp_path: Path) -> None:
    script = Script(says(("intent", "The person wants pnpm.", [0, 99]), ("outcome", "All is well.", [7])))
    made, _ = told(script, GROWS, tmp_path)
    assert made.intent[0].turns == ("000000000000",)
    assert "All is well" not in render_summary(made)
    long = [(about, f"{'pnpm is wanted by all ' * 5}.", [0]) for about in ("intent", "happened") for _ in range(12)]
    made, _ = told(Script(says(*long)), GROWS, tmp_path / "long")
    found = split_sections(render_summary(made))
    assert count_words(found["User intent"]) <= 150
    assert count_words(found["What happened"]) <= 200


def test_what_is_private_is_not_sent_and_markup_links_and_secrets_of_an_answer_do_not_arrive(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    turns = [
        prompt(0, f"Always use pnpm <private>for Acme</private> with {token}, because of the lockfile"),
        turn(1, "Done.", shell(f"deploy --token {token} # <private>Acme</private>")),
    ]
    script = Script(WANTED)
    told(script, turns, tmp_path / "private")
    assert script.prompts
    assert not any(token in asked or "Acme" in asked for asked in script.prompts)
    said = f"## Files\n<b>pnpm</b> is [wanted](https://evil.test/?q=1) \u200bby {token} the person."
    made, _ = told(Script(says(("intent", said, [0]), ("outcome", "**pnpm** is wanted.", [0]))), GROWS, tmp_path)
    text = render_summary(made)
    assert set(split_sections(text)) == {"", "User intent", "What happened", "Outcome", "Files"}
    for part in ("<b>", "](", "https:", token, "\u200b", "**"):
        assert part not in text


def test_an_answer_that_cannot_be_read_leaves_the_rules_and_is_told(tmp_path: Path) -> None:
    script = Script("I cannot do that.")
    made, steps = told(script, GROWS, tmp_path)
    rules = summarize_by_rules(GROWS, SummaryFacts("claude", "Claude Code", ""), Locator(("/home/ana/app",)))
    assert rules is not None
    assert made.intent == rules.intent
    assert made.title == rules.title
    assert [(step.kind, step.role) for step in steps] == [("unread", "summarize")]
    assert len(script.prompts) == 2


def test_a_session_that_grew_sends_its_new_turns_alone_and_joins_what_was_told(tmp_path: Path) -> None:
    parts = SummaryParts(model="x:m")
    told(Script(WANTED), GROWS, tmp_path, parts)
    state = parts.model_dump_json().encode()
    whole = [*GROWS, *MORE]
    script = Script(
        says(("intent", "The person wanted no new dependencies.", [2])),
        says(("intent", "The person wanted no left-pad in the end.", [0, 2]), title="No left-pad"),
    )
    made, _ = told(script, whole, tmp_path, unpack_parts(state, "x:m", whole))
    assert len(script.prompts) == 2
    assert "Please install left-pad" not in script.prompts[0]
    assert "no new dependencies" in script.prompts[0]
    assert "The agent added left-pad" in script.prompts[1]
    assert made.title == "No left-pad"
    assert made.intent[0].turns == ("000000000000", "000000000002")
    for told_by, turns in (("y:n", whole), ("x:m", whole[:1])):  # another model, another session
        assert unpack_parts(state, told_by, turns).sent == -1
    for broken in (b"{", None):
        assert unpack_parts(broken, "x:m", whole).sent == -1
    overlapping = Script(says(("intent", "No new dependencies.", [2])))
    told(overlapping, whole, tmp_path / "more", unpack_parts(state, "x:m", whole), overlap_tokens=1_000)
    assert "Please install left-pad" in overlapping.prompts[0]


def test_several_windows_are_told_one_by_one_and_joined(tmp_path: Path) -> None:
    long = [prompt(number, f"Always use pnpm, because of number {number}. {'word ' * 60}") for number in range(8)]
    script = Script(
        lambda asked: says(
            ("intent", "The person always wants pnpm.", [0, 7])
            if "## parts ##" in asked
            else ("intent", "The person wants pnpm.", list(range(8)))
        )
    )
    made, _ = told(script, long, tmp_path, limit=lambda: 200)
    joining = ["## parts ##" in asked for asked in script.prompts]
    assert joining.count(False) > 3
    assert joining.count(True) >= 1
    assert joining[-1]
    assert made.intent[0].turns == ("000000000000", "000000000007")


TOO_LARGE = lm15.ContextLengthError("too large")


def test_a_model_that_takes_no_window_is_given_up_after_few_questions(tmp_path: Path) -> None:
    long = [prompt(at, f"Always use pnpm, never npm, because of lock file {at}. " * 60) for at in range(40)]
    script = Script(TOO_LARGE)
    parts = SummaryParts(model="x:m")
    with pytest.raises(ModelGoneError, match="context is too small"):
        told(script, long, tmp_path, parts)
    assert len(script.prompts) < 12
    assert parts.parts == []


def test_a_turn_counts_as_told_only_when_all_its_pieces_are(tmp_path: Path) -> None:
    one = [prompt(0, "Always use pnpm here, never npm, because of the lockfile. " * 120)]
    parts = SummaryParts(model="x:m")
    with pytest.raises(ModelKeyError):
        told(Script(TOO_LARGE, WANTED, lm15.AuthError("no", status=401)), one, tmp_path, parts)
    assert (parts.sent, parts.parts) == (-1, [])
    script = Script(TOO_LARGE, WANTED)
    told(script, one, tmp_path, parts)
    assert parts.sent == 0
    assert len(parts.parts) == 2


def test_a_window_without_a_signal_is_told_by_the_rules(tmp_path: Path) -> None:
    turns = [prompt(0, "show src/app.py"), turn(1, "It is an app.")]
    script = Script(WANTED)
    made, steps = told(script, turns, tmp_path)
    assert script.prompts == []
    assert [step.kind for step in steps] == ["skipped"]
    assert made.intent[0].text == "The user wrote: “show src/app.py”"
    _, steps = told(script, turns, tmp_path, gate=False)
    assert len(script.prompts) >= 1
