"""Learnings on the same ground, to be told as one insight: which belong together, and how rules put them together.

Two learnings are related if they are about the same file, or share two tags, and their texts have words in common.
Preferences are the person's rules and stay single; what was put together before stays, too, so that nothing is put
together again and again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lerim.memory import ClaimWords, MemoryRecord, merge_evidence, overlap, parse_reference

LEAST = 3
MOST = 8
ALIKE_FROM = 0.2
"""The least overlap of the words of two learnings on the same ground that are related."""
TOO_COMMON = 60
"""A file or pair of tags that more learnings share says nothing of what they have to do with each other."""
MOST_TEXT = 6_000
"""Characters of titles and texts of a group: an insight is to be read."""


@dataclass(frozen=True, slots=True)
class LearningGroup:
    """Related learnings, the oldest first, and what they share: a file, or tags."""

    sources: tuple[MemoryRecord, ...]
    ground: str


def find_groups(
    learnings: Sequence[MemoryRecord], known: Mapping[str, ClaimWords], go_on: Callable[[], None] = lambda: None
) -> Iterator[LearningGroup]:
    """Groups of three to eight related learnings, the most related first; no learning is in two of them.

    `known` has the claim of each by its id. `go_on` is called between two grounds; what it raises ends the search.
    """
    able = [one for one in learnings if one.primitive == "learning" and one.kind != "preference"]
    able = [one for one in able if len(one.supersedes) < LEAST]
    claims = [known[one.id] for one in able]
    related = _related(able, claims, go_on)
    taken: set[int] = set()
    for centre in sorted(related, key=lambda at: (-len(related[at]), able[at].id)):
        if centre in taken:
            continue
        ground, members = _members(centre, related[centre], able, taken)
        if len(members) >= LEAST:
            taken.update(members)
            ordered = sorted((able[at] for at in members), key=lambda one: (one.updated, one.id))
            yield LearningGroup(tuple(ordered), ground)


def plain_insight(group: LearningGroup) -> MemoryRecord:
    """The insight the rules make of a group: each learning with its whole text. It has no id and no ends yet."""
    sources = group.sources
    newest = sources[-1]
    tags = Counter(tag for one in sources for tag in one.tags)
    evidence = merge_evidence((), [item for one in reversed(sources) for item in one.evidence])
    return MemoryRecord(
        id="",
        primitive="learning",
        title=f"What was learned about {group.ground}",
        created=newest.updated,
        updated=newest.updated,
        source=newest.source,
        confidence=round(sum(one.confidence for one in sources) / len(sources), 4),
        tags=tuple(tag for tag, _ in tags.most_common(5)),
        body="\n".join(_item(one) for one in sources),
        kind="insight",
        references=tuple(dict.fromkeys(reference for one in sources for reference in one.references)),
        evidence=evidence,
    )


def _item(source: MemoryRecord) -> str:
    """One learning as an item of a list, its text indented so that lists and code in it stay whole."""
    text = source.body.replace("\r\n", "\n").strip()
    indented = "\n".join(f"  {line}" if line.strip() else "" for line in text.split("\n"))
    title = source.title.rstrip(".")
    return f"- {title}.\n\n{indented}\n" if text else f"- {title}.\n"


def _related(
    learnings: Sequence[MemoryRecord], claims: Sequence[ClaimWords], go_on: Callable[[], None]
) -> dict[int, dict[int, str]]:
    """For each learning those it is related to, and the ground they share."""
    grounds: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(learnings):
        for ground in _grounds(one):
            grounds[ground].append(at)
    related: dict[int, dict[int, str]] = defaultdict(dict)
    for ground in sorted(grounds):
        go_on()
        if not LEAST <= len(grounds[ground]) <= TOO_COMMON:
            continue
        for first, second in combinations(grounds[ground], 2):
            if second not in related[first] and overlap(claims[first].words, claims[second].words) >= ALIKE_FROM:
                related[first][second] = related[second][first] = ground
    return related


def _grounds(learning: MemoryRecord) -> Iterator[str]:
    places = map(parse_reference, learning.references)
    for path in dict.fromkeys(place.path for place in places if place):
        yield f"`{path}`"
    for pair in combinations(sorted({tag.lower() for tag in learning.tags})[:8], 2):
        yield " and ".join(pair)


def _members(
    centre: int, related: dict[int, str], learnings: Sequence[MemoryRecord], taken: Collection[int]
) -> tuple[str, list[int]]:
    """The ground on which most are related to a learning, and these with it, as many as can be read in one."""
    free = {other: ground for other, ground in related.items() if other not in taken}
    if not free:
        return "", []
    count = Counter(free.values())
    ground = min(count, key=lambda name: (-count[name], not name.startswith("`"), name))
    members, size = [centre], _size(learnings[centre])
    for other in sorted((other for other in free if free[other] == ground), key=lambda at: learnings[at].id):
        size += _size(learnings[other])
        if len(members) == MOST or size > MOST_TEXT:
            break
        members.append(other)
    return ground, members


def _size(learning: MemoryRecord) -> int:
    return len(learning.title) + len(learning.body)
