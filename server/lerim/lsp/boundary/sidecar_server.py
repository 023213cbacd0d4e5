"""The pygls server: validates incoming messages and makes outgoing errors safe.

- Parameters of our own messages stay plain dictionaries until the handler's type is known (pygls would convert them
  to objects of its own), and a message of the wrong shape is answered with -32602 (pygls would not answer it).
- Only the text of our own errors reaches the editor; tracebacks never do.
- Errors outside a request are logged; pygls would show each one in a pop-up.
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

from lerim.errors import LerimError, error_location
from lerim.lsp.boundary.documents import Documents
from lerim.lsp.boundary.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    FrameReader,
    RpcMessage,
    RpcRejection,
    check_lifecycle,
    parse_message,
)
from lerim.lsp.boundary.parent import read_stdin
from lerim.lsp.protocol import encode_json, redact_text

log = logging.getLogger("lerim.lsp")
P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

LERIM_ERROR = -32080
INTERNAL_ERROR = -32603


class UntrustedError(LerimError):
    """The workspace is in Restricted Mode, in which Lerim only shows memories."""

    code = "untrusted"


class EditorRequestError(LerimError):
    """A request from the sidecar to the editor failed."""

    code = "editor"


@dataclass(frozen=True, slots=True)
class EncodedResult:
    """A result already encoded as JSON."""

    json: bytes


class SidecarProtocol(LanguageServerProtocol):
    """The pygls protocol with our `Documents` and support for results encoded in another thread."""

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if error is not None or not isinstance(result, EncodedResult):
            super()._send_response(msg_id, result, error)
        elif self.writer is not None:
            body = b'{"id":%b,"jsonrpc":"2.0","result":%b}' % (msgspec.json.encode(msg_id), result.json)
            self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def receive(self, body: bytes) -> None:
        """Handles one message. An invalid request is answered with an error; any other invalid message is logged."""
        message = parse_message(body)
        if isinstance(message, RpcRejection):
            self.reject_message(message)
        elif message is not None:
            lifecycle_error = check_lifecycle(
                message, initialized=self._workspace is not None, shut_down=self._shutdown
            )
            rejection = lifecycle_error or self._try_handle(message)
            if rejection is not None and message.method is not None and message.id is not None:
                self.reject_message(rejection)

    def _try_handle(self, message: RpcMessage) -> RpcRejection | None:
        try:
            self.handle_message(self.structure_message(message.data))
        except (JsonRpcInvalidParams, RecursionError):
            return RpcRejection(message.id, INVALID_PARAMS, f"{str(message.method)[:100]}: wrong parameters.")
        except Exception as error:
            log.warning("A message was not handled: %s at %s.", type(error).__name__, error_location(error))
            return RpcRejection(message.id, INVALID_REQUEST, "The message was not understood.")
        return None

    def reject_message(self, rejection: RpcRejection) -> None:
        """Answers a message with an error."""
        log.warning("A message was refused (%d): %s", rejection.code, rejection.message)
        if self.writer is not None:
            answer = rejection.encode_answer()
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
    """A language server that logs internal errors by type, without their text."""

    protocol: SidecarProtocol

    @property
    def documents(self) -> Documents:
        """The open documents."""
        return self.protocol.workspace

    def serve(self, source: BinaryIO, output: BinaryIO) -> None:
        """Reads messages from `source` and writes answers to `output` until the editor closes the connection."""
        self.protocol.set_writer(StdoutWriter(output))
        with contextlib.suppress(BrokenPipeError, KeyboardInterrupt, SystemExit):
            asyncio.run(self._answer(source, output))

    async def _answer(self, source: BinaryIO, output: BinaryIO) -> None:
        frames = FrameReader(await read_stdin(source, output))
        while (body := await frames.read_next()) is not None:
            if isinstance(body, RpcRejection):
                self.protocol.reject_message(body)
            else:
                self.protocol.receive(body)

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        cause = error.__cause__ or error
        log.warning("An error outside a request: %s (%s).", type(cause).__name__, source.__name__)


def make_converter() -> cattrs.Converter:
    """Returns the pygls converter, except that parameters and results of unknown messages stay dictionaries."""
    converter: cattrs.Converter = default_converter()  # type: ignore[no-untyped-call]
    for message in (JsonRPCRequestMessage, JsonRPCNotification):
        converter.register_structure_hook(message, lambda raw, params_type: params_type(**{"params": None, **raw}))
    converter.register_structure_hook(
        JsonRPCResponseMessage, lambda raw, params_type: params_type(**{"result": None, **raw})
    )
    return converter


def make_server(name: str, version: str) -> SidecarServer:
    """Makes a server without any handlers."""
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
    params_type: type[P],
    handler: Callable[[P], Awaitable[object]],
    run: Callable[[Callable[[object], bytes], object], Awaitable[bytes]],
) -> None:
    """Registers one of our own requests. Its handler takes a `params_type` and returns any frozen object.

    `run` runs a function in another thread: encoding thousands of candidates must not delay hovers. Errors reach the
    editor as `guard_request` describes.
    """

    async def answer(params: P) -> EncodedResult:
        return EncodedResult(await run(encode_json, await handler(params)))

    # Annotated as `object`, pygls would pass the server itself as the first parameter.
    async def call(raw: Any) -> Any:
        try:
            params = msgspec.convert(raw if raw is not None else {}, params_type)
        except msgspec.ValidationError as error:
            raise JsonRpcInvalidParams(f"{method}: {error}"[:300]) from None
        return await guard_request(method, answer(params))

    server.feature(method)(call)


async def ask_editor(server: SidecarServer, method: str, params: object) -> object:
    """Sends one of our own requests to the editor and returns its answer as plain JSON.

    If this task is cancelled, the request is cancelled in the editor. The pygls future is left alone: if it were
    cancelled, pygls would fail on a late answer. Raises EditorRequestError if the editor answers with an error.
    """
    loop = asyncio.get_running_loop()
    response: asyncio.Future[object] = loop.create_future()
    request_id = uuid.uuid4().hex

    def set_outcome(result: object, error: BaseException | None) -> None:
        if response.done():
            return
        if error is None:
            response.set_result(result)
        else:
            response.set_exception(EditorRequestError(f"{method} failed in the editor: {type(error).__name__}."))

    def on_response(request: Future[object]) -> None:
        if request.cancelled():  # the editor shuts the server down
            return
        error = request.exception()
        loop.call_soon_threadsafe(set_outcome, None if error else request.result(), error)

    server.protocol.send_request(method, params, msg_id=request_id).add_done_callback(on_response)
    try:
        return await response
    except asyncio.CancelledError:
        server.cancel_request(types.CancelParams(id=request_id))
        raise


async def guard_request(method: str, work: Awaitable[R]) -> R:
    """Awaits `work`. Exceptions become JSON-RPC errors with a safe message, `data.kind` and `data.diff`."""
    try:
        return await work
    except LerimError as error:
        raise make_rpc_error(error) from None
    except (asyncio.CancelledError, JsonRpcException):
        raise
    except Exception as error:
        from lerim.jobs import explain_unusable_home

        if (home_error := explain_unusable_home(error)) is not None:
            raise JsonRpcException(
                str(home_error).replace("\n", " ")[:500], LERIM_ERROR, {"kind": home_error.code}
            ) from None
        log.error("%s failed: %s at %s.", method, type(error).__name__, error_location(error))
        raise JsonRpcException(
            f"{method} stopped at an unexpected {type(error).__name__}. See Lerim: Show Log.",
            INTERNAL_ERROR,
            {"kind": "error"},
        ) from None


def make_rpc_error(error: LerimError) -> JsonRpcException:
    """Converts one of our errors to a JSON-RPC error, with secrets redacted."""
    data = {"kind": error.code, **({"diff": redact_text(error.diff)} if error.diff else {})}
    return JsonRpcException(redact_text(str(error)).replace("\n", " ")[:500], LERIM_ERROR, data)
