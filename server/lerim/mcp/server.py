"""The server's loop: answers the handshake at once, and tool calls one after another in a thread of their own.

It follows the Model Context Protocol over stdio, versions 2024-11-05 to 2025-11-25 (modelcontextprotocol.io). A call
that is cancelled before its answer is written gets none. The server ends when its input does, after the calls it has
accepted.
"""

from __future__ import annotations

import queue
import sys
import threading
import traceback

from lerim.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, BadMessage, Message, Writer, read_messages
from lerim.mcp.tool_list import INSTRUCTIONS, TOOLS
from lerim.streams import claim_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from lerim.assistant import ToolCalls
    from lerim.mcp.messages import Json, RequestId

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ROOTS_REQUEST = "lerim-roots"
MAX_WAITING_CALLS = 100
_ROOTS_MAY_HAVE_CHANGED = ("notifications/initialized", "notifications/roots/list_changed")


class _Call:
    """A tool call that waits or runs."""

    __slots__ = ("arguments", "id", "is_cancelled", "name", "progress_token")

    def __init__(self, id: RequestId, name: str, arguments: dict[str, Json], progress_token: Json) -> None:
        self.id = id
        self.name = name
        self.arguments = arguments
        self.progress_token = progress_token
        self.is_cancelled = False


class Server:
    """One client's connection."""

    def __init__(self, source: BinaryIO, output: BinaryIO, repo: str = "") -> None:
        self._source = source
        self._writer = Writer(output)
        self._repo = repo
        self._roots: list[str] = []
        self._asks_for_roots = False
        self._client = ""
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._open_calls: dict[RequestId, _Call] = {}
        self._worker: threading.Thread | None = None

    def run(self) -> None:
        """Serves until the client closes its end."""
        for message in read_messages(self._source):
            if isinstance(message, BadMessage):
                self._writer.refuse(message.id, message.code, message.explanation)
            elif not message.method:
                self._take_roots(message)
            elif message.id is None:
                self._handle_notification(message)
            else:
                self._answer(message, message.id)
        if self._worker is not None:
            self._calls.put(None)
            self._worker.join()

    def _answer(self, message: Message, request_id: RequestId) -> None:
        if message.method == "initialize":
            self._writer.respond(request_id, self._initialize(message.params))
        elif message.method == "ping":
            self._writer.respond(request_id, {})
        elif message.method == "tools/list":
            self._writer.respond(request_id, {"tools": TOOLS})
        elif message.method == "tools/call":
            self._accept_call(message, request_id)
        else:
            self._writer.refuse(request_id, METHOD_NOT_FOUND, f"There is no method {message.method[:80]!r} here.")

    def _initialize(self, params: dict[str, Json]) -> dict[str, Json]:
        from lerim import __version__

        wanted, capabilities = params.get("protocolVersion"), params.get("capabilities")
        client = params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        self._client = name[:200] if isinstance(name, str) else ""
        self._asks_for_roots = isinstance(capabilities, dict) and "roots" in capabilities
        return {
            "protocolVersion": wanted if isinstance(wanted, str) and wanted in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "lerim", "title": "Lerim project memory", "version": __version__},
            "instructions": INSTRUCTIONS,
        }

    def _handle_notification(self, message: Message) -> None:
        if message.method == "notifications/cancelled":
            cancelled = message.params.get("requestId")
            if isinstance(cancelled, int | str) and (call := self._open_calls.get(cancelled)) is not None:
                call.is_cancelled = True
        elif self._asks_for_roots and message.method in _ROOTS_MAY_HAVE_CHANGED:
            self._writer.send({"id": ROOTS_REQUEST, "method": "roots/list"})

    def _take_roots(self, message: Message) -> None:
        """Takes the client's folders, which name the project if the working directory is in none."""
        if message.id == ROOTS_REQUEST and isinstance(message.result, dict):
            roots = message.result.get("roots")
            uris = [root.get("uri") for root in roots if isinstance(root, dict)] if isinstance(roots, list) else []
            self._roots = [uri for uri in uris if isinstance(uri, str)]

    def _accept_call(self, message: Message, request_id: RequestId) -> None:
        name, arguments, meta = (message.params.get(key) for key in ("name", "arguments", "_meta"))
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            self._writer.refuse(request_id, INVALID_PARAMS, "A call has the name of a tool and an object of arguments.")
        elif not any(isinstance(tool, dict) and tool["name"] == name for tool in TOOLS):
            self._writer.refuse(request_id, INVALID_PARAMS, f"There is no tool {name[:80]!r}.")
        elif request_id in self._open_calls or len(self._open_calls) >= MAX_WAITING_CALLS:
            self._writer.refuse(request_id, INVALID_PARAMS, "Too many calls wait, or one of them has this id.")
        else:
            token = meta.get("progressToken") if isinstance(meta, dict) else None
            call = self._open_calls[request_id] = _Call(request_id, name, arguments or {}, token)
            self._calls.put(call)
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="calls", daemon=True)
                self._worker.start()

    def _work(self) -> None:
        from lerim.assistant import ToolCalls  # imports what reads memories, which the handshake must not wait for

        with ToolCalls(self._repo, lambda: self._roots, lambda: self._client) as tools:
            while (call := self._calls.get()) is not None:
                if not call.is_cancelled:
                    self._run_call(tools, call)
                self._open_calls.pop(call.id, None)

    def _run_call(self, tools: ToolCalls, call: _Call) -> None:
        steps = 0

        def report_progress(message: str) -> None:
            nonlocal steps
            steps += 1
            if call.progress_token is not None and not call.is_cancelled:
                params: dict[str, Json] = {"progressToken": call.progress_token, "progress": steps, "message": message}
                self._writer.send({"method": "notifications/progress", "params": params})

        try:
            text, is_error = tools.call(call.name, call.arguments, report_progress, lambda: call.is_cancelled)
        except Exception as error:  # a bug must not end the server; its text may quote what nobody checked
            sys.stderr.write("".join(traceback.format_tb(error.__traceback__)))
            text, is_error = f"An unexpected {type(error).__name__}. This is a bug in Lerim; please report it.", True
        if not call.is_cancelled:
            content: list[Json] = [{"type": "text", "text": text}]
            self._writer.respond(call.id, {"content": content, "isError": is_error})
            tools.record_served()


def main(repo: str = "") -> int:
    """Serves on the standard streams until the input ends; returns the exit code. `repo` is a folder in the project;
    without it, the project is found from the working directory."""
    source, output = claim_streams()
    Server(source, output, repo).run()
    return 0
