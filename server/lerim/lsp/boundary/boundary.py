"""Where pygls ends and our code begins: what arrives is checked here, what leaves as an error is safe here.

- Parameters of our own messages stay plain dictionaries until the handler's type is known (pygls would mangle them),
  and a message of the wrong shape is answered with -32602 (pygls would never answer it).
- An error's text reaches the editor only if it is one of ours; a traceback never does.
- Errors outside a request are logged; pygls would pop each up in the person's face.
"""

# ruff: noqa: TID251 - the two files that may
from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import cattrs
import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.io_ import StdoutWriter
from pygls.lsp.server import LanguageServer
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
    default_converter,
)

from lerim.errors import LerimError
from lerim.lsp.boundary.documents import Documents
from lerim.lsp.boundary.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    FrameReader,
    RpcMessage,
    RpcRefusal,
    parse_message,
    refuse_untimely,
)
from lerim.lsp.boundary.stdin_reader import read_stdin
from lerim.lsp.protocol import encode_json, redact_text

log = logging.getLogger("lerim.lsp")
P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

LERIM_ERROR = -32080
INTERNAL_ERROR = -32603


class UntrustedError(LerimError):
    """The workspace is in Restricted Mode: memories are shown, nothing else is done."""

    code = "untrusted"


class EditorRequestError(LerimError):
    """The editor did not do what the sidecar asked of it."""

    code = "editor"


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """A result that is JSON already."""

    json: bytes


class SidecarProtocol(LanguageServerProtocol):
    """pygls' protocol with our documents, and results that were encoded in another thread."""

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if error is not None or not isinstance(result, EncodedResult):
            super()._send_response(msg_id, result, error)
        elif self.writer is not None:
            body = b'{"id":%b,"jsonrpc":"2.0","result":%b}' % (msgspec.json.encode(msg_id), result.json)
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def receive(self, body: bytes) -> None:
        """Handles one message. A request that cannot be handled is answered with the reason; the log hears of anything
        else that cannot."""
        message = parse_message(body)
        if isinstance(message, RpcRefusal):
            self.refuse(message)
        elif message is not None:
            late = refuse_untimely(message, initialized=self._workspace is not None, shut_down=self._shutdown)
            refusal = late or self._handled(message)
            if refusal is not None and message.method is not None and message.id is not None:
                self.refuse(refusal)

    def _handled(self, message: RpcMessage) -> RpcRefusal | None:
        try:
            self.handle_message(self.structure_message(message.data))
        except (JsonRpcInvalidParams, RecursionError):
            return RpcRefusal(message.id, INVALID_PARAMS, f"{str(message.method)[:100]}: wrong parameters.")
        except Exception as error:
            log.warning("A message was not handled: %s at %s.", type(error).__name__, error_location(error))
            return RpcRefusal(message.id, INVALID_REQUEST, "The message was not understood.")
        return None

    def refuse(self, refusal: RpcRefusal) -> None:
        """Answers with an error."""
        log.warning("A message was refused (%d): %s", refusal.code, refusal.message)
        if self.writer is not None:
            answer = refusal.encoded()
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(answer), answer))

    @property
    def workspace(self) -> Documents:
        found = super().workspace
        if not isinstance(found, Documents):
            found = Documents(
                None, types.TextDocumentSyncKind.Incremental, list(found.folders.values()), found.position_encoding
            )
            self._workspace = found
        return found


class SidecarServer(LanguageServer):
    """A language server whose inner errors go to the log, named and without their text."""

    protocol: SidecarProtocol

    @property
    def documents(self) -> Documents:
        """The open documents."""
        return self.protocol.workspace

    def serve(self, source: BinaryIO, output: BinaryIO) -> None:
        """Answers what comes from `source` until the editor is gone."""
        self.protocol.set_writer(StdoutWriter(output))
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt, SystemExit):
            asyncio.run(self._answer(source, output))

    async def _answer(self, source: BinaryIO, output: BinaryIO) -> None:
        frames = FrameReader(await read_stdin(source, output))
        while (body := await frames.next()) is not None:
            if isinstance(body, RpcRefusal):
                self.protocol.refuse(body)
            else:
                self.protocol.receive(body)

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        cause = error.__cause__ or error
        log.warning("An error outside a request: %s (%s).", type(cause).__name__, source.__name__)


def make_converter() -> cattrs.Converter:
    """pygls' converter, but parameters and results of messages it does not know stay dictionaries."""
    made: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]
    for message in (JsonRPCRequestMessage, JsonRPCNotification):
        made.register_structure_hook(message, lambda raw, kind: kind(**{"params": None, **raw}))
    made.register_structure_hook(JsonRPCResponseMessage, lambda raw, kind: kind(**{"result": None, **raw}))
    return made


def make_server(name: str, version: str) -> SidecarServer:
    """A server with nothing registered."""
    return SidecarServer(
        name,
        version,
        text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
        protocol_cls=SidecarProtocol,
        converter_factory=make_converter,
    )


def register_request(
    server: SidecarServer,
    method: str,
    kind: type[P],
    handler: Callable[[P], Awaitable[object]],
    run: Callable[[Callable[[object], bytes], object], Awaitable[bytes]],
) -> None:
    """Registers a request of our own: typed parameters in, any frozen object out, errors made safe.

    `run` does work in another thread: thousands of candidates are encoded there while hovers are answered.
    """

    async def answer(params: P) -> EncodedResult:
        return EncodedResult(await run(encode_json, await handler(params)))

    # Annotated as `object`, the parameter would be taken by pygls for the server itself.
    async def call(raw: Any) -> Any:
        try:
            params = msgspec.convert(raw if raw is not None else {}, kind)
        except msgspec.ValidationError as error:
            raise JsonRpcInvalidParams(f"{method}: {error}"[:300]) from None
        return await guard_request(method, answer(params))

    server.feature(method)(call)


async def ask_editor(server: SidecarServer, method: str, params: object) -> object:
    """What the editor answers to a request of our own: plain JSON. Cancelled, the request is taken back.

    pygls is not told of that: it would cancel its own record of the request, and trip over an answer that comes late.
    Raises EditorError where the editor has no answer.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[object] = loop.create_future()
    number = uuid.uuid4().hex

    def settle(result: object, error: BaseException | None) -> None:
        if answered.done():
            return
        if error is None:
            answered.set_result(result)
        else:
            answered.set_exception(EditorRequestError(f"{method} failed in the editor: {type(error).__name__}."))

    def came(request: Future[object]) -> None:
        if request.cancelled():  # the editor shuts the server down
            return
        error = request.exception()
        loop.call_soon_threadsafe(settle, None if error else request.result(), error)

    server.protocol.send_request(method, params, msg_id=number).add_done_callback(came)
    try:
        return await answered
    except asyncio.CancelledError:
        server.cancel_request(types.CancelParams(id=number))
        raise


async def guard_request(method: str, work: Awaitable[R]) -> R:
    """Awaits `work`; what it raises leaves as a JSON-RPC error with a safe message, `data.kind` and `data.diff`."""
    try:
        return await work
    except LerimError as error:
        raise make_rpc_error(error) from None
    except (asyncio.CancelledError, JsonRpcException):
        raise
    except Exception as error:
        from lerim.jobs import explain_unusable_home

        if (known := explain_unusable_home(error)) is not None:
            raise JsonRpcException(str(known).replace("\n", " ")[:500], LERIM_ERROR, {"kind": known.code}) from None
        log.error("%s failed: %s at %s.", method, type(error).__name__, error_location(error))
        raise JsonRpcException(
            f"{method} stopped at an unexpected {type(error).__name__}. See Lerim: Show Log.",
            INTERNAL_ERROR,
            {"kind": "error"},
        ) from None


def make_rpc_error(error: LerimError) -> JsonRpcException:
    """One of our errors as the protocol's."""
    data = {"kind": error.code, **({"diff": redact_text(error.diff)} if error.diff else {})}
    return JsonRpcException(redact_text(str(error)).replace("\n", " ")[:500], LERIM_ERROR, data)


def error_location(error: BaseException) -> str:
    """Where an error was raised, `file.py:12 in name`, without its message."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return "an unknown place"
    code = frame.tb_frame.f_code
    return f"{code.co_filename.replace(chr(92), '/').rsplit('/', 1)[-1]}:{frame.tb_lineno} in {code.co_name}"
