"""A sync that is cancelled in the middle of one long transcript reads no further, and the next one carries on there."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException  # noqa: TID251

from catalog_dump import dump
from claude_lines import encoded, prompt, reply, text
from desk import Desk
from hang import HANG
from lerim.lsp.protocol import core
from lerim.sessions.catalog.catalog import Catalog
from long import times
from window import Editor, server_environ

MEGABYTES = min(200, times(24))
"""Of the transcript whose reading is cancelled from outside; the sync has this long to be told."""


def long_session(desk: Desk, megabytes: int) -> int:
    """Writes one session of this size; returns how many turns it has."""
    path = desk.session("s0", prompt("Look at all of it."))
    record = {
        **reply("ID", text("0123456789abcdef" * 550)),
        "cwd": str(desk.repo),
        "uuid": "ID",
        "sessionId": "s0",
    }
    said = encoded(record)
    count = megabytes * 1_000_000 // len(said)
    with path.open("ab") as file:
        for number in range(count):
            file.write(said.replace(b'"ID"', b'"m%d"' % number))
    return count + 1


def read(desk: Desk) -> int:
    """How many turns were read so far."""
    if not desk.home.catalog.exists():
        return 0
    with Catalog.open(desk.home) as catalog:
        return int(catalog.db.execute("SELECT count(*) FROM turns").fetchone()[0])


def test_the_reading_stops_between_two_turns_and_the_next_sync_ends_as_one_that_was_not_cancelled(desk: Desk) -> None:
    count = long_session(desk, 4)
    asked = itertools.count()
    assert desk.sync(cancelled=lambda: next(asked) % 10 == 0 and read(desk) > 0).state == "cancelled"
    assert 0 < read(desk) < count
    assert desk.sync().state == "done"
    with Catalog.open(desk.home) as catalog:
        carried_on = dump(catalog)
    shutil.rmtree(desk.home.root)
    desk.sync()
    with Catalog.open(desk.home) as catalog:
        assert dump(catalog) == carried_on


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_ctrl_c_in_the_middle_of_a_long_transcript_ends_a_sync(desk: Desk) -> None:
    count = long_session(desk, MEGABYTES)
    command = [sys.executable, "-P", "-m", "lerim", "sync", "--json"]
    with subprocess.Popen(command, cwd=desk.repo, env=server_environ(), stdout=subprocess.PIPE) as process:
        deadline = time.monotonic() + HANG
        while not read(desk) and process.poll() is None and time.monotonic() < deadline:
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=HANG)
    assert (process.returncode, json.loads(out)["state"]) == (3, "cancelled")
    assert 0 < read(desk) < count


@pytest.mark.asyncio
async def test_a_sync_cancelled_by_the_editor_in_the_middle_of_a_long_transcript_ends(
    desk: Desk, window: Callable[..., Awaitable[Editor]]
) -> None:
    count = long_session(desk, MEGABYTES)
    editor = await window()
    params = {"root": editor.root}
    waiting = asyncio.ensure_future(editor.client.protocol.send_request_async(core.SYNC, params, msg_id="sync"))
    await editor.until(lambda: read(desk))
    editor.client.cancel_request(types.CancelParams(id="sync"))
    with pytest.raises(JsonRpcException) as caught:
        await waiting
    assert caught.value.code == -32800
    await editor.until(lambda: editor.told[core.SYNC_PROGRESS][-1].stage == "cancelled")
    assert 0 < read(desk) < count
