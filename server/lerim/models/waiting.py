"""Estimates how many tokens it would take, and what it would cost, to ask a model about everything that waits for it,
so that the person can decide.

The constants were measured on sessions of six agents: the part of a turn shown to a model has about half as many
tokens as the catalog stores packed bytes for it, plus some for each tool call, because the catalog does not store
tool output.
"""

from __future__ import annotations

from datetime import datetime

from lerim.models.model import Model
from lerim.models.money import Usage, WaitingWork, WaitReason, compute_cost
from lerim.sessions import Catalog, PendingTurns

BYTE = 0.55
CALL = 140
TURN = 8
PROMPT = 1_500
"""Tokens of instructions sent with each window."""
ANSWER = 3_000
"""Tokens of one answer, including the model's reasoning before it."""


def estimate_waiting(
    catalog: Catalog,
    project: str,
    model: Model | None,
    why: WaitReason = "",
    *,
    summarizer: Model | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> WaitingWork:
    """Estimates the work that waits in a project for its extraction model (None: none is chosen) and for the model that
    then summarizes the same sessions. The cost covers both; it is None if neither is billed or a price is not known.
    """
    left = catalog.count_pending_turns(project, since, until)
    if model is None:
        return WaitingWork(left.sessions, estimate_shown_tokens(left), why=why or "none")
    if not left.sessions:
        return WaitingWork(model=model.label, why=why)
    windows = left.sessions + estimate_shown_tokens(left) // max(1, model.max_window_tokens)
    overlaps = (windows - left.sessions) * model.window_overlap_tokens
    asked = [(model, Usage(windows, estimate_shown_tokens(left) + overlaps + windows * PROMPT, windows * ANSWER))]
    if summarizer is not None:
        told = round(left.size * BYTE) + left.turns * TURN
        asked.append((summarizer, Usage(windows, told + windows * PROMPT, windows * ANSWER)))
    tokens = sum(usage.input_tokens for _, usage in asked)
    costs = [compute_cost(one.name, usage) for one, usage in asked if one.billed]
    known = [cost for cost in costs if cost is not None]
    cost = round(sum(known), 4) if known and len(known) == len(costs) else None
    return WaitingWork(left.sessions, tokens, cost, model.label, why)


def estimate_shown_tokens(left: PendingTurns) -> int:
    """Estimates how many tokens of these turns are shown to a model."""
    return round(left.size * BYTE + left.calls * CALL + left.turns * TURN)
