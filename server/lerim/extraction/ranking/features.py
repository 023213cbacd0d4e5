"""The ranker's features of a passage: where it is, its form, and what happened around it. Numbers only, no words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from lerim.extraction.facts import BULLET_LINES, HEADING_LINES
from lerim.extraction.ranking.cues import AGENT_CONCEDES, AS_IT_STANDS, CUES, HEADINGS, MARK, PERSON_OBJECTS, mark_words
from lerim.extraction.ranking.passages import TurnPassage
from lerim.extraction.signals import Exchange, judge_next_words
from lerim.patterns import compile_later
from lerim.sessions import Turn

_SOURCES = ("prompt", "answer", "feedback", "plan", "reply")
_KINDS = ("paragraph", "bullet", "number", "heading", "quote")
_CALLS: Final = ("edit", "write")
_WORD = compile_later(r"[\w./-]{4,}")
_CUE_FORMS: Final = tuple(
    (cue, 2 if name in AS_IT_STANDS else int(cue.pattern.startswith(MARK))) for name, cue in CUES.items()
)
"""Each cue, and the form of a passage in which it is searched for: in lower case, that with marks, as it stands."""

FEATURE_NAMES: Final[tuple[str, ...]] = (
    *(f"source {name}" for name in _SOURCES),
    *(f"line {name}" for name in _KINDS),
    *(f"cue {name}" for name in CUES),
    *(f"heading {name}" for name in HEADINGS),
    *("position", "is first", "is last", "sentences", "text length", "length", "words", "code spans", "names"),
    *(
        "question",
        "exclamation",
        "colon",
        "lower case",
        "wide",
        "before asks",
        "before ends with colon",
        "under heading",
    ),
    *("first prompt", "prompt number", "prompt words", "prompt own share", "objects", "prompt objects"),
    *(
        "agreed with",
        "asked before",
        "last reply",
        "reply number",
        "replies",
        "calls in turn",
        "calls after",
        "edits after",
    ),
    *("errors before", "errors after", "denied", "accepted", "refuted", "committed words", "prompt length"),
    *("said in prompt", "said before", "said after", "typed by hand", "headings", "bullets"),
)
"""The feature names in order. The trained model lists them too, so that a model made for other features is not used."""


class TurnSurroundings(NamedTuple):
    """The values that the features of all passages of one turn share. `prompt` and the texts are in lower case,
    except for `prompt_text`; the lists contain features, in their order."""

    prompt_text: str
    prompt: str
    reply_before: str
    said_after: str
    said_by_agent: str
    text_size: float
    of_exchange: list[float]
    of_replies: list[float]
    of_text: list[float]


def describe_surroundings(
    turn: Turn, before: Exchange, now: Exchange, after: Turn | None, number: int
) -> TurnSurroundings:
    """Returns the values that all passages of `turn` share; `turn` belongs to the exchange `now`. `before` is the
    exchange before it, `after` the person's next words, `number` the count of earlier prompts."""
    prompt = now.prompt.text if now.prompt else ""
    replies = now.replies
    at = next((index for index, reply in enumerate(replies) if reply.ordinal == turn.ordinal), -1)
    later = replies[at + 1 :]
    agent_said = [reply.text for reply in replies if reply.text]
    reply_before = next((reply.text for reply in reversed(before.replies) if reply.text), "")
    verdict = judge_next_words(after)
    return TurnSurroundings(
        prompt_text=prompt,
        prompt=prompt.lower(),
        reply_before=reply_before[-4000:].lower(),
        said_after=after.text[:2000].lower() if after else "",
        said_by_agent="\n".join(said[:2000] for said in agent_said[-3:]).lower(),
        text_size=math.log1p(len(turn.text)),
        of_exchange=[float(number == 0), math.log1p(number), math.log1p(len(prompt.split()))],
        of_replies=[
            float(bool(PERSON_OBJECTS.match(prompt[:200].lower().replace("’", "'")))),
            float(bool(agent_said and AGENT_CONCEDES.match(agent_said[0][:80].lower().replace("’", "'")))),
            float(reply_before.rstrip(" *`)").endswith("?")),
            float(bool(replies) and turn.ordinal == replies[-1].ordinal),
            math.log1p(max(0, at)),
            math.log1p(len(replies)),
            math.log1p(len(turn.tool_calls)),
            math.log1p(sum(len(reply.tool_calls) for reply in later)),
            math.log1p(_count_calls(later, _CALLS)),
            math.log1p(_count_errors((*before.replies[-3:], *replies[: max(0, at)]))),
            math.log1p(_count_errors(later)),
            float(
                any(
                    call.status in ("denied", "interrupted")
                    for reply in (*before.replies[-3:], *replies)
                    for call in reply.tool_calls
                )
            ),
            float(verdict == "accepted"),
            float(verdict == "refuted"),
            float(after is not None and "commit" in after.text[:200].lower()),
            math.log1p(len(prompt)),
        ],
        of_text=[
            math.log1p(len(HEADING_LINES.findall(turn.text))),
            math.log1p(len(BULLET_LINES.findall(turn.text))),
        ],
    )


def passage_features(passage: TurnPassage, around: TurnSurroundings) -> list[float]:
    """Returns the features of a passage of the turn that `around` describes."""
    low = passage.text.lower().replace("’", "'")
    head = passage.heading.lower()
    words = frozenset(_WORD.findall(low))
    row = [float(passage.source == name) for name in _SOURCES]
    row += [float(passage.kind == name) for name in _KINDS]
    forms = (low, mark_words(low), passage.text)
    row += [float(cue.search(forms[form]) is not None) for cue, form in _CUE_FORMS]
    row += [float(bool(cue.search(mark_words(head)))) for cue in HEADINGS.values()] if head else [0.0] * len(HEADINGS)
    row += [
        passage.index / max(1, passage.passage_count - 1),
        float(passage.index == 0),
        float(passage.index == passage.passage_count - 1),
        math.log1p(passage.passage_count),
        around.text_size,
        math.log1p(len(low)),
        float(min(60, len(low.split()))),
        float(min(8, low.count("`") // 2)),
        float(min(8, len(CUES["identifier"].findall(passage.text)))),
        float(low.rstrip(' *"`)').endswith(("?", "？"))),
        float(low.endswith("!")),
        float(low.rstrip("*").endswith(":")),
        float(passage.text[:1].islower()),
        float(len(low.encode()) > 1.3 * len(low)),
        float(passage.before.rstrip(" *`").endswith("?")),
        float(passage.before.rstrip(" *`").endswith(":")),
        float(bool(head)),
        *around.of_exchange,
        len(low) / max(1, len(around.prompt_text)) if passage.is_persons else 0.0,
        float(bool(PERSON_OBJECTS.match(low))),
        *around.of_replies,
        _word_overlap(words, around.prompt) if not passage.is_persons else 0.0,
        _word_overlap(words, around.reply_before),
        _word_overlap(words, around.said_by_agent if passage.is_persons else around.said_after),
        float(passage.source == "answer" and passage.text.partition("\n")[0] not in passage.before),
        *around.of_text,
    ]
    return row


def _count_calls(replies: Sequence[Turn], kinds: Sequence[str]) -> int:
    return sum(call.kind in kinds for reply in replies for call in reply.tool_calls)


def _count_errors(replies: Sequence[Turn]) -> int:
    return sum(call.status == "error" or bool(call.exit_code) for reply in replies for call in reply.tool_calls)


def _word_overlap(words: frozenset[str], text: str) -> float:
    """Returns the share of a passage's longer words that the text contains."""
    return [word in text for word in words].count(True) / len(words) if words and text else 0.0
