"""What Lerim gives agents comes back in their transcripts, and is never learned from: sixty days with it leave the same
memories, candidates and quotes as sixty days without (six on each change)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, envelope, prompt, reply, text
from desk import Desk, correction
from isolation import isolate
from lerim.memory import AgentMemories, fence_items, render_memory
from lerim.paths import Home
from lerim.review import queue
from long import at_most
from sixty_days import Life, largest

DAYS = at_most(60, few=6)
SETTINGS = '[review]\nmode = "auto"\nquotes = "shared"\n'
TOOLS = ("pathlib", "anyio", "upath", "fsspec", "smartopen", "httpx", "requests", "aiohttp")


@dataclass(frozen=True)
class Left:
    """What a life has left in a store: memories with the number of their quotes, and what waits for review."""

    memories: tuple[tuple[str, str, float, int], ...]
    waiting: tuple[str, ...]


@pytest.fixture
def two_desks(repo: Path, tmp_path: Path, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, Desk]:
    """Two persons with the same repository."""
    homes = (isolated, tmp_path / "other")
    for home in homes:
        (home / ".lerim").mkdir(parents=True, mode=0o700)
        (home / ".lerim" / "config.toml").write_text(SETTINGS, encoding="utf-8")
    other = tmp_path / "copy" / "repo"
    other.parent.mkdir()
    shutil.copytree(repo, other)
    first, second = (
        Desk(root.resolve(), Home(home / ".lerim", home), home / ".claude" / "projects")
        for root, home in zip((repo, other), homes, strict=True)
    )
    return first, second


def test_sixty_days_with_memories_given_to_agents_leave_what_sixty_days_without_leave(
    two_desks: tuple[Desk, Desk], sessions_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, served = two_desks
    real = largest(sessions_folder)
    left: list[list[Left]] = []
    for desk, gives in ((plain, False), (served, True)):
        assert desk.home.user_home is not None
        isolate(monkeypatch, desk.home.user_home)
        life = Life(desk)
        days: list[Left] = []
        for day in range(DAYS):
            life.day = day
            for records in made_sessions(desk, day):
                life.tell(with_memories(desk, records) if gives else records)
            if day % 4 == 0:
                life.work(real[day // 4 % len(real)], day // 4 // len(real))
            life.evening()
            for proposal in queue.list_pending(desk.place)[0]:
                assert queue.accept_candidate(desk.place, proposal.id).ok
            days.append(left_by(life))
        left.append(days)
    without, with_ = left
    assert with_ == without
    assert len(without[-1].memories) > 3


def made_sessions(desk: Desk, day: int) -> Sequence[list[Fields]]:
    """The sessions of a day: a rule, a correction, and every second day one in which only the agent says something."""
    tool, over = TOOLS[day % len(TOOLS)], TOOLS[(day + 3) % len(TOOLS)]
    sessions = [
        [
            prompt(f"Always put tests of src/part_{day}.py into tests/part_{day}."),
            reply("a", text("Understood.")),
            prompt("good, go on"),
            reply("b", text("Yes.")),
        ],
        correction(desk, tool, f"src/file_{day}.py", over),
    ]
    if day % 2 == 0:
        sessions.append([prompt("What is the contract?"), reply("c", text(contract(day))), prompt("perfect, go on")])
    return sessions


def with_memories(desk: Desk, records: list[Fields]) -> list[Fields]:
    """The session as it is stored if Lerim's hooks, tools, rules files and `Copy as Context` put memories in front of
    the agent, and the agent quotes them back."""
    project = desk.place.project
    with AgentMemories(project, desk.home, lambda _stored, _scope: True) as memories:
        given = memories.recall("Where do tests go, and which tool is used instead of another?", limit=8).memories
    if not given:
        return records
    fenced = fence_items(render_memory(one.record, one.state, one.detail) for one in given)
    titles = [one.record.title for one in given]
    block = "\n".join(("<!-- lerim:begin v1 sha=0 -->", *(f"- {title}" for title in titles), "<!-- lerim:end -->"))
    first, *rest = records
    asked = first["message"]["content"]
    files = [str(one.stored.path) for one in given][:1]
    known = [stored.record for stored in desk.place.store().load_all()[0]]
    quotes = [item.quote[:40] for one in known for item in one.evidence if item.who == "assistant"]
    repeated = [words for words in map(contract, range(DAYS)) if any(quote in words for quote in quotes)]
    return [
        hook("hook_success", "SessionStart", stdout=fenced, content=fenced),
        hook("hook_additional_context", "UserPromptSubmit", content=[fenced]),
        {**first, "message": {"role": "user", "content": f"{fenced}\n\n{asked}"}},
        reply("r1", text("I look it up."), call("m1", "mcp__lerim__recall", question="tests")),
        answer("m1", fenced),
        reply("r2", call("m2", "Read", file_path=str(desk.repo / "AGENTS.md"))),
        answer("m2", f"# Rules\n\n{block}\n"),
        *(reply(f"r3{number}", call(f"m3{number}", "Read", file_path=file)) for number, file in enumerate(files)),
        *(answer(f"m3{number}", Path(file).read_text()) for number, file in enumerate(files)),
        reply("r4", call("m4", "Bash", command="lerim memory list")),
        answer("m4", "\n".join(titles)),
        reply("r5", text(f"The project's memory says: {titles[0]}. " + " ".join(f"We decided: {t}." for t in titles))),
        prompt("Yes, go on"),
        *(reply(f"r6{number}", text(words)) for number, words in enumerate(repeated)),
        prompt("perfect, commit it"),
        *rest,
    ]


def contract(day: int) -> str:
    """What an agent finds out by itself on a day, in words from which a sync makes a candidate."""
    return f"The contract is that part_{day} of the reader never writes by default."


def hook(kind: str, event: str, **fields: object) -> Fields:
    """A record of what a hook of Claude Code put in front of the model."""
    attachment = {"type": kind, "hookName": event, "hookEvent": event, "toolUseID": "x", **fields}
    made = envelope("attachment", attachment=attachment)
    return {**made, "message": {}}


def left_by(life: Life) -> Left:
    store = life.desk.place.store()
    found = [one.record for one in store.load_all(archived=True)[0]]
    memories = sorted((one.title, one.body, one.confidence, len(one.evidence)) for one in found)
    return Left(tuple(memories), tuple(sorted(life.desk.waiting())))
