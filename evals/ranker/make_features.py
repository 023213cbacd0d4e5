"""Makes `features.csv.gz` from the labels and the labelled sessions, which are not in the repository.

usage: make_features.py FOLDER      with OWNER+NAME/SESSION.jsonl (.json for Gemini CLI, .md for SpecStory)

Each passage of every session that is not held out gets a row: project, line of the session in sessions.jsonl, number of
prompts before it, whether it is an outright rule, its label, its verdict, the memories it states, its type, its
features. The file has no texts; the quotes of the labels are in sentences.jsonl and verdicts.jsonl.
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

from labelled_sessions import LABELS_FOLDER, LabelledSession, read_labelled_sessions, read_turns

from lerim.errors import LerimError
from lerim.extraction.ranking.explicit_statements import is_explicit_statement
from lerim.extraction.ranking.features import FEATURE_NAMES
from lerim.extraction.ranking.rank_passages import MeasuredPassage, measure_passages
from lerim.extraction.signals.draft import Exchange
from lerim.extraction.utterances import lighten_exchange
from lerim.sessions.model import Turn

COMPARED_CHARACTERS = 100
"""How many letters and digits of a quote are compared to find its passage."""


@dataclass(frozen=True, slots=True)
class SentenceLabel:
    """A label of a sentence.

    `alone` says whether the sentence by itself is worth remembering ("yes", "maybe", "no", or "" if not judged).
    `memory` is the weight of the memory that it states ("must", "maybe", or "").
    """

    turn: str
    quote: str
    alone: str
    memory: str
    type: str


def walk_exchanges(turns: Iterator[Turn]) -> Iterator[tuple[Exchange, Exchange, Turn | None, int]]:
    """The exchanges of a session as extraction sees them: (previous exchange, this exchange, the person's next turn,
    number of prompts before)."""
    before, current, number = Exchange(), Exchange(), 0
    for turn in turns:
        if turn.kind == "shell":
            continue
        if turn.role == "user":
            if current.prompt or current.replies:
                yield before, current, turn, number
                number += current.prompt is not None
                before = lighten_exchange(current)
            current = Exchange(prompt=turn)
        else:
            current = replace(current, replies=(*current.replies, turn)[-400:])
    if current.prompt or current.replies:
        yield before, current, None, number


def read_sentence_labels() -> dict[tuple[str, str], list[SentenceLabel]]:
    """Reads the labels of sentences, by project and session."""
    result: dict[tuple[str, str], list[SentenceLabel]] = defaultdict(list)
    for line in (LABELS_FOLDER / "sentences.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        label = SentenceLabel(
            row["turn"], row["said"], row.get("alone", ""), row.get("memory", ""), row.get("type", "")
        )
        result[row["project"], row["session"]].append(label)
    return result


@dataclass(frozen=True, slots=True)
class PassageVerdict:
    """A reader's verdict on a passage as a proposal: "right", "nearly", "worthless" or "wrong"."""

    turn: str
    quote: str
    verdict: str
    type: str


def read_verdicts() -> dict[tuple[str, str], list[PassageVerdict]]:
    """Reads the verdicts, by project and session."""
    result: dict[tuple[str, str], list[PassageVerdict]] = defaultdict(list)
    for line in (LABELS_FOLDER / "verdicts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        verdict = PassageVerdict(row["turn"], row["said"], row["verdict"], row.get("type", ""))
        result[row["project"], row["session"]].append(verdict)
    return result


def session_rows(
    folder: Path, session: LabelledSession, labels: list[SentenceLabel], passage_verdicts: list[PassageVerdict]
) -> Iterator[list[str]]:
    """The rows of one session, without project and session number. Raises LerimError or OSError."""
    passages = [
        (one, number, current.prompt.text if current.prompt else "")
        for before, current, after, number in walk_exchanges(read_turns(folder, session))
        for one in measure_passages(before, current, after, number)
    ]
    by_prefix: dict[str, list[int]] = defaultdict(list)
    for at, (one, _, _) in enumerate(passages):
        by_prefix[_letters_and_digits(one.passage.text)[:40]].append(at)
    sentence_at: dict[int, SentenceLabel] = {}
    memories_at: dict[int, set[int]] = defaultdict(set)
    for label in labels:
        for at in _find_passages(label.quote, label.turn, passages, by_prefix)[:1]:
            old = sentence_at.get(at, label)
            sentence_at[at] = replace(label, alone=label.alone or old.alone, memory=label.memory or old.memory)
            for number, memory in enumerate(session.must):
                if label.memory == "must" and label.turn in memory.turns:
                    memories_at[at].add(number)
    for number, memory in enumerate(session.must):
        for at in _find_passages(memory.quote, "", passages, by_prefix):
            memories_at[at].add(number)
    verdict_at = {
        at: one for one in passage_verdicts for at in _find_passages(one.quote, one.turn, passages, by_prefix)[:1]
    }
    for at, (one, number, prompt) in enumerate(passages):
        sentence, verdict = sentence_at.get(at), verdict_at.get(at)
        worth = "" if sentence is None else sentence.memory or (sentence.alone and f"alone {sentence.alone}")
        kind = "" if sentence is None or worth in ("", "alone no") else sentence.type
        if verdict is not None and verdict.type:
            kind = verdict.type
        yield [
            str(number),
            str(int(is_explicit_statement(one.passage, prompt))),
            worth,
            "" if verdict is None else verdict.verdict,
            " ".join(map(str, sorted(memories_at[at]))) if at in memories_at else "",
            kind,
            *(f"{value:.3f}".rstrip("0").rstrip(".") for value in one.features),
        ]


def _letters_and_digits(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def _find_passages(
    quote: str, turn: str, passages: list[tuple[MeasuredPassage, int, str]], by_prefix: dict[str, list[int]]
) -> list[int]:
    """The indexes of the passages that contain a quote; only those in its turn, if any of them is there."""
    key = _letters_and_digits(quote)[:COMPARED_CHARACTERS]
    matches = [
        at
        for at in by_prefix[key[:40]]
        if _letters_and_digits(passages[at][0].passage.text)[:COMPARED_CHARACTERS].startswith(key)
    ]
    matches = matches or [
        at
        for at in by_prefix[key[:40]]
        if key.startswith(_letters_and_digits(passages[at][0].passage.text)[:COMPARED_CHARACTERS])
    ]
    return [at for at in matches if passages[at][0].passage.turn == turn] or matches


def main() -> None:
    """Writes the file and prints the counts."""
    folder, labels, verdicts = Path(sys.argv[1]), read_sentence_labels(), read_verdicts()
    csv_text, missing = io.StringIO(newline=""), 0
    table = csv.writer(csv_text, lineterminator="\n")
    table.writerow(["project", "session", "prompts", "outright", "label", "verdict", "states", "type", *FEATURE_NAMES])
    session_count = passage_count = 0
    for line, session in enumerate(read_labelled_sessions()):
        if session.held:
            continue
        try:
            new_rows = list(
                session_rows(
                    folder,
                    session,
                    labels[session.project, session.session],
                    verdicts[session.project, session.session],
                )
            )
        except (LerimError, OSError) as error:
            print(f"{session.project} {session.session}: {error}", file=sys.stderr)
            missing += 1
            continue
        table.writerows([session.project, str(line), *row] for row in new_rows)
        session_count, passage_count = session_count + 1, passage_count + len(new_rows)
    (LABELS_FOLDER / "features.csv.gz").write_bytes(gzip.compress(csv_text.getvalue().encode(), 9, mtime=0))
    print(f"{passage_count} passages of {session_count} sessions, {missing} sessions missing")


if __name__ == "__main__":
    main()
