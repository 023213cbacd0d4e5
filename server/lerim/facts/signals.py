"""All signals of one exchange, in the order in which a reader would meet them."""

from __future__ import annotations

from collections.abc import Iterator

from lerim.facts.answers import answers
from lerim.facts.choices import choices
from lerim.facts.corrections import corrections
from lerim.facts.deferred import deferred
from lerim.facts.diagnoses import diagnoses
from lerim.facts.doubts import doubts
from lerim.facts.draft import Draft, Found, Scene
from lerim.facts.lessons import lessons
from lerim.facts.plans import plans
from lerim.facts.recorded import recorded
from lerim.facts.remarks import remarks
from lerim.facts.unanswered import unanswered


def signals(scene: Scene) -> Iterator[Found]:
    """What the exchange shows, but for failing commands (`fixes.Watch`), which reach over exchanges."""
    heard = list(corrections(scene))
    yield from heard
    if not any(isinstance(found, Draft) for found in heard):
        yield from recorded(scene)
    yield from remarks(scene)
    yield from choices(scene)
    yield from answers(scene)
    yield from plans(scene)
    yield from unanswered(scene)
    yield from deferred(scene)
    yield from doubts(scene)
    yield from diagnoses(scene)
    yield from lessons(scene)
