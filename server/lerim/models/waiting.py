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

TOKENS_PER_BYTE = 0.55
"""Tokens shown per packed byte in the catalog."""
TOKENS_PER_TOOL_CALL = 140
TOKENS_PER_TURN = 8
PROMPT_TOKENS = 1_500
"""Tokens of instructions sent with each window."""
ANSWER_TOKENS = 3_000
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
    pending = catalog.count_pending_turns(project, since, until)
    if model is None:
        return WaitingWork(pending.sessions, estimate_shown_tokens(pending), why=why or "none")
    if not pending.sessions:
        return WaitingWork(model=model.label, why=why)
    windows = pending.sessions + estimate_shown_tokens(pending) // max(1, model.max_window_tokens)
    overlaps = (windows - pending.sessions) * model.window_overlap_tokens
    usages = [
        (
            model,
            Usage(
                windows, estimate_shown_tokens(pending) + overlaps + windows * PROMPT_TOKENS, windows * ANSWER_TOKENS
            ),
        )
    ]
    if summarizer is not None:
        summary_tokens = round(pending.size * TOKENS_PER_BYTE) + pending.turns * TOKENS_PER_TURN
        usages.append((summarizer, Usage(windows, summary_tokens + windows * PROMPT_TOKENS, windows * ANSWER_TOKENS)))
    tokens = sum(usage.input_tokens for _, usage in usages)
    costs = [compute_cost(asked_model.name, usage) for asked_model, usage in usages if asked_model.billed]
    known_costs = [cost for cost in costs if cost is not None]
    cost = round(sum(known_costs), 4) if known_costs and len(known_costs) == len(costs) else None
    return WaitingWork(pending.sessions, tokens, cost, model.label, why)


def estimate_shown_tokens(pending: PendingTurns) -> int:
    """Estimates how many tokens of these turns are shown to a model."""
    return round(
        pending.size * TOKENS_PER_BYTE + pending.calls * TOKENS_PER_TOOL_CALL + pending.turns * TOKENS_PER_TURN
    )
