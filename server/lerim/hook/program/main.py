"""Answers one event of an agent: reads it from standard input, prints the answer, and ends with exit code 0.

If anything goes wrong, the program stays silent: an agent must never wait for it, fail because of it or see one of
its errors.
"""

import _thread
import os
import sys
import time

from . import answers, lookup, session, traces
from .payloads import Event, Json, parse_event
from .small_imports import DatabaseError

MAX_START_CHARS, MAX_PROMPT_CHARS, MAX_TOOL_CHARS = 1_500, 900, 600
MAX_PROMPT_ITEMS, MAX_TOOL_ITEMS = 3, 2
MAX_INPUT_BYTES = 16_000_000
_LIMITS = {
    "prompt": (MAX_PROMPT_ITEMS, MAX_PROMPT_CHARS),
    "read": (MAX_TOOL_ITEMS, MAX_TOOL_CHARS),
    "failure": (MAX_TOOL_ITEMS, MAX_TOOL_CHARS),
    "edit": (MAX_TOOL_ITEMS, MAX_TOOL_CHARS),
}


def main(starter: str, seconds: float) -> None:
    """Runs the program. `starter` is the path of `bin/hook.py`; after `seconds` it gives up in silence."""
    began = time.perf_counter()
    folder, agent = "", ""
    try:
        _thread.start_new_thread(_give_up_after, (seconds,))
        home = os.path.dirname(os.path.dirname(os.path.abspath(starter)))
        folder = os.path.join(home, "run", "hooks")
        if sys.stdin is None or sys.stdout is None:
            os._exit(0)  # its number may already belong to another file
        named = sys.argv[1] if len(sys.argv) > 1 else ""
        agent = named[:20] if named.isalnum() else ""
        payload = _read_payload()
        if payload is not None and os.path.isdir(folder):
            event = parse_event(payload, dict(os.environ), named)
            agent = event.agent
            _answer(home, folder, event)
            traces.record_call(folder, agent, event.name or "other", (time.perf_counter() - began) * 1000)
    except BaseException as error:  # whatever it was, say nothing
        if folder:
            traces.log_error(folder, agent, error)
    finally:
        os._exit(0)


def _give_up_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def _read_payload() -> Json | None:
    """Reads the whole input first: an agent may not survive a closed pipe."""
    import json

    parts: list[bytes] = []
    size = 0
    while data := os.read(0, 1 << 20):
        size += len(data)
        if size <= MAX_INPUT_BYTES:
            parts.append(data)
    if size > MAX_INPUT_BYTES or not parts:
        return None
    payload = json.loads(b"".join(parts))
    return payload if isinstance(payload, dict) else None


def _answer(home: str, folder: str, event: Event) -> None:
    if not event.name:
        return
    cwd = os.path.realpath(event.cwd)
    if cwd == os.path.realpath(home) or cwd.startswith(os.path.realpath(home) + os.sep):
        return  # an agent that Lerim itself is asking
    root = lookup.find_root(cwd)
    if not root:
        return
    name = lookup.index_name(root)
    path = os.path.join(folder, f"{name}.sqlite3")
    if not os.path.exists(path):
        if os.path.isdir(os.path.join(root, ".lerim", "memory")) or os.path.isdir(os.path.join(home, "memory")):
            traces.start_refresh(home, folder, name, root)
        return
    try:
        index = lookup.HookIndex(path, root)
        _answer_from(index, home, folder, event, cwd)
        is_outdated = index.is_outdated or index.has_new_files()
    except (lookup.UnusableIndexError, DatabaseError):
        traces.start_refresh(home, folder, name, root)
        raise
    if is_outdated:
        traces.start_refresh(home, folder, name, root)


def _answer_from(index: lookup.HookIndex, home: str, folder: str, event: Event, cwd: str) -> None:
    own = session.AgentSession(folder, f"{event.agent}\0{event.session or index.root}")
    if event.name == "start":
        if event.source in ("clear", "compact"):
            own.forget()
        given = _choose_start(index, own, traces.swap_start_day(folder, lookup.index_name(index.root)))
    else:
        given = _choose(index, own, event, cwd)
    if not given or not own.claim_event(event.name, event.id):
        return
    given = [item for item in given if own.claim_memory(_memory_key(item))]
    if not given:
        return
    text = _render_start(given) if event.name == "start" else _render(event.name, given)
    render = answers.render_denial if event.name == "edit" else answers.render_context
    os.write(1, render(event.agent, event.hook_name, text).encode())
    own.record([_memory_key(item) for item in given], len(text))
    for scope, key in ((False, index.meta.get("key", "")), (True, "global")):
        ids = [item.id for item in given if item.is_personal is scope]
        if ids and key:
            private = os.path.join(home, "projects", key)
            traces.record_serving(private, event.agent, event.name, ids, event.session)


def _choose(index: lookup.HookIndex, own: session.AgentSession, event: Event, cwd: str) -> list[lookup.Item]:
    if event.name == "prompt":
        found = index.find_for_prompt(_storable(event.prompt)) if event.prompt else []
    elif event.name == "failure":
        found = index.find_for_failure(_storable(event.command), _storable(event.output))
    else:
        if event.name == "edit" and index.meta.get("deny_once") != "1":
            return []
        paths = [path for one in event.paths if (path := lookup.relative_path(index.root, cwd, _storable(one)))]
        found = index.find_for_paths(paths, event.name == "edit")
        if event.name == "edit":
            event.id = "deny\0" + "\0".join(sorted(paths))  # one file is refused once in a session, whatever the call
    most, chars = _LIMITS[event.name]
    chars = min(chars, own.room) - len(_render(event.name, []))
    given: list[lookup.Item] = []
    for item in found:
        if len(given) == most:
            break
        if _memory_key(item) not in own.served and len(item.text) < chars and index.is_current(item):
            chars -= len(item.text) + 1
            given.append(item)
    return given


def _choose_start(index: lookup.HookIndex, own: session.AgentSession, last_day: str) -> list[lookup.Item]:
    """Returns the memories of the briefing that fit. `last_day` is the day of the session before, "" if there was
    none."""
    chars = min(MAX_START_CHARS, own.room) - len(_render_start([]))
    given: list[lookup.Item] = []
    sections: set[str] = set()
    for item in index.load_start():
        if item.section == "drifted" and not (last_day and item.since >= last_day):
            continue
        head = 0 if item.section in sections else len(answers.HEADS[item.section]) + 1
        size = head + len(item.text) + 1
        if size <= chars and _memory_key(item) not in own.served and index.is_current(item):
            sections.add(item.section)
            chars -= size
            given.append(item)
    return given


def _render(name: str, given: list[lookup.Item]) -> str:
    lines = [item.text for item in given]
    if name == "edit":
        return f"{answers.DENY_REASON}\n{answers.fence(lines)}"
    return answers.fence([answers.HEADS[name], *lines])


def _render_start(given: list[lookup.Item]) -> str:
    lines = [answers.START_HEAD]
    section = ""
    for item in given:
        if item.section != section:
            section = item.section
            lines.append(answers.HEADS[section])
        lines.append(item.text)
    return answers.fence(lines)


def _memory_key(item: lookup.Item) -> str:
    name = item.id.replace("%", "%25").replace(" ", "%20").replace("\n", "%0A")
    return f"global:{name}" if item.is_personal else name


def _storable(text: str) -> str:
    """Returns a text without characters that JSON can hold but databases and paths cannot."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
