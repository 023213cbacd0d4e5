"""Setting up the organisation's database, and that a team sees nothing of another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import resources

import psycopg
import pytest

from lerim.errors import OrgError
from lerim.org import set_up_database
from lerim.team import TeamDatabase, load_status
from postgres import TEAMS, PostgresServer, postgres
from terminal import answer

TABLES_OF_TEAMS = ("extractions", "candidates", "answers", "budgets", "rates", "calls", "memories")
INSERTS = (
    "INSERT INTO extractions (team, key, project, queue, session, place_hash, content_hash, model)"
    " VALUES (%(team)s, 'k', 'p', 'h', 's', 'l', 'c', '')",
    "INSERT INTO candidates (team, key, ordinal, project, said_at, candidate)"
    " VALUES (%(team)s, 'k', 0, 'p', now(), '{}')",
    "INSERT INTO answers (team, hash, model, answer) VALUES (%(team)s, 'h', 'm', '{}')",
    "INSERT INTO budgets (team) VALUES (%(team)s)",
    "INSERT INTO rates (team, model, calls_left) VALUES (%(team)s, 'm', 1)",
    "INSERT INTO calls (team, model, key, dollars) VALUES (%(team)s, 'm', 'k', 1)",
    "INSERT INTO memories (team, project, id, kind, title, body, places, commit, approved_in, approved_by)"
    " VALUES (%(team)s, 'p', 'i', 'decision', 't', 'b', '', 'c', '', '')",
    "INSERT INTO procrastinate_jobs (queue_name, task_name) VALUES (%(team)s || '/host', 'extract')",
    "INSERT INTO procrastinate_workers (team) VALUES (%(team)s)",
    "INSERT INTO procrastinate_periodic_defers (task_name, periodic_id) VALUES ('rescue', %(team)s)",
)
QUEUE_TABLES = ("procrastinate_jobs", "procrastinate_events", "procrastinate_periodic_defers", "procrastinate_workers")


@pytest.fixture(scope="module")
def server() -> PostgresServer:
    return postgres()


def connect(url: str, user: str) -> psycopg.Connection:
    return psycopg.connect(
        url.replace("admin@", f"{user}@"), autocommit=True, options="-c search_path=lerim,pg_catalog"
    )


def test_setting_up_twice_or_twice_at_once_is_harmless(server: PostgresServer) -> None:
    url = server.make_empty_database()
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: set_up_database(url, ["platform"]).applied, range(2)))
    names = (
        "0001 queue",
        "0002 teams",
        "0003 open_calls",
        "0004 memories",
        "0005 reviewers",
        "0006 reservations",
        "0008 accepted",
        "0009 locks",
        "0010 references",
    )
    assert sorted(sum(both, ())) == list(names)
    again = answer("org", "init", url, "--team", "platform", "--team", "search")
    roles = {"worker": "lerim_team_search_worker", "reader": "lerim_team_search_reader"}
    assert again["applied"] == [] and again["teams"][1] == {"team": "search", **roles}


def test_an_upgrade_gives_every_team_its_rights_on_new_tables(server: PostgresServer) -> None:
    url = server.make_empty_database()
    set_up_database(url, ["platform"])
    with connect(url, "admin") as admin:
        admin.execute("REVOKE ALL ON memories FROM lerim_team_platform_worker, lerim_team_platform_reader")
        assert set_up_database(url, []).teams == ("platform",)
        privilege = "SELECT has_table_privilege('lerim_team_platform_worker', 'lerim.memories', 'SELECT, INSERT')"
        assert admin.execute(privilege).fetchone() == (True,)


def test_a_set_up_that_a_lock_keeps_waiting_says_so_and_holds_nobody_up(server: PostgresServer) -> None:
    url = server.make_database()
    with connect(url, "payments_worker") as reading, reading.transaction():
        reading.execute("SELECT pg_advisory_xact_lock(%s)", (7_305_321,))
        with pytest.raises(OrgError, match="has locked") as told:
            set_up_database(f"{url}&options=-c%20lock_timeout%3D200", ["platform"])
    assert "pg_locks" in str(told.value)
    assert set_up_database(url, []).applied == ()


def test_a_database_of_an_earlier_version_is_upgraded_with_what_it_holds(server: PostgresServer) -> None:
    from procrastinate.schema import SchemaManager

    url, folder = server.make_empty_database(), resources.files("lerim.org") / "migrations"
    with connect(url, "admin") as admin:
        admin.execute("CREATE SCHEMA lerim")
        admin.execute("CREATE TABLE migrations (number integer PRIMARY KEY, name text, applied_at timestamptz)")
        admin.execute("INSERT INTO migrations VALUES (1, 'queue', now()), (2, 'teams', now())")
        admin.execute(SchemaManager.get_schema().encode())
        admin.execute((folder / "0002_teams.sql").read_bytes())
        for insert in INSERTS[:2]:
            admin.execute(insert, {"team": "platform"})
    assert set_up_database(url, ["platform"]).applied[0] == "0003 open_calls"
    status = load_status(TeamDatabase(url, "platform"))
    assert (status.states, status.candidates) == ({"waiting": 1}, 1)


def test_what_cannot_be_set_up_is_told(server: PostgresServer) -> None:
    for name in ("platform; drop table", "platform\n"):
        with pytest.raises(OrgError, match="cannot have this name"):
            set_up_database(server.url("postgres"), [name])
    with pytest.raises(OrgError, match="not the address"):
        set_up_database("http://example.org", ["platform"])
    with pytest.raises(OrgError, match="cannot be reached") as told:
        set_up_database("postgresql://u:secret@/none?host=/nowhere", ["platform"])
    assert "secret" not in str(told.value)
    url = server.make_database().replace("admin@", "platform_worker@")
    told_of_text = answer("org", "search", "caf\udce9", "--database", url, code=1)["error"]
    assert told_of_text["message"] == "The database takes no text that is not valid Unicode."
    for option in ("--per-day", "--calls-per-minute"):
        assert "must be" in answer("org", "limits", option, "1e30", "--database", url, code=2)["error"]["message"]
    for amount in ("1e-13", "0.009"):
        told_of_amount = answer("org", "limits", "--per-day", amount, "--database", url, code=2)["error"]["message"]
        assert "The smallest limit is 0.01; 0 is no limit." in told_of_amount
    older = server.make_database()
    with connect(older, "admin") as admin:
        admin.execute("ALTER TABLE candidates DROP COLUMN owners")
    with pytest.raises(OrgError, match="not set up for this version"):
        load_status(TeamDatabase(older, "platform"))
    with connect(server.make_database(), "admin") as admin:
        admin.execute("INSERT INTO migrations VALUES (9999, 'later')")
        with pytest.raises(OrgError, match="by a later version"):
            set_up_database(server.url(admin.info.dbname), [])
    url = server.make_empty_database()
    with pytest.raises(OrgError, match="is not allowed"):
        set_up_database(url.replace("admin@", "platform_worker@"), ["platform"])


def test_a_teams_worker_and_reader_see_and_change_nothing_of_another_team(server: PostgresServer) -> None:
    url = server.make_database()
    for team in TEAMS:
        with connect(url, f"{team}_worker") as own:
            for insert in INSERTS:
                own.execute(insert, {"team": team})
    for team, other in (TEAMS, TEAMS[::-1]):
        for kind in ("worker", "reader"):
            with connect(url, f"{team}_{kind}") as own:
                for table in TABLES_OF_TEAMS:
                    assert own.execute(f"SELECT DISTINCT team FROM {table}").fetchall() == [(team,)]
                seen = [own.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in QUEUE_TABLES]
                assert seen == [1, 1, 1, 1]
                refused = psycopg.errors.InsufficientPrivilege
                for insert in INSERTS:
                    with pytest.raises(refused):
                        own.execute(insert, {"team": other})
                with pytest.raises(refused):
                    own.execute("SELECT reserve_call(%s, 'm', 'k', 1)", (other,))
                with pytest.raises(refused):
                    own.execute(f"SET ROLE lerim_team_{other}_reader")
        with connect(url, f"{team}_worker") as own:
            for table in (*TABLES_OF_TEAMS[::-1], *QUEUE_TABLES[1:]):  # its own only, whatever it says
                own.execute(f"DELETE FROM {table}")
            own.execute("DELETE FROM procrastinate_jobs")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute("DELETE FROM migrations")
        with connect(url, "admin") as admin:
            left = [
                admin.execute(f"SELECT count(*) FROM {one}").fetchone()[0] for one in TABLES_OF_TEAMS + QUEUE_TABLES
            ]
            assert set(left) == ({1} if team == TEAMS[0] else {0})


def test_a_team_can_take_no_lock_under_which_another_teams_jobs_run(server: PostgresServer) -> None:
    url = server.make_database()
    for column in ("lock", "queueing_lock"):
        insert = (
            f"INSERT INTO procrastinate_jobs (queue_name, task_name, {column}) VALUES ('payments/*', 'reconcile', %s)"
        )
        with connect(url, "payments_worker") as own:
            own.execute(insert, ("payments:github.com/org/repo",))
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(insert, ("platform:github.com/org/repo",))


def test_no_row_of_a_team_refers_to_a_job_or_a_worker_of_another(server: PostgresServer) -> None:
    url = server.make_database()
    insert_worker = "INSERT INTO procrastinate_workers (team) VALUES (%s) RETURNING id"
    insert_job = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, worker_id) VALUES (%s || '/host', 'x', %s) RETURNING id"
    )
    insert_defer = "INSERT INTO procrastinate_periodic_defers (task_name, periodic_id, job_id) VALUES ('x', %s, %s)"
    with connect(url, "platform_worker") as own, connect(url, "payments_worker") as hostile:
        [worker] = own.execute(insert_worker, ("platform",)).fetchone()
        [job] = own.execute(insert_job, ("platform", worker)).fetchone()
        own.execute(insert_defer, ("platform", job))
        for guessed in (worker, worker + 1):  # it does not learn which one there is
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                hostile.execute(insert_job, ("payments", guessed))
        for guessed in (job, job + 1000):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                hostile.execute(insert_defer, ("payments", guessed))
        own.execute("SELECT procrastinate_finish_job_v1(%s, 'succeeded', true)", (job,))


def test_a_team_can_take_no_number_that_the_next_row_of_another_gets(server: PostgresServer) -> None:
    url = server.make_database()
    with connect(url, "payments_worker") as own:
        for insert in (
            "INSERT INTO procrastinate_jobs (id, queue_name, task_name) VALUES (1, 'payments/host', 'extract')",
            "INSERT INTO procrastinate_workers (id, team) OVERRIDING SYSTEM VALUE VALUES (1, 'payments')",
            "INSERT INTO procrastinate_periodic_defers (id, task_name, periodic_id) VALUES (1, 'rescue', 'payments')",
            "INSERT INTO calls (id, team, model, key, dollars) OVERRIDING SYSTEM VALUE"
            " VALUES (1, 'payments', 'm', 'k', 1)",
            "UPDATE procrastinate_jobs SET id = 1",
            "SELECT setval('procrastinate_jobs_id_seq', 1)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                own.execute(insert)


def test_the_owner_of_the_tables_is_bound_by_the_policies_too(server: PostgresServer) -> None:
    url = server.make_database()
    with connect(url, "admin") as admin:
        unforced = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'lerim'::regnamespace AND relkind = 'r'"
            " AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
    assert unforced == [("migrations",)]
