"""A client of our MCP server, which runs in a thread and is spoken to over pipes as over its standard streams."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from hang import HANG
from lerim.mcp.server import Server


class McpClient:
    """`with McpClient(repo) as client: client.tell("recall", question="…")`."""

    def __init__(self, repo: Path | str, capabilities: dict[str, Any] | None = None) -> None:
        server_reads, self._to_server = (
            os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)
        )
        self._from_server, server_writes = (
            os.fdopen(end, mode) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True)
        )
        self._ends = (server_reads, server_writes)
        self._server = threading.Thread(target=self._serve, args=(server_reads, server_writes, str(repo)), daemon=True)
        self._capabilities = capabilities or {}
        self._next_id = 0
        self.notifications: list[dict[str, Any]] = []

    def _serve(self, source: Any, output: Any, repo: str) -> None:
        try:
            Server(source, output, repo).run()
        finally:
            output.close()
            source.close()

    def __enter__(self) -> McpClient:
        self._server.start()
        client = {"name": "Claude-Code", "version": "2"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": self._capabilities, "clientInfo": client}
        self.welcome = self.ask("initialize", hello)["result"]
        self.send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._to_server.close()
        self._server.join(HANG)
        assert not self._server.is_alive(), "the server goes on after its input has ended"
        self._from_server.close()

    def send(self, message: dict[str, Any] | bytes) -> None:
        line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._to_server.write(line + b"\n")
        self._to_server.flush()

    def receive(self) -> dict[str, Any]:
        """The next message that is not a progress notification."""
        while line := self._from_server.readline():
            message: dict[str, Any] = json.loads(line)
            assert message.pop("jsonrpc") == "2.0"
            if message.get("method") != "notifications/progress":
                return message
            self.notifications.append(message["params"])
        raise AssertionError("the server has closed its output")

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self._next_id += 1
        self.send({"id": self._next_id, "method": method, **({} if params is None else {"params": params})})
        answer = self.receive()
        assert answer["id"] == self._next_id
        return answer

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """The text of an answer, and whether it is an error."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        [content] = result["content"]
        assert content["type"] == "text"
        return content["text"], result["isError"]

    def tell(self, tool: str, **arguments: Any) -> str:
        text, is_error = self.call(tool, **arguments)
        assert not is_error, text
        return text
