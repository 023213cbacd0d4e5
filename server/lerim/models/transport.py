"""Sends a request to a model over its wire: HTTP, a command, an agent's program, or the editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from lerim.models.agents import call, command
from lerim.models.answer import ModelAnswer
from lerim.models.dspy_import import lm15
from lerim.models.editor import EditorBridge, EditorRefusedError
from lerim.models.model import Model
from lerim.models.services import EventStream, OutputBound, WireError, anthropic, chat, faults, post_json
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
        match model.wire:
            case "chat" | "anthropic":
                return self._ask_service(request, model, output, listener)
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

    def _ask_service(
        self, request: lm15.Request, model: Model, output: OutputBound, listener: TextListener | None
    ) -> ModelAnswer:
        answer_stream: chat.AnswerStream
        most, stream = output.max_output_tokens, listener is not None
        if model.wire == "chat":
            body = chat.encode_chat_request(request, model, most, output.parameter, stream=stream)
            url, key_headers, parse_reply = chat.chat_url(model), chat.chat_headers(model), chat.parse_chat_reply
            answer_stream = chat.ChatStream(model)
        else:
            body = anthropic.encode_anthropic_request(request, model, most, stream=stream)
            url, key_headers = anthropic.anthropic_url(model), anthropic.anthropic_headers(model)
            parse_reply = anthropic.parse_anthropic_reply
            answer_stream = anthropic.AnthropicStream(model)
        try:
            reply = post_json(
                url,
                body,
                key_headers,
                seconds=model.timeout,
                cancelled=self._cancelled,
                local=model.local,
                on_piece=_make_stream_handler(answer_stream, listener),
            )
        except WireError as error:
            raise faults.exchange_error(error) from error
        return answer_stream.answer() if reply.is_stream and stream else parse_reply(reply, model)

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
    """Passes on an answer's text as it arrives. `has_text`: some text has been passed on."""

    _on_text: Callable[[str], None]
    has_text: bool = False

    def on_text(self, text: str) -> None:
        if text:
            self.has_text = True
            self._on_text(text)


def _make_stream_handler(
    stream_answer: chat.AnswerStream, listener: TextListener | None
) -> Callable[[bytes], None] | None:
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
    """Returns everything that the request sends, as one text."""
    return f"{chat.system_text(request)}\n\n{_join_messages(request)}".strip()
