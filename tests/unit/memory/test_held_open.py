"""What is known of memories' drift, kept open while looks follow each other."""

from pathlib import Path

from lerim.memory.freshness import baselines
from lerim.memory.freshness.baselines import DATABASE, DriftRecord
from lerim.memory.reference import Reference

FRESH = DriftRecord("m", Reference("a.py"), "", "a.py", (1, 2, 3), "fresh")
GONE = DriftRecord("m", Reference("b.py"), "", "b.py", (), "gone")


def test_while_it_is_held_others_read_and_write_it_and_the_log_stays(tmp_path: Path) -> None:
    with baselines.open_baselines(tmp_path, tmp_path) as kept:
        kept.store_drift(FRESH)
    log = tmp_path / f"{DATABASE}-wal"
    assert not log.exists()
    held = baselines.hold_baselines_open(tmp_path)
    assert held is not None
    with baselines.open_baselines(tmp_path, tmp_path) as kept:
        kept.store_drift(GONE)
    assert log.exists()
    with baselines.open_baselines(tmp_path, tmp_path) as kept:
        assert kept.drift_records_of(["m", "unheard of"]) == {"m": [FRESH, GONE]}
    held.close()
    assert not log.exists()
    with baselines.open_baselines(tmp_path, tmp_path) as kept:
        assert kept.stale_records() == [GONE]


def test_nothing_is_made_to_be_held_and_what_is_damaged_is_not(tmp_path: Path) -> None:
    assert baselines.hold_baselines_open(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    (tmp_path / DATABASE).write_bytes(b"no database" * 100)
    assert baselines.hold_baselines_open(tmp_path) is None
