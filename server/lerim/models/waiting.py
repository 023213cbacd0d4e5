"""About what it would send, and cost, to ask a model of all that waits for it: an estimate for people to decide by.

The figures are those of sessions of six agents: what a model is shown of a turn has about half as many tokens as the
catalog keeps packed bytes of it, and some for each tool call, whose output the catalog does not keep.
"""

from __future__ import annotations

from datetime import datetime

from lerim.models.model import Model
from lerim.models.prices import cost_of
from lerim.models.usage import Usage, Waits, Why
from lerim.sessions.catalog import Catalog
from lerim.sessions.unsent import Unsent

BYTE = 0.55
CALL = 140
TURN = 8
PROMPT = 1_500
"""Tokens of instructions that go with each window."""
ANSWER = 3_000
"""Tokens of one answer, what the model thinks before it included."""


def waits(
    catalog: Catalog,
    project: str,
    model: Model | None,
    why: Why = "",
    *,
    summarizer: Model | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Waits:
    """What of a project waits for the model it is asked of (None: none is chosen), and for the one that then summarizes
    the same sessions. The cost is that of both, None where neither is paid for or a price is not known.

    Raises CatalogError.
    """
    left = catalog.unsent(project, since, until)
    if model is None:
        return Waits(left.sessions, shown(left), why=why or "none")
    if not left.sessions:
        return Waits(model=model.label, why=why)
    windows = left.sessions + shown(left) // max(1, model.max_window_tokens)
    overlaps = (windows - left.sessions) * model.window_overlap_tokens
    asked = [(model, Usage(windows, shown(left) + overlaps + windows * PROMPT, windows * ANSWER))]
    if summarizer is not None:
        told = round(left.size * BYTE) + left.turns * TURN
        asked.append((summarizer, Usage(windows, told + windows * PROMPT, windows * ANSWER)))
    tokens = sum(usage.input_tokens for _, usage in asked)
    costs = [cost_of(one.name, usage) for one, usage in asked if one.billed]
    known = [cost for cost in costs if cost is not None]
    cost = round(sum(known), 4) if known and len(known) == len(costs) else None
    return Waits(left.sessions, tokens, cost, model.label, why)


def shown(left: Unsent) -> int:
    """About how many tokens a model is shown of these turns."""
    return round(left.size * BYTE + left.calls * CALL + left.turns * TURN)
