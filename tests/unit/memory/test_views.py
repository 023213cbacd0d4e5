"""What is shown of a memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.memory.record import Evidence, MemoryRecord, render_record, update_record_text
from lerim.memory.store import Store
from lerim.memory.views import memory_view, redact_record

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOW = datetime(2026, 8, 22, 12, tzinfo=UTC)
RECORD = MemoryRecord(
    *("20260822-deploy", "decision", f"Deploy with {SECRET}", NOW, NOW, "manual", 0.9),
    tags=("deploy", SECRET),
    body=f"The token is {SECRET}.\nDB_PASSWORD: swordfishy",
    evidence=(Evidence(f"use {SECRET}", "0123456789ab", "user"),),
)
PLAIN = MemoryRecord(
    *("20260822-deploy", "decision", "Deploy with SECRET", NOW, NOW, "manual", 0.9),
    tags=("deploy", "SECRET"),
    body="The token is SECRET.\nDB_PASSWORD: WORD",
    evidence=(Evidence("use SECRET", "0123456789ab", "user"),),
)


def test_a_change_of_other_keys_leaves_what_a_person_wrote_and_writes_no_new_secret() -> None:
    text = render_record(PLAIN).replace("SECRET", SECRET)
    other = SECRET[::-1].removesuffix("_phg")
    after = update_record_text(text, {"title": f"Deploy with ghp_{other}", "references": ("src/app.py",)})
    assert other not in after
    assert after.count(SECRET) == text.count(SECRET) - 1  # the title's


def test_a_secret_written_into_a_memory_is_shown_nowhere_and_stays_in_the_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "memory", tmp_path / "private")
    path = store.path_for(PLAIN)
    path.parent.mkdir(parents=True)
    path.write_text(render_record(PLAIN).replace("SECRET", SECRET).replace("ORD: WORD", "ORD: swordfishy"))  # by hand
    before = path.read_bytes()
    view = msgspec.json.encode(memory_view(store.load(path)[0])).decode()
    assert SECRET not in view
    assert "swordfishy" not in view
    assert view.count("[redacted:github-token]") == 4
    assert path.read_bytes() == before
    assert SECRET in before.decode()


def test_a_memory_without_secrets_is_shown_as_it_is() -> None:
    clean = redact_record(RECORD)
    assert redact_record(clean) == clean
    assert render_record(clean).count("[redacted:") == 5
