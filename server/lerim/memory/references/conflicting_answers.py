"""Finds questions with two answers: after a merge of branches that each decided, both stay until a person chooses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lerim.errors import Problem
from lerim.memory.links import EndingLink, ending_links, with_current_status
from lerim.memory.store import StoredMemory

TWO_ANSWERS_CODE = "two-answers"
"""The code of the problem, and the flag of the proposal that maintain makes about it."""


@dataclass(frozen=True, slots=True)
class ConflictingAnswers:
    """A question by its id, and the ids of the memories that say they resolved it, the last changed at the end."""

    question: str
    answers: tuple[str, ...]


def find_conflicting_answers(links: Iterable[EndingLink], titles: Mapping[str, str]) -> list[ConflictingAnswers]:
    """Returns the questions that several active memories with different titles say they resolved; `titles` are those of
    the active memories, by id."""
    answers: dict[str, list[EndingLink]] = defaultdict(list)
    for link in links:
        if link.kind == "resolved" and link.ender in titles:
            answers[link.target].append(link)
    found = {
        question: tuple(one.ender for one in sorted(given, key=lambda one: (one.updated, one.ender)))
        for question, given in answers.items()
        if len(given) > 1
    }
    return [
        ConflictingAnswers(question, given)
        for question, given in sorted(found.items())
        if len({titles[one].casefold() for one in given}) > 1
    ]


def conflicting_answers_among(live: Iterable[StoredMemory]) -> list[ConflictingAnswers]:
    """Returns the questions that several of these active memories say they resolved."""
    some = [one for one in live if one.record.resolves]
    return find_conflicting_answers(
        (link for one in some for link in ending_links(one.record)), {one.record.id: one.record.title for one in some}
    )


def find_answer_problems(stored: Sequence[StoredMemory]) -> list[Problem]:
    """Returns a problem for each question with several answers; `stored` are all memories of a store."""
    live = [one for one in with_current_status(stored) if one.status == "active"]
    titles = {one.record.id: one.record.title for one in live}
    return answer_problems(conflicting_answers_among(live), titles, {one.record.id: one.path for one in live})


def answer_problems(
    found: Iterable[ConflictingAnswers], titles: Mapping[str, str], paths: Mapping[str, Path]
) -> list[Problem]:
    """Returns each conflict as a problem of the file of its last answer."""
    return [
        Problem(
            TWO_ANSWERS_CODE,
            str(paths[one.answers[-1]]),
            f"The question {one.question} has {len(one.answers)} active answers:"
            f" {join_titles(one.answers, titles)}."
            " `lerim maintain` proposes which one stays. Or archive the other, or remove its `resolves`.",
        )
        for one in found
    ]


def join_titles(answers: Iterable[str], titles: Mapping[str, str]) -> str:
    """Returns the titles of these memories in quotation marks, joined with “and”."""
    return " and ".join(f"“{' '.join(titles[answer].split())}”" for answer in answers)
