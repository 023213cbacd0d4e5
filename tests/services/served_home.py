"""A home with sessions, candidates, memories and personal memories, and the running server that commands ask there."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from desk import Desk, correction
from lerim.project import project
from lerim.review import ReviewPaths
from lerim.views import RunningServer, find_running_server
from reviews import added
from terminal import answer

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
"""It stands in the theme `A theme`."""


@contextmanager
def served_home(desk: Desk) -> Iterator[RunningServer]:
    """Fills the home of the desk and starts its server; at the end the server is stopped, if it still runs."""
    desk.session("s1-with-a-long-name", *correction(desk))
    desk.session("s2-with-a-long-name", *correction(desk, "httpx", "src/web.py", "requests"))
    project.add_project(desk.place.project, desk.home)
    desk.sync()
    added(desk.place, "Use uv, not pip", "It is fast.\n\nSee src/app.py.")
    added(desk.place, "What do we cache?", "Nothing yet.", "question")
    theme = added(desk.place, "A theme", "All about speed.", "theme")
    by_hand = theme.read_text(encoding="utf-8").replace("All about speed.", f"The key is {SECRET}.")
    theme.write_text(by_hand, encoding="utf-8")
    added(ReviewPaths.personal(desk.place), "Answer in short sentences", "They are easier to read.")
    answer("up", "--port", "0")
    running = find_running_server(desk.home)
    assert running is not None
    yield running
    os.kill(running.pid, signal.SIGCONT)
    answer("down")
    os.waitpid(running.pid, 0)
