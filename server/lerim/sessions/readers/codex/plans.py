"""Separates the plans that the model proposes from the rest of its text."""

from __future__ import annotations

_PLAN, _PLAN_END = "<proposed_plan>", "</proposed_plan>"


def split_plans(text: str) -> list[str]:
    """Returns a text without the plans proposed in it, followed by those plans."""
    around: list[str] = []
    plans: list[str] = []
    position = 0
    while (start := text.find(_PLAN, position)) >= 0 and (end := text.find(_PLAN_END, start)) >= 0:
        around.append(text[position:start])
        position = end + len(_PLAN_END)
        plans.append(text[start:position])
    return ["".join([*around, text[position:]]), *plans]
