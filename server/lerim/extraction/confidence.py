"""How sure a candidate is, by code alone: who said it, how it turned out, how often it was said.

| rests on                                       | base |
|------------------------------------------------|------|
| insisted: always, never, said again            | 0.90 |
| answered: chosen in the agent's question tool  | 0.90 |
| denied: a call refused, with the reason        | 0.85 |
| recorded: the person's word, written down      | 0.85 |
| corrected: what the agent did, put right       | 0.80 |
| planned: a plan the person approved            | 0.75 |
| stated: a rule or choice of the person         | 0.75 |
| picked: an option the agent offered in its text| 0.70 |
| fixed: the same command failed, then passed    | 0.70 |
| replaced: another command passed instead       | 0.70 |
| conceded: a remark the agent agreed to         | 0.70 |
| found: a cause the agent named, borne out      | 0.65 |
| model: what a model read, with a quote of it   | 0.70 |
| mended: such a cause that is gone, no rule    | 0.55 |
| logged: written into the project's own notes   | 0.60 |
| met: the same error in several sessions        | 0.60 |
| accepted: the agent's own choice, accepted     | 0.60 |
| open: a question that nobody answered          | 0.60 |
| worked: several sessions worked on it          | 0.55 |

What names no file, function, command, setting or error, what begins with an unresolved "this" or "it" or speaks of I,
you or we, and what is too long for a title, loses 0.10 for each, down to 0.20 (`weakness.py`): such claims come last,
but they come. The person's next words accepting it add 0.05; each further quote of the person adds 0.05, at most 0.10;
the whole is at most 0.95. What tries to command an agent or hides characters is at most 0.30. What a model read is at
most as sure as the model was, and at most 0.55 on the agent's words alone.
"""

from __future__ import annotations

from lerim.facts.draft import Basis

_BASE: dict[Basis, float] = {
    "insisted": 0.90,
    "answered": 0.90,
    "denied": 0.85,
    "recorded": 0.85,
    "corrected": 0.80,
    "planned": 0.75,
    "stated": 0.75,
    "picked": 0.70,
    "fixed": 0.70,
    "replaced": 0.70,
    "conceded": 0.70,
    "found": 0.65,
    "mended": 0.55,
    "logged": 0.60,
    "met": 0.60,
    "accepted": 0.60,
    "open": 0.60,
    "worked": 0.55,
    "model": 0.70,
}


_WEAKER = 0.10
_WEAKEST = 0.20


def confidence(basis: Basis, *, accepted: bool, repeated: int, flagged: bool, weaknesses: int = 0) -> float:
    """The figure of the table, rounded to two places; `repeated` counts the person's quotes beyond the first."""
    figure = _BASE[basis] + (0.05 if accepted else 0.0) + min(0.10, 0.05 * max(0, repeated))
    figure = max(_WEAKEST, figure - _WEAKER * weaknesses)
    return round(min(0.30 if flagged else 0.95, figure), 2)


def surer(figure: float, further: int) -> float:
    """A waiting candidate's figure after so many more quotes of the person said the same; never less than it was."""
    return max(figure, round(min(0.95, figure + 0.05 * further), 2))
