"""Several processes spend one budget at once, and die while they do, or find no place to write: it is never passed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from hang import HANG
from lerim.models.money.spending import DOLLAR, total_spent_today
from lerim.paths import Home
from long import times
from rights import close, without_rights

SERVER = Path(__file__).resolve().parents[2] / "server"
SPENDER = """
import random, resource, sys
from datetime import datetime
from pathlib import Path
from lerim.errors import BudgetError, SpendingError
from lerim.models import Model
from lerim.models.money import NO_USAGE, DayBudget, Usage
from lerim.paths import Home

home, seed, limit = Home(Path(sys.argv[1])), int(sys.argv[2]), int(sys.argv[3])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
model = Model(provider="openrouter", name="openai/gpt-5-nano", base_url="https://openrouter.ai/api/v1", key_variable="",
              timeout=1.0, max_window_tokens=1, window_overlap_tokens=0, key="k")
purse = DayBudget(home, 1.0, lambda: datetime.now().astimezone())
chance = random.Random(seed)
print("began", flush=True)
while True:
    worst = chance.randrange(1_000, 100_000)
    try:
        held = purse.reserve(model, worst, worst)
    except BudgetError:
        print("used up", flush=True)
        break
    except SpendingError as error:
        print("spending:", error, flush=True)
        break
    print("held", held.row, flush=True)
    if chance.random() >= 0.9:
        purse.settle(held, None)
    else:
        share = chance.random()
        cost = 0.45 * worst / 1_000_000 * share
        purse.settle(held, NO_USAGE if chance.random() < 0.2 else Usage(1, worst, worst, cost=cost))
        print("settled", held.row, flush=True)
for problem in purse.problems:
    print("problem:", problem.message, flush=True)
"""


def spender(home: Path, seed: int, *, limit: int = 0, through: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [*through, sys.executable, "-P", "-c", SPENDER, str(home), str(seed), str(limit)]
    environ = {**os.environ, "PYTHONPATH": str(SERVER), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environ)


def kill_after_first_call(process: subprocess.Popen[str]) -> None:
    assert process.stdout
    while not process.stdout.readline().startswith("held"):
        pass
    process.kill()
    process.communicate(timeout=HANG)


def said(process: subprocess.Popen[str]) -> list[str]:
    lines = process.communicate(timeout=HANG)[0].splitlines()
    assert not any("Traceback" in line for line in lines), lines
    return lines


def spent(home: Path) -> int:
    with closing(sqlite3.connect(home / "spending.sqlite3", timeout=30)) as db:
        return int(db.execute("SELECT coalesce(sum(cost), 0) FROM calls").fetchone()[0])


def test_processes_that_spend_at_once_never_pass_the_budget(tmp_path: Path) -> None:
    home = tmp_path / ".lerim"
    processes = [spender(home, seed) for seed in range(4)]
    while any(process.poll() is None for process in processes):
        if (home / "spending.sqlite3").exists():
            try:
                assert spent(home) <= DOLLAR
            except sqlite3.OperationalError as error:
                assert "no such table" in str(error)
    lines = [said(process) for process in processes]
    assert all(one[-1] == "used up" for one in lines)
    assert 0.9 * DOLLAR < spent(home) <= DOLLAR
    assert sum(line.startswith("held") for one in lines for line in one) > 20


def test_a_spender_that_is_killed_leaves_its_reservations_and_a_record_that_can_be_read(tmp_path: Path) -> None:
    home = tmp_path / ".lerim"
    chance = random.Random(7)
    for seed in range(times(3)):
        process = spender(home, seed)
        assert process.stdout
        lines = []
        for _ in range(chance.randrange(2, 9)):
            if line := process.stdout.readline().strip():
                lines.append(line)
        process.send_signal(signal.SIGKILL)
        rest = process.communicate(timeout=HANG)[0]
        lines += rest[: rest.rfind("\n") + 1].splitlines()  # the last line may be cut by the kill
        assert spent(home) <= DOLLAR
        with closing(sqlite3.connect(home / "spending.sqlite3")) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            kept = dict(db.execute("SELECT id, cost FROM calls WHERE NOT settled"))
        began = {int(line.split()[1]) for line in lines if line.startswith("held")}
        ended = {int(line.split()[1]) for line in lines if line.startswith("settled")}
        # The last call may have been settled before it could say so.
        assert len({row for row in began - ended if row not in kept}) <= 1
    assert said(spender(home, 99))[-1] == "used up"
    assert spent(home) <= DOLLAR


@pytest.mark.skipif(sys.platform == "win32", reason="this system has other permissions")
@pytest.mark.parametrize("made", [False, True])
def test_a_home_that_may_not_be_written_lets_no_paid_call_through(tmp_path: Path, made: bool) -> None:
    home = tmp_path / ".lerim"
    home.mkdir()
    if made:
        kill_after_first_call(spender(home, 1))
    close(home)
    try:
        lines = said(spender(home, 2, through=tuple(without_rights())))
    finally:
        close(home, mode=0o755)
    assert lines[-1].startswith("spending: The cost of models cannot be recorded:")
    assert not any(line.startswith("held") for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="this system has no such limit")
def test_a_full_disk_lets_no_paid_call_through_and_loses_none_that_was_made(tmp_path: Path) -> None:
    home = tmp_path / ".lerim"
    home.mkdir()
    assert said(spender(home, 1, limit=1))[-1].startswith("spending: The cost of models cannot be recorded:")
    kill_after_first_call(spender(home, 4))  # it costs something, whether it is settled before the kill or not
    before = spent(home)
    assert before
    lines = said(spender(home, 2, limit=4096))
    assert lines[-1].startswith("spending:")
    assert spent(home) == before
    shown = total_spent_today(Home(home), datetime.now().astimezone()).cost  # rounded, as a person is shown it
    assert shown == pytest.approx(before / DOLLAR, abs=1e-8)
