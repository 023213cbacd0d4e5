"""Sends a request to a model over its wire: HTTP, a command, an agent's program, or the editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, assert_never

from lerim.models.agents import call, command
from lerim.models.answer import ModelAnswer
from lerim.models.dspy_import import lm15
from lerim.models.editor import EditorBridge, EditorRefusedError
from lerim.models.model import Model
from lerim.models.services import EventStream, OutputBound, ServiceReply, WireError, anthropic, chat, faults, post_json
from lerim.paths import Home
from lerim.redaction import clean_text


class Transport:
    """Sends requests for one engine. Any number of threads may use it at once.

    `environ` is the environment of commands and agents; the editor's models are asked over `bridge`.
    """

    def __init__(
        self,
        cancelled: Callable[[], bool],
        home: Home | None,
        environ: Mapping[str, str] | None,
        bridge: EditorBridge | None,
    ) -> None:
        self._cancelled = cancelled
        self._home = home
        self._environ = os.environ if environ is None else environ
        self._bridge = bridge

    def send(
        self, request: lm15.Request, model: Model, output: OutputBound, listener: TextListener | None
    ) -> ModelAnswer:
        """Sends the request once and returns the answer; `listener` receives its text as it arrives if the wire
        streams. Raises errors of `dspy.lm15`, and ModelGoneError."""
        stream = listener is not None
        match model.wire:
            case "chat":
                body = chat.encode_chat_request(
                    request, model, output.max_output_tokens, output.parameter, stream=stream
                )
                chat_stream = chat.ChatStream(model)
                on_piece = _make_stream_handler(chat_stream, listener)
                reply = self._post(model, chat.chat_url(model), body, chat.chat_headers(model), on_piece)
                return chat_stream.answer() if reply.is_stream and stream else chat.parse_chat_reply(reply, model)
            case "anthropic":
                body = anthropic.encode_anthropic_request(request, model, output.max_output_tokens, stream=stream)
                anthropic_stream = anthropic.AnthropicStream(model)
                on_piece = _make_stream_handler(anthropic_stream, listener)
                reply = self._post(
                    model, anthropic.anthropic_url(model), body, anthropic.anthropic_headers(model), on_piece
                )
                if reply.is_stream and stream:
                    return anthropic_stream.answer()
                return anthropic.parse_anthropic_reply(reply, model)
            case "command":
                folder = Path(tempfile.gettempdir()) if self._home is None else self._home.root
                printed = command.run_command(
                    model.command,
                    join_request(request),
                    seconds=model.timeout,
                    cancelled=self._cancelled,
                    environ=self._environ,
                    folder=folder,
                )
                return ModelAnswer(printed)
            case "agent":
                return call.ask_agent(
                    model,
                    join_request(request),
                    self._cancelled,
                    self._environ,
                    self._home or Home.from_environ(self._environ),
                )
            case "editor":
                return ModelAnswer(self._ask_editor(request, model, output, listener))
        assert_never(model.wire)

    def _post(
        self,
        model: Model,
        url: str,
        body: bytes,
        key_headers: Mapping[str, str],
        on_piece: Callable[[bytes], None] | None,
    ) -> ServiceReply:
        try:
            return post_json(
                url,
                body,
                key_headers,
                seconds=model.timeout,
                cancelled=self._cancelled,
                local=model.local,
                on_piece=on_piece,
            )
        except WireError as error:
            raise faults.exchange_error(error) from error

    def _ask_editor(
        self, request: lm15.Request, model: Model, output: OutputBound, listener: TextListener | None
    ) -> str:
        if self._bridge is None:
            raise lm15.InvalidRequestError("the editor's models can be used only by a sync in the editor", code="gone")
        try:
            return self._bridge.ask(
                model.name,
                chat.system_text(request),
                _join_messages(request),
                max_tokens=output.max_output_tokens,
                seconds=model.timeout,
                cancelled=self._cancelled,
                on_text=None if listener is None else listener.on_text,
            )
        except EditorRefusedError as error:
            message = f"{error}: {' '.join(clean_text(error.message).split())[:200]}" if error.message else str(error)
            raise _editor_error(error, message) from error


@dataclass(slots=True)
class TextListener:
    """Passes an answer's text on as it arrives. `has_text`: some text has been passed on."""

    _on_text: Callable[[str], None]
    has_text: bool = False

    def on_text(self, text: str) -> None:
        if text:
            self.has_text = True
            self._on_text(text)


class _StreamedAnswer(Protocol):
    """A streamed answer in the format of either service."""

    def take(self, data: bytes) -> str:
        """Returns the text of one event."""


def _make_stream_handler(
    stream_answer: _StreamedAnswer, listener: TextListener | None
) -> Callable[[bytes], None] | None:
    """Returns a function that takes the bytes of an event stream and passes the text on, None without a listener."""
    if listener is None:
        return None
    event_stream = EventStream()

    def on_piece(piece: bytes) -> None:
        try:
            data_of_events = list(event_stream.feed(piece))
        except ValueError as error:
            raise faults.invalid_reply_error(200) from error
        for data in data_of_events:
            listener.on_text(stream_answer.take(data))

    return on_piece


def _editor_error(error: EditorRefusedError, message: str) -> lm15.LM15Error:
    match error.why:
        case "cancelled":
            return faults.cancelled_error()
        case "timeout":
            return lm15.TimeoutError(message)
        case "not-found" | "gone":
            return lm15.UnsupportedModelError(message, code="gone")
        case "no-permission":
            return lm15.InvalidRequestError(message, code="gone")
        case "quota":
            return lm15.BillingError(message)
        case "blocked":  # temporary: the account's rate limit
            return lm15.RateLimitError(message, retry_after=faults.parse_retry_after({}, error.message))
        case "failed":
            return lm15.ServerError(message)
    assert_never(error.why)


def _join_messages(request: lm15.Request) -> str:
    return "\n\n".join(message.text or "" for message in request.messages)


def join_request(request: lm15.Request) -> str:
    """Returns everything that is sent, as one text."""
    return f"{chat.system_text(request)}\n\n{_join_messages(request)}".strip()
