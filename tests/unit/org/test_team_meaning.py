"""Finding a team's memories by their meaning: with pgvector in the database, and told where there is none."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

import lerim.memory
from concept_model import CONCEPTS, ConceptModel
from desk import Desk
from lerim.memory import INSTALL_SENTENCE_MODEL, is_sentence_model_installed
from lerim.org import set_up_database
from organisation import make_organisation
from postgres import TEAMS, postgres_with_pgvector
from terminal import answer, run
from window import write_memory

Git = Callable[..., str]
REPOSITORY = Path(__file__).parents[3]


class LongConceptModel(ConceptModel):
    """One whose vectors have as many numbers as those of the real one."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [struct.pack("<384e", *one, *bytes(384 - len(CONCEPTS))) for one in super().embed(texts)]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> LongConceptModel:
    model = LongConceptModel()
    for module in (lerim.memory, lerim.team.meaning):
        monkeypatch.setattr(module, "load_sentence_model", lambda: model)
        monkeypatch.setattr(module, "is_sentence_model_installed", lambda: True)
    return model


def share(git: Git, desk: Desk, **texts: str) -> Any:
    """Commits decisions, each of a title and, after a slash, a body, and shares them."""
    for name, text in texts.items():
        title, _, body = text.partition(" / ")
        write_memory(desk.repo, id=f"20260801-{name}", title=title, body=body)
    git(desk.repo, "add", ".")
    git(desk.repo, "commit", "-q", "--allow-empty", "-m", "memories", "--author=Ana <ana@example.org>")
    return answer("org", "share", "--repo", str(desk.repo))


def find(*words: str) -> list[str]:
    return [one["id"].removeprefix("20260801-") for one in answer("org", "search", *words, "--meaning")["hits"]]


def test_a_server_without_pgvector_is_told_where_somebody_would_look(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, model: LongConceptModel
) -> None:
    organisation = make_organisation(desk, monkeypatch)
    shared = share(git, desk, a="Store amounts as cents")
    note = "Memories are found by their words only: the database's server has no pgvector."
    assert (shared["by_meaning"], shared["note"]) == (0, note) and model.texts == []
    assert organisation.status()["shared"] == {"memories": 1, "by_meaning": 0, "note": note}
    assert answer("org", "search", "cents")["note"] == note
    assert note in run("org", "search", "price").stdout and note in run("org", "status").stdout
    refused = answer("org", "search", "price", "--meaning", code=1)["error"]
    assert refused["message"] == note and "without --meaning" in refused["todo"]
    assert answer("org", "init", organisation.url.replace("platform_worker@", "admin@"))["note"] == note


def test_memories_found_by_meaning_follow_those_with_the_words_and_are_read_once(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, model: LongConceptModel
) -> None:
    organisation = make_organisation(desk, monkeypatch, server=postgres_with_pgvector())
    shared = share(git, desk, a="Store amounts as cents", b="Log no price / It is seen.", c="Use jitter / backoff")
    assert (shared["shared"], shared["by_meaning"], shared["note"]) == (3, 3, "")
    assert sorted(model.texts) == sorted(
        ["Store amounts as cents", "Log no price", "It is seen.", "Use jitter", "backoff"]
    )
    assert find("price") == ["b", "a"] and sorted(find("which prices?")) == ["a", "b"]
    assert find("price", "--limit", "1") == ["b"] and find("stampeding") == ["c"] and find("deploy") == []
    [hit] = answer("org", "search", "stampeding", "--meaning", "--kind", "decision")["hits"]
    assert (hit["by_meaning"], hit["approved_by"], hit["passage"]) == (True, "Ana", "backoff")
    shown = run("org", "search", "price", "--meaning").stdout
    assert shown.index("Log no price") < shown.index("By meaning:") < shown.index("Store amounts")
    assert "mean something similar" in run("org", "search", "stampeding").stdout
    assert find("price", "--repo", "other/repo") == []
    model.texts.clear()
    share(git, desk)
    assert model.texts == []
    share(git, desk, c="Use jitter / Everywhere.")
    assert model.texts == ["Use jitter", "Everywhere."] and find("stampeding") == []
    monkeypatch.setattr(lerim.team.meaning, "is_sentence_model_installed", lambda: False)
    changed = share(git, desk, b="Release on Mondays")
    note = f"1 memory is found by words only, until `lerim org share` runs there with {INSTALL_SENTENCE_MODEL}."
    assert (changed["by_meaning"], changed["note"]) == (2, note) and organisation.status()["shared"]["note"] == note
    assert find("price") == ["a"] and find("deploy") == []  # nothing is found by what a memory said before
    git(desk.repo, "rm", "-q", ".lerim/memory/decisions/20260801-a.md")
    share(git, desk)
    assert organisation.rows("SELECT DISTINCT id FROM memory_vectors") == [("20260801-c",)]


def test_a_share_that_is_stopped_keeps_what_the_model_has_read(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, model: LongConceptModel
) -> None:
    organisation = make_organisation(desk, monkeypatch, server=postgres_with_pgvector())
    texts = {f"n{number:02}": f"Price {number}" for number in range(40)}
    for name, text in texts.items():
        write_memory(desk.repo, id=f"20260801-{name}", title=text, body="")
    git(desk.repo, "add", ".")
    git(desk.repo, "commit", "-q", "-m", "memories")
    model.stop_at = 20
    assert run("org", "share", "--repo", str(desk.repo)).exit_code == 130
    stored = [count for (count,) in organisation.rows("SELECT count(*) FROM memory_vectors")]
    assert stored == [16] and organisation.status()["shared"]["memories"] == 40
    model.stop_at = None
    before = len(model.texts)
    assert answer("org", "share", "--repo", str(desk.repo))["by_meaning"] == 40 and len(model.texts) - before == 24


def test_a_team_sees_and_changes_no_vector_of_another(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, model: LongConceptModel
) -> None:
    server = postgres_with_pgvector()
    organisation = make_organisation(desk, monkeypatch, server=server)
    share(git, desk, a="Store amounts as cents")
    other = organisation.url.replace("platform_worker@", "payments_worker@")
    assert answer("org", "share", "--repo", str(desk.repo), "--database", other)["by_meaning"] == 1

    def connect(user: str) -> psycopg.Connection:
        url = organisation.url.replace("platform_worker@", f"{user}@")
        return psycopg.connect(url, autocommit=True, options="-c search_path=lerim,pg_catalog")

    for team, stranger in (TEAMS, TEAMS[::-1]):
        for kind in ("reader", "worker"):
            with connect(f"{team}_{kind}") as own:
                assert own.execute("SELECT DISTINCT team FROM memory_vectors").fetchall() == [(team,)]
                near = "SELECT team FROM memory_vectors ORDER BY nearness(meaning, array_fill(1, '{384}')::real[])"
                assert set(own.execute(near).fetchall()) == {(team,)}
                copied = "INSERT INTO memory_vectors SELECT %s, project, id, part, 'm', meaning FROM memory_vectors"
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    own.execute(copied, (stranger,))
        with connect(f"{team}_worker") as own:
            assert own.execute("UPDATE memory_vectors SET model = model").rowcount == 1
            assert own.execute("DELETE FROM memory_vectors WHERE team = %s", (stranger,)).rowcount == 0
    with connect("admin") as admin:
        forced = "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = 'memory_vectors'::regclass"
        assert admin.execute(forced).fetchone() == (True,)
        assert admin.execute("SELECT count(*) FROM memory_vectors").fetchone() == (2,)
    with connect("platform_worker") as own:
        own.execute("DELETE FROM memories")
    assert [one["id"] for one in answer("org", "search", "price", "--meaning", "--database", other)["hits"]]


def test_a_database_gets_vectors_once_somebody_may_enable_pgvector_in_whichever_schema(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch, model: LongConceptModel
) -> None:
    server = postgres_with_pgvector()
    url = server.make_empty_database()
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS setter")
        admin.execute("CREATE ROLE setter LOGIN CREATEROLE")
        admin.execute(f"GRANT CREATE ON DATABASE {admin.info.dbname} TO setter")
        done = set_up_database(url.replace("admin@", "setter@"), ["own"])
        assert "0007 meaning" not in done.applied and "A superuser does that" in done.note
        admin.execute("CREATE ROLE own_worker LOGIN IN ROLE lerim_team_own_worker")
        monkeypatch.setenv("LERIM_DATABASE_URL", url.replace("admin@", "own_worker@"))
        assert share(git, desk, a="Store amounts as cents")["note"] == done.note
        admin.execute("CREATE EXTENSION vector SCHEMA public")
        done = set_up_database(url.replace("admin@", "setter@"), [])
        assert done.applied == ("0007 meaning",) and done.note == ""
    assert answer("org", "share", "--repo", str(desk.repo))["by_meaning"] == 1 and find("price") == ["a"]


@pytest.mark.skipif(not is_sentence_model_installed(), reason="lerim[meaning] is not installed (65 MB)")
def test_the_real_model_finds_most_of_sixty_paraphrases_among_the_first_three(
    desk: Desk, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_organisation(desk, monkeypatch, server=postgres_with_pgvector())
    pairs = json.loads((REPOSITORY / "evals" / "paraphrases.json").read_text(encoding="utf-8"))
    texts = {f"n{number:02}": f"{pair['title']} / {pair['body']}" for number, pair in enumerate(pairs)}
    assert share(git, desk, **texts)["by_meaning"] == 60
    found = [f"n{number:02}" in find(pair["query"], "--limit", "3") for number, pair in enumerate(pairs)]
    assert sum(found) >= 42
