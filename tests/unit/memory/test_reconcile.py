"""What a candidate is to the memories there are."""

import ast
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.claim import claim, similarity
from lerim.memory.framing import unframed
from lerim.memory.reconcile import SAID_LATER, Decision, Neighbour, contradicts
from lerim.memory.reconcile import decide as decide_among
from lerim.memory.record import Evidence, MemoryRecord

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def memory(title: str, body: str, days: int = 0) -> MemoryRecord:
    time = NOW + timedelta(days=days)
    return MemoryRecord("20260801-x", "decision", title, time, time, "claude:s#t", 0.8, (), body)


def candidate(title: str, body: str, **more: object) -> Candidate:
    fields: dict[str, object] = {
        "primitive": "decision",
        "kind": None,
        "title": title,
        "body": body,
        "confidence": 0.8,
        "tags": (),
        "references": (),
        "evidence": (Evidence("q", "t2", "user"),),
        "platform": "claude",
        "session": "s",
        "turn": "t2",
        "time": NOW + timedelta(days=1),
        "signal": "reply",
    }
    return Candidate(**{**fields, **more})  # type: ignore[arg-type]


def decide(said: Candidate, memories: list[MemoryRecord]) -> Decision:
    return decide_among(said, [Neighbour(one, one.updated) for one in memories])


BODY = "Uploads to the archive bucket are retried by `upload.py`."


@pytest.mark.parametrize(
    ("title", "body", "wanted"),
    [
        ("Retry uploads 3 times", BODY, "noop"),
        ("Always retry uploads 3 times", BODY, "noop"),
        ("Retry uploads 5 times", BODY, "update"),
        ("Do not retry uploads 3 times", BODY, "supersede"),
        ("Retry uploads 3 times", BODY.replace("upload.py", "sync.py"), "update"),
        ("Name test files after the module", "So `test_app.py` tests `app.py`.", "add"),
    ],
)
def test_nothing_new_a_change_or_something_new(title: str, body: str, wanted: str) -> None:
    assert decide(candidate(title, body), [memory("Retry uploads 3 times", BODY)]).action == wanted


def test_a_reversal_is_another_claim_about_the_same() -> None:
    one, other = claim("Use uv, not pip", ""), claim("Use pip, not uv", "")
    assert similarity(one, other) == 0
    assert decide(candidate("Use pip, not uv", ""), [memory("Use uv, not pip", "")]).action == "supersede"


HELD = "This holds for all further work. It concerns `src/app.py`."


@pytest.mark.parametrize(
    ("held", "said", "wanted"),
    [
        ("Always validate the order id in src/app.py", "Always validate the user id in src/app.py", "add"),
        ("Run `make check` before a commit", "Run `make ci` before a commit", "add"),
        ("Run `make check` before a commit", "Run `make check` after a commit", "add"),
        ("Run `make check` before a commit", "Run make check before committing", "noop"),
        ("Run `make check` before a commit", "Run `make check` and `make lint` before a commit", "update"),
        ("Use Decimal for money, not float", "Use float for money, not Decimal", "supersede"),
        ("Use Decimal for money, not float", "Use float for amounts of money, not Decimal", "supersede"),
        ("Never log the order id in src/app.py", "Always log the user id in src/app.py", "add"),
        ("Run CI and release workflows on Python 3.11", "Run CI and release workflows on Python 3.12", "update"),
        ("Call `getOrder` with `--strict` on", "Call `getUser` with `--strict` on", "add"),
    ],
)
def test_two_rules_that_share_most_words_are_two(held: str, said: str, wanted: str) -> None:
    for body in ("", HELD, f"{HELD} This corrects what the agent had done before."):
        one, other = memory(held, f"{held}. {body}"), candidate(said, f"{said}. {body}")
        assert decide(other, [one]).action == wanted


def test_what_we_put_around_a_claim_is_no_part_of_it() -> None:
    assert claim("Use uv", HELD) == claim("Use uv", "The person approved this plan.") == claim("Use uv", "")
    denied = "This was said on refusing to let `pip install x` run."
    assert claim("Use uv", f"Use uv. {denied}") == claim("Use uv", "Use uv.")
    assert claim("Use uv", "It concerns all of us.") != claim("Use uv", "")


def test_no_sentence_put_around_claims_is_forgotten() -> None:
    import lerim.facts

    fixed = re.compile(r"(?:This|It|The (?:person|agent)) [a-z].*\.")
    for path in Path(lerim.facts.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if (
                node not in docs
                and isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and fixed.fullmatch(node.value)
            ):
                assert unframed(node.value) == "", path.name


def test_code_paths_flags_numbers_and_names_are_hard() -> None:
    hard = claim("Run `make all` in src/app.py with -x, 3 times, by getUser not max_size", "").hard
    assert {"mak", "al", "src/app.py", "-x", "3", "getuser", "!max_size"} <= hard
    assert not {"run", "tim"} & hard


def test_the_later_turn_wins_whenever_it_was_synced() -> None:
    later = memory("Retry uploads 5 times", BODY, days=9)
    assert decide(candidate("Retry uploads 3 times", BODY), [later]).action == "noop"


def test_another_primitive_is_no_neighbour() -> None:
    found = decide(
        candidate("Retry uploads 3 times", BODY, primitive="learning"), [memory("Retry uploads 3 times", BODY)]
    )
    assert found.action == "add"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use uv, not pip", "Always use uv instead of pip"),
        ("Use uv, not pip", "Prefer uv over pip"),
        ("Never commit generated files", "Don't commit generated files"),
    ],
)
def test_light_rewording_is_the_same_claim(one: str, other: str) -> None:
    assert similarity(claim(one, ""), claim(other, "")) == 1


def test_a_later_choice_that_names_what_it_puts_its_own_in_place_of_supersedes_it() -> None:
    held = memory("Use pip for installs", "")
    new = candidate("Use uv for installs", "", replaces=("pip",))
    assert decide(new, [held]).action == "supersede"
    assert decide(candidate("Use uv for installs", ""), [held]).action == "add"
    assert decide(candidate("Sort imports with isort", "", replaces=("pip",)), [held]).action == "add"
    older = candidate("Use uv for installs", "", replaces=("pip",), time=NOW - timedelta(days=1))
    assert decide(older, [held]).action == "add"


@pytest.mark.parametrize(
    ("held", "said", "wanted"),
    [
        ("Use uv, not pip", "Use poetry, not uv", "supersede"),
        ("Use uv instead of pip", "Prefer poetry over uv", "supersede"),
        ("Use `uv`, not `pip`", "Use `poetry`, not `uv`", "supersede"),
        ("Use poetry, not uv", "Use uv, not pip", "supersede"),
        ("Deploy with Docker, not Helm", "Deploy with Helm, not Kustomize", "supersede"),
        ("Keep secrets in the vault, not in `.env`", "Keep secrets in 1Password, not in the vault", "supersede"),
        ("Use uv, not pip", "Use poetry for the docs site, not uv", "add"),
        ("Use uv, not pip", "Use poetry instead of uv in the docs site", "add"),
        ("Use poetry, not uv", "Use uv for the docs site, not pip", "add"),
        ("Use uv, not pip", "Use poetry, not pip", "add"),
        ("Keep secrets in `.env`, not in the config", "Keep flags in the config, not in code", "add"),
        ("Cache images by digest, not by tag", "Sign releases by tag, not by branch", "add"),
    ],
)
def test_a_choice_ends_the_one_that_chose_what_it_refuses_or_refused_what_it_chooses(
    held: str, said: str, wanted: str
) -> None:
    for body in ("", "No, {} please.", "It is what everybody here has installed. The lock file in `ci.yml` says so."):
        one, other = memory(held, "It was said before. " * bool(body)), candidate(said, body.format(said))
        assert decide(other, [one]).action == wanted, body


def test_what_a_memory_refuses_is_no_ground_that_has_to_be_said_again() -> None:
    held = memory("Use uv, not pip", "")
    assert decide(candidate("Installs go through poetry", "", replaces=("uv",)), [held]).action == "supersede"
    held = memory("Use uv for all installs, not pip", "")
    assert decide(candidate("Sort imports with isort", "", replaces=("uv",)), [held]).action == "add"


def test_a_memory_whose_later_turn_says_it_again_outweighs_a_contradiction_in_between() -> None:
    held = memory("Use uv, not pip", "")
    new = candidate("Use pip, not uv", "", time=NOW + timedelta(days=1))
    assert decide_among(new, [Neighbour(held, NOW)]).action == "supersede"
    found = decide_among(new, [Neighbour(held, NOW + timedelta(days=2))])
    assert (found.action, found.reason) == ("noop", SAID_LATER)


def test_two_themes_of_one_folder_are_on_one_ground() -> None:
    held = replace(memory("Work on hover and lenses in `server/lerim/lsp`", ""), primitive="theme")
    new = candidate("Work on the tree view in `server/lerim/lsp`", "", primitive="theme")
    assert decide(new, [held]).action == "supersede"
    assert decide(candidate(held.title, "", primitive="theme"), [held]).action == "noop"
    assert (
        decide(candidate("Work on the tree view in `extension/views`", "", primitive="theme"), [held]).action == "add"
    )


def test_a_decision_resolves_the_questions_it_answers_if_it_was_said_after_them() -> None:
    asked = replace(memory("Should sessions be stored in Redis or Postgres?", ""), primitive="question")
    said = candidate("Sessions are stored in Redis", "")
    assert decide(said, [asked]).resolves == (asked,) and decide(said, [asked]).action == "add"
    assert decide(replace(said, time=NOW - timedelta(days=1)), [asked]).resolves == ()
    assert decide(replace(said, primitive="theme"), [asked]).resolves == ()


def test_between_the_clear_cases_the_memories_it_may_belong_to_are_named() -> None:
    held = memory("Always validate the order id in src/app.py", "")
    near = decide(candidate("Always validate the user id in src/app.py", ""), [held])
    assert (near.action, near.sure, near.band) == ("add", False, (held,))
    far = decide(candidate("Name test files after the module", ""), [held])
    assert (far.action, far.sure, far.band) == ("add", True, ())


def test_what_is_put_the_other_way_round_is_not_the_same() -> None:
    held = memory("Convert `markdown` to `html` before publishing", "")
    assert decide(candidate("Convert `html` to `markdown` before publishing", ""), [held]).action == "update"


def test_one_word_in_the_place_of_another_is_something_new() -> None:
    held = memory("The banner of the build page has a colour of its own", "It is red. It is large.")
    assert decide(candidate(held.title, "It is green. It is large."), [held]).action == "update"


@pytest.mark.parametrize(
    ("later", "older", "wanted"),
    [("Use pip, not uv", "Use uv, not pip", True), ("Use uv, not pip", "Use uv, not pip", False)],
)
def test_memories_contradict_each_other_as_claims_do(later: str, older: str, wanted: bool) -> None:
    assert contradicts(memory(later, "", 1), memory(older, "")) == wanted
    assert not contradicts(replace(memory(later, "", 1), primitive="theme"), memory(older, ""))


@pytest.mark.parametrize(
    ("places", "action"),
    [
        (("src/billing.py", "src/tax.py"), "supersede"),
        (("src/billing.py#make", "src/plans.py"), "supersede"),
        (("src/tax.py", "src/plans.py", "src/mail.py"), "add"),
        (("src/mail.py",), "add"),
        ((), "add"),
    ],
)
def test_two_themes_that_refer_to_the_same_files_are_on_one_ground(places: tuple[str, ...], action: str) -> None:
    held = replace(memory("Making invoices", ""), primitive="theme", references=("src/billing.py", "src/tax.py"))
    new = candidate("Subscriptions and their renewal", "", primitive="theme", references=places)
    assert decide(new, [held]).action == action
    assert decide(replace(new, time=NOW - timedelta(days=1)), [held]).action == ("noop" if action != "add" else "add")
    assert decide(new, [replace(held, primitive="decision")]).action == "add"
