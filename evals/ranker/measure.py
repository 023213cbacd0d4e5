"""Makes `features.csv.gz` anew from the labels and the labelled sessions, which are not in the repository.

usage: measure.py FOLDER      holds OWNER+NAME/SESSION.jsonl (.json of Gemini CLI, .md of SpecStory)

One row a passage of every session that is not set aside: project, the session's line in sessions.jsonl, prompts before
it, whether it is outright a rule, its label, the verdict on it, the memories it states, its type, its features. Texts
stay out: the quotes of the labels are in sentences.jsonl and verdicts.jsonl.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from laid_out import LABELS, Labelled, labelled, turns_of

from lerim.errors import LerimError
from lerim.extraction.ranking.exchange import MeasuredPassage, measure_passages
from lerim.extraction.ranking.explicit_statements import is_explicit_statement
from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.extraction.signals.draft import Exchange
from lerim.extraction.utterances import lighten_exchange
from lerim.sessions.model import Turn

COMPARED = 100
"""Letters and digits of a quote by which its passage is found."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A label of a sentence: how it was judged `alone` ("yes", "maybe", "no", "" where it was not), and the weight of
    the memory it states ("must", "maybe", "")."""

    turn: str
    said: str
    alone: str
    memory: str
    type: str


def exchanges(turns: Iterator[Turn]) -> Iterator[tuple[Exchange, Exchange, Turn | None, int]]:
    """The exchanges of a session as extraction judges them: the one before, this one, the person's next words, and how
    many prompts came before."""
    before, now, number = Exchange(), Exchange(), 0
    for turn in turns:
        if turn.kind == "shell":
            continue
        if turn.role == "user":
            if now.prompt or now.replies:
                yield before, now, turn, number
                number += now.prompt is not None
                before = lighten_exchange(now)
            now = Exchange(prompt=turn)
        else:
            now = replace(now, replies=(*now.replies, turn)[-400:])
    if now.prompt or now.replies:
        yield before, now, None, number


def sentences() -> dict[tuple[str, str], list[Sentence]]:
    """The labels of sentences by project and session."""
    out: dict[tuple[str, str], list[Sentence]] = defaultdict(list)
    for line in (LABELS / "sentences.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        label = Sentence(row["turn"], row["said"], row.get("alone", ""), row.get("memory", ""), row.get("type", ""))
        out[row["project"], row["session"]].append(label)
    return out


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader said of a passage as a proposal: "right", "nearly", "worthless" or "wrong"."""

    turn: str
    said: str
    verdict: str
    type: str


def verdicts() -> dict[tuple[str, str], list[Verdict]]:
    """The verdicts by project and session."""
    out: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for line in (LABELS / "verdicts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        verdict = Verdict(row["turn"], row["said"], row["verdict"], row.get("type", ""))
        out[row["project"], row["session"]].append(verdict)
    return out


def rows(folder: Path, session: Labelled, labels: list[Sentence], judged: list[Verdict]) -> Iterator[list[str]]:
    """The rows of one session, without its project and number. Raises LerimError, OSError."""
    found = [
        (one, number, now.prompt.text if now.prompt else "")
        for before, now, after, number in exchanges(turns_of(folder, session))
        for one in measure_passages(before, now, after, number)
    ]
    places: dict[str, list[int]] = defaultdict(list)
    for at, (one, _, _) in enumerate(found):
        places[_key(one.passage.text)[:40]].append(at)
    told: dict[int, Sentence] = {}
    states: dict[int, set[int]] = defaultdict(set)
    for label in labels:
        for at in _places(label.said, label.turn, found, places)[:1]:
            old = told.get(at, label)
            told[at] = replace(label, alone=label.alone or old.alone, memory=label.memory or old.memory)
            for number, memory in enumerate(session.must):
                if label.memory == "must" and label.turn in memory.turns:
                    states[at].add(number)
    for number, memory in enumerate(session.must):
        for at in _places(memory.said, "", found, places):
            states[at].add(number)
    given = {at: one for one in judged for at in _places(one.said, one.turn, found, places)[:1]}
    for at, (one, number, prompt) in enumerate(found):
        sentence, verdict = told.get(at), given.get(at)
        label = "" if sentence is None else sentence.memory or (sentence.alone and f"alone {sentence.alone}")
        kind = "" if sentence is None or label in ("", "alone no") else sentence.type
        if verdict is not None and verdict.type:
            kind = verdict.type
        yield [
            str(number),
            str(int(is_explicit_statement(one.passage, prompt))),
            label,
            "" if verdict is None else verdict.verdict,
            " ".join(map(str, sorted(states[at]))) if at in states else "",
            kind,
            *(f"{value:.3f}".rstrip("0").rstrip(".") for value in one.features),
        ]


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def _places(
    said: str, turn: str, found: list[tuple[MeasuredPassage, int, str]], places: dict[str, list[int]]
) -> list[int]:
    """Where a quote stands; of several places those of the turn it names, where that is one of them."""
    key = _key(said)[:COMPARED]
    all_of_it = [at for at in places[key[:40]] if _key(found[at][0].passage.text)[:COMPARED].startswith(key)]
    all_of_it = all_of_it or [
        at for at in places[key[:40]] if key.startswith(_key(found[at][0].passage.text)[:COMPARED])
    ]
    return [at for at in all_of_it if found[at][0].passage.turn == turn] or all_of_it


def main() -> None:
    """Writes the file and prints how much there is."""
    folder, labels, judged, out, missing = Path(sys.argv[1]), sentences(), verdicts(), io.StringIO(newline=""), 0
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["project", "session", "prompts", "outright", "label", "verdict", "states", "type", *FEATURE_NAMES])
    count = passages = 0
    for line, session in enumerate(labelled()):
        if session.held:
            continue
        try:
            made = list(
                rows(
                    folder, session, labels[session.project, session.session], judged[session.project, session.session]
                )
            )
        except (LerimError, OSError) as error:
            print(f"{session.project} {session.session}: {error}", file=sys.stderr)
            missing += 1
            continue
        table.writerows([session.project, str(line), *row] for row in made)
        count, passages = count + 1, passages + len(made)
    (LABELS / "features.csv.gz").write_bytes(gzip.compress(out.getvalue().encode(), 9, mtime=0))
    print(f"{passages} passages of {count} sessions, {missing} sessions missing")


if __name__ == "__main__":
    main()
