"""A sync with a model: the real HTTP server and the real queue."""

from __future__ import annotations

import json
import subprocess
import sys

from chat_server import KEY, Asked, Handler, completion, finds, item, marked, says
from claude_lines import prompt, reply, text
from desk import Desk, correction
from hang import HANG
from lerim.jobs.sync_context import SyncOptions
from lerim.review import queue
from model_desk import CENTS, environ, model, reported, story


def test_what_only_ranks_high_is_left_out_once_a_model_has_read_it_and_can_be_proposed_anyway(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync(SyncOptions(model="none"))
    assert len(desk.waiting()) == 1
    with model(desk, says(marked([]))):
        report = reported(desk)
    assert (desk.waiting(), len(report["withdrawn"])) == ([], 1)
    [dropped] = [one for one in report["dropped_items"] if one["reason"] == "model-read"]
    [left] = [one for one in queue.list_left_out(desk.place)[0] if one.title == dropped["title"]]
    assert left.reason == "model-read"
    assert queue.propose_anyway(desk.place, left.id).ok
    assert len(desk.waiting()) == 1
    assert reported(desk)["withdrawn"] == []  # the person wanted it
    assert len(desk.waiting()) == 1


def test_what_the_person_changed_stays_beside_what_a_model_finds(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync(SyncOptions(model="none"))
    [waits] = queue.list_pending(desk.place)[0]
    queue.edit_candidate(desk.place, waits.id, queue.CandidateEdit(title="Use pathlib for every path in src/app.py"))
    with model(desk, says(marked([]))) as server:
        report = reported(desk)
    assert (desk.waiting(), report["withdrawn"]) == (["Use pathlib for every path in src/app.py"], [])
    assert "Use pathlib for every path in src/app.py" in known(server.asked[0])


def known(asked: Asked) -> list[str]:
    """What the model was told that is known already."""
    return json.loads(asked.prompt.split("[[ ## guidance ## ]]")[-1].split("\n\n")[0].strip()).get("known", [])


def test_what_the_person_asks_for_reaches_the_model_beside_what_is_known_already(desk: Desk) -> None:
    story(desk)
    with model(desk, says(marked([])), says(marked([]))) as server:
        (desk.home.config).write_text(
            desk.home.config.read_text() + '\n[extract]\nguidance = "Only what concerns billing"\n'
        )
        desk.sync()
        story(desk, "s2", "pence")
        desk.sync(SyncOptions(guidance="Only names of tables"))
    first, second = (json.dumps(one.body) for one in server.asked)
    assert "the_person_asks" in first
    assert "Only what concerns billing" in first
    assert "Only names of tables" in second
    assert "Only what concerns billing" not in second


def test_what_only_ranks_high_does_not_keep_the_model_from_saying_it(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    same = item("Use `pathlib` rather than `os.path` in src/app.py", "use pathlib instead of os.path in src/app.py", 2)
    with model(desk, finds(same)) as server:
        report = reported(desk)
    assert known(server.asked[0]) == []
    assert [(one["signal"], one["title"]) for one in report["candidates"]] == [("model", same["title"])]
    assert report["dropped"] == {"model-read": 1}
    assert len(desk.waiting()) == 1


def test_sessions_from_before_the_time_in_the_settings_are_not_sent(desk: Desk) -> None:
    story(desk)
    with model(desk, finds(CENTS)) as server:
        named = desk.home.config.read_text()
        desk.home.config.write_text(f'[sync]\nsince = "2090-01-01"\n{named}')
        assert reported(desk)["candidates"] == []
        assert server.asked == []
        desk.home.config.write_text(named)
        assert len(reported(desk)["candidates"]) == 1


def test_what_two_windows_say_in_other_words_is_one_candidate_with_both_quotes(desk: Desk) -> None:
    long = "We talked about the weather and the harbour. " * 400
    desk.session(
        "s1",
        prompt(f"Amounts in src/app.py are cents, says billing. {long}"),
        reply("a", text(long)),
        prompt(f"As billing wants it, src/app.py has cents. {long}"),
        reply("b", text(long)),
    )
    one = item("Amounts in `src/app.py` are cents", "Amounts in src/app.py are cents")
    two = item("All sums of `src/app.py` stay cents", "As billing wants it, src/app.py has cents")

    def answer(handler: Handler, asked: Asked) -> None:
        merging = "Join candidates" in asked.prompt
        first, second = "[0] user:" in asked.prompt, "[2] user:" in asked.prompt
        found = [one] if merging or first else [two] if second else []
        handler.answer(200, completion(marked(found)))

    with model(desk, answer, max_window_tokens=4_000, window_overlap_tokens=0) as server:
        report = reported(desk)
    assert any("Join candidates" in asked.prompt for asked in server.asked)
    assert [gone["reason"] for gone in report["withdrawn"]] == [f"joined with: {one['title']}"]
    assert desk.waiting() == [one["title"]]
    [proposal] = queue.list_pending(desk.place)[0]
    assert len(proposal.record.evidence) == 2


def test_without_a_model_nothing_that_only_a_model_needs_is_imported(desk: Desk) -> None:
    story(desk)
    code = (
        "import os, sys; from pathlib import Path; from lerim.jobs import SyncOptions;"
        " from lerim.jobs.sync import sync_project; from lerim.paths import Home;"
        " from lerim.project import locate_project; home = Home.from_environ(os.environ);"
        f" at = locate_project(Path({str(desk.repo)!r}), home);"
        " sync_project(at, home, os.environ, SyncOptions(), lambda event: None, lambda: False);"
        " sys.exit(any(name in sys.modules for name in ('dspy', 'requests', 'tiktoken', 'pydantic')))"
    )
    assert subprocess.run([sys.executable, "-c", code], env=environ(), check=False, timeout=HANG).returncode == 0


def test_what_a_model_finds_waits_for_review_and_is_not_asked_for_again(desk: Desk) -> None:
    story(desk)
    desk.session("s2", *correction(desk))
    with model(desk, finds(CENTS)) as server:
        report = reported(desk)
        assert len(server.asked) == 3  # and once for the words nobody said
        again = reported(desk)
        assert (len(server.asked), again["usage"]["calls"], again["candidates"]) == (3, 0, [])
    assert (report["model"], again["state"]) == ("openai:m", "done")
    usage = report["usage"]  # also of a question for facts
    assert (usage["calls"], usage["input_tokens"], usage["cost"]) == (4, 4_000, 0.008)
    [found] = report["candidates"]
    assert (found["signal"], found["title"]) == ("model", "`Money` holds cents in `src/app.py`")
    assert found["references"] == ["src/app.py"]
    assert found["evidence"][0]["who"] == "user"
    assert report["dropped"]["no-evidence"] == 1  # the same answer for the other session, where nobody said so
    assert len(desk.waiting()) == 1
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
