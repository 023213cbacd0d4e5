"""Groups related learnings and consolidates each group into one insight by rules.

Two learnings are related if they are about the same file, or share two tags, and their texts have words in common.
Preferences are the person's rules and are never grouped. Neither are insights, so that nothing is consolidated again
and again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lerim.memory import ClaimWords, MemoryRecord, dice_overlap, merge_evidence, parse_reference

MIN_GROUP_SIZE = 3
MAX_GROUP_SIZE = 8
RELATED_OVERLAP = 0.2
"""The least overlap of the words of two related learnings with the same subject."""
MAX_SHARING_LEARNINGS = 60
"""A file or pair of tags that more learnings share does not say that they are related."""
MAX_GROUP_CHARS = 6_000
"""The most characters the titles and texts of a group may have: a person has to read the insight."""


@dataclass(frozen=True, slots=True)
class LearningGroup:
    """Related learnings, oldest first, and the subject they share: a file or two tags."""

    sources: tuple[MemoryRecord, ...]
    subject: str


def find_groups(
    learnings: Sequence[MemoryRecord],
    claims_by_id: Mapping[str, ClaimWords],
    raise_if_cancelled: Callable[[], None] = lambda: None,
) -> Iterator[LearningGroup]:
    """Yields groups of three to eight related learnings, those with the most relations first. No learning is in two
    groups.

    `raise_if_cancelled` is called between two subjects; an exception that it raises ends the search.
    """
    eligible = [one for one in learnings if one.primitive == "learning" and one.kind != "preference"]
    eligible = [one for one in eligible if len(one.supersedes) < MIN_GROUP_SIZE]  # insights supersede their sources
    claims = [claims_by_id[one.id] for one in eligible]
    related = _find_related(eligible, claims, raise_if_cancelled)
    grouped: set[int] = set()
    for centre in sorted(related, key=lambda at: (-len(related[at]), eligible[at].id)):
        if centre in grouped:
            continue
        subject, members = _choose_members(centre, related[centre], eligible, grouped)
        if len(members) >= MIN_GROUP_SIZE:
            grouped.update(members)
            ordered = sorted((eligible[at] for at in members), key=lambda one: (one.updated, one.id))
            yield LearningGroup(tuple(ordered), subject)


def plain_insight(group: LearningGroup) -> MemoryRecord:
    """Returns the insight that the rules make of a group: a list of all learnings with their whole texts. It has no id
    and supersedes nothing yet."""
    sources = group.sources
    newest = sources[-1]
    tags = Counter(tag for one in sources for tag in one.tags)
    evidence = merge_evidence((), [item for one in reversed(sources) for item in one.evidence])
    return MemoryRecord(
        id="",
        primitive="learning",
        title=f"What was learned about {group.subject}",
        created=newest.updated,
        updated=newest.updated,
        source=newest.source,
        confidence=round(sum(one.confidence for one in sources) / len(sources), 4),
        tags=tuple(tag for tag, _ in tags.most_common(5)),
        body="\n".join(_list_item(one) for one in sources),
        kind="insight",
        references=tuple(dict.fromkeys(reference for one in sources for reference in one.references)),
        evidence=evidence,
    )


def _list_item(source: MemoryRecord) -> str:
    """Returns a learning as a Markdown list item, its text indented so that lists and code in it stay intact."""
    text = source.body.replace("\r\n", "\n").strip()
    indented = "\n".join(f"  {line}" if line.strip() else "" for line in text.split("\n"))
    title = source.title.rstrip(".")
    return f"- {title}.\n\n{indented}\n" if text else f"- {title}.\n"


def _find_related(
    learnings: Sequence[MemoryRecord], claims: Sequence[ClaimWords], raise_if_cancelled: Callable[[], None]
) -> dict[int, dict[int, str]]:
    """Returns, for each learning, the related learnings and the subject they share, by index."""
    learnings_by_subject: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(learnings):
        for subject in _subjects(one):
            learnings_by_subject[subject].append(at)
    related: dict[int, dict[int, str]] = defaultdict(dict)
    for subject in sorted(learnings_by_subject):
        raise_if_cancelled()
        if not MIN_GROUP_SIZE <= len(learnings_by_subject[subject]) <= MAX_SHARING_LEARNINGS:
            continue
        for first, second in combinations(learnings_by_subject[subject], 2):
            if (
                second not in related[first]
                and dice_overlap(claims[first].words, claims[second].words) >= RELATED_OVERLAP
            ):
                related[first][second] = related[second][first] = subject
    return related


def _subjects(learning: MemoryRecord) -> Iterator[str]:
    """Yields the files that a learning refers to and the pairs of its tags, as text for people."""
    references = map(parse_reference, learning.references)
    for path in dict.fromkeys(reference.path for reference in references if reference):
        yield f"`{path}`"
    for pair in combinations(sorted({tag.lower() for tag in learning.tags})[:8], 2):
        yield " and ".join(pair)


def _choose_members(
    centre: int, related: dict[int, str], learnings: Sequence[MemoryRecord], grouped: Collection[int]
) -> tuple[str, list[int]]:
    """Chooses the subject that relates most learnings to the central one. Returns it with the learning and those
    related to it, as many as fit into one insight."""
    ungrouped = {other: subject for other, subject in related.items() if other not in grouped}
    if not ungrouped:
        return "", []
    counts = Counter(ungrouped.values())
    subject = min(counts, key=lambda name: (-counts[name], not name.startswith("`"), name))
    members, size = [centre], _char_count(learnings[centre])
    same_subject = (other for other in ungrouped if ungrouped[other] == subject)
    for other in sorted(same_subject, key=lambda at: learnings[at].id):
        if len(members) == MAX_GROUP_SIZE:
            break
        if size + _char_count(learnings[other]) <= MAX_GROUP_CHARS:
            size += _char_count(learnings[other])
            members.append(other)
    return subject, members


def _char_count(learning: MemoryRecord) -> int:
    return len(learning.title) + len(learning.body)
