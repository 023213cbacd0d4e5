"""Asks a model for an extraction and stores each answer before it is used, so that a job may run twice but is paid
once.

An answer is found by a hash of the model and the whole request. The request itself, which is redacted, is not
stored.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import msgspec

from lerim.models import Engine, Model, faults, lm15
from lerim.org.paying.fleet import FleetBudget, FleetBusyError
from lerim.redaction import redact_secrets
from lerim.team import keep_trying, make_storable

RATE_LIMIT_SECONDS = 10.0
"""How long the fleet waits after "too many requests" if the service does not say."""
FAULT_SECONDS = 30.0
"""How long the fleet waits after a fault of the service or the network."""


class _Answer(msgspec.Struct, frozen=True):
    text: str
    finish: str
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class PaidAnswers:
    """The engine that an extraction's language model uses; any number of threads may ask it."""

    model: Model
    engine: Engine
    budget: FleetBudget

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Returns the stored answer to this request, or asks for it and stores it.

        Raises FleetBusyError if the team's limits or the service allow no call now, errors of `dspy.lm15`, OrgError.
        """
        digest = hashlib.sha256(f"{self.model.label}\n{request!r}".encode("utf-8", "surrogatepass")).hexdigest()
        stored = self._find(digest)
        if stored is not None:
            return _make_response(request, stored)
        try:
            response = self.engine.complete(request)
        except (lm15.RateLimitError, lm15.ServerError, lm15.TransportError) as error:
            is_fault = not isinstance(error, lm15.RateLimitError)
            wait = error.retry_after or (FAULT_SECONDS if is_fault else RATE_LIMIT_SECONDS)
            at = self.budget.pause(self.model.label, wait)
            broke_off = isinstance(error, faults.BrokenOffError)  # no outage, and its beginning is paid for
            is_try = is_fault and (broke_off or self.budget.may_be_reason(self.model.label))
            raise FleetBusyError(at, f"{faults.describe_error(error)}.", is_try=is_try) from error
        usage = response.usage
        answer = _Answer(
            make_storable(redact_secrets(response.text or "").text),
            response.finish_reason,
            usage.input_tokens,
            usage.output_tokens,
        )
        values = (self.budget.database.team, digest, self.model.label, msgspec.json.encode(answer).decode())
        keep_trying(
            lambda: self.budget.database.execute(
                "INSERT INTO answers (team, hash, model, answer) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING", values
            )
        )
        return _make_response(request, answer)

    def _find(self, digest: str) -> _Answer | None:
        with self.budget.database.open() as connection:
            row = connection.execute(
                "SELECT answer::text FROM answers WHERE team = %s AND hash = %s", (self.budget.database.team, digest)
            ).fetchone()
        return None if row is None else msgspec.json.decode(row[0], type=_Answer)


def _make_response(request: lm15.Request, answer: _Answer) -> lm15.Response:
    """Returns a stored answer in the form in which the engine returns it. It is used the first time, too, so that
    both give the same result."""
    usage = lm15.Usage(input_tokens=answer.input_tokens, output_tokens=answer.output_tokens)
    message = lm15.Message.assistant([lm15.TextPart(answer.text)])
    return lm15.Response(id=None, model=request.model, message=message, finish_reason=answer.finish, usage=usage)
