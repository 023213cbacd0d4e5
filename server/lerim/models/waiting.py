"""About what it would send, and cost, to ask a model of all that waits for it: an estimate for people to decide by.

The figures are those of sessions of six agents: what a model is shown of a turn has about half as many tokens as the
catalog keeps packed bytes of it, and some for each tool call, whose output the catalog does not keep.
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
"""Tokens of instructions that go with each window."""
ANSWER = 3_000
"""Tokens of one answer, what the model thinks before it included."""


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
    """What of a project waits for the model it is asked of (None: none is chosen), and for the one that then summarizes
    the same sessions. The cost is that of both, None where neither is paid for or a price is not known.

    Raises CatalogError.
    """
    left = catalog.unsent(project, since, until)
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
    """About how many tokens a model is shown of these turns."""
    return round(left.size * BYTE + left.calls * CALL + left.turns * TURN)
