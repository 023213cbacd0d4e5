"""Finds themes by rules: a folder that several recent sessions worked on, and the words their requests have in common.

A folder qualifies if at least three sessions changed files in it, on at least two days. Of two nested folders the inner
one counts, unless the outer one has sessions of its own. The words of a theme occur in the requests of at least half of
its sessions, and in a smaller share of the other sessions. A folder without such a word is not a theme: anyone can see
where files were changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from lerim.extraction.candidate import Candidate
from lerim.extraction.confidence import candidate_confidence
from lerim.extraction.facts import join_names, split_spoken
from lerim.extraction.gate import SessionSource, verify_quote
from lerim.extraction.signals import Quote
from lerim.memory import Evidence
from lerim.redaction import clean_text, find_flags, show_hidden
from lerim.sessions import Platform
from lerim.words import STOP_WORDS, split_words

SESSIONS = 3
DAYS = 2
OWN = 2  # sessions an outer folder needs beyond those of the folders inside it
WORDS = 3
AT_ONCE = 3
REFERENCES = 3
_NO_GROUND = frozenset(
    ("test", "tests", "__tests__", "spec", "docs", "doc", "fixtures", "node_modules", "dist", "build")
)
_USUAL_WORDS = """
    add added adding agent also another apply approach back branch break broken bug build call change changed changes
    check class clean code come commit config content continue correct create current data default delete different
    directly docs done edit else error errors everything example exist existing expect explain fail failed failing
    feature field file files find first fix fixed fixing folder following found function functions git give good handle
    help implement implementation instead issue issues keep last leave lets like line lines list logic look looks main
    make makes method missing module move name need needs new next nothing number open option output part pass path plan
    please point possible problem project properly pull push read really remove rename repo request result return review
    right root rule run running same screenshot second section see seems send session set setting show simple simplify
    small something source start state step still stop string support sure switch task tell test tests text thing things
    think time todo tool try turn type unit update updated use used user using value version want way well without word
    work working works write wrong
"""
_USUAL = frozenset(_USUAL_WORDS.split())
"""Words found in most requests, whatever they are about."""


@dataclass(frozen=True, slots=True)
class ThemeRequest:
    """A request from the person (turn id and text) and the repo-relative files that were changed in response."""

    turn: str
    text: str
    time: datetime
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThemeSession:
    """The requests of one session in order, without those after which nothing was changed."""

    platform: Platform
    session: str
    asked: tuple[ThemeRequest, ...]


def find_themes(sessions: Sequence[ThemeSession]) -> list[Candidate]:
    """Returns up to three themes of these sessions, the one with the most sessions first."""
    grounds = _grounds(sessions)
    told = {ground: _words(ground, here, sessions) for ground, here in grounds.items()}
    ranked = sorted((ground for ground in grounds if told[ground]), key=lambda one: (-len(grounds[one]), one))
    return [made for one in ranked[:AT_ONCE] if (made := _theme(one, told[one], grounds[one])) is not None]


def _grounds(sessions: Sequence[ThemeSession]) -> dict[str, list[ThemeSession]]:
    """Returns the folders that qualify as a theme, each with its sessions."""
    by_folder: dict[str, dict[str, ThemeSession]] = defaultdict(dict)
    for worked in sessions:
        for path in {path for asked in worked.asked for path in asked.changed}:
            for folder in _folders(path):
                by_folder[folder][worked.session] = worked
    enough = {folder: here for folder, here in by_folder.items() if _enough(here.values())}
    out: dict[str, list[ThemeSession]] = {}
    for folder in sorted(enough, key=lambda one: (-one.count("/"), one)):
        inner = {session for one in out if one.startswith(f"{folder}/") for session in enough[one]}
        if not inner or len(enough[folder].keys() - inner) >= OWN:
            out[folder] = list(enough[folder].values())
    return out


def _folders(path: str) -> list[str]:
    """Returns the folders that contain a file, except the root; none for tests, documentation and hidden folders."""
    parts = path.split("/")[:-1]
    if not parts or any(part.startswith(".") or part.lower() in _NO_GROUND for part in parts):
        return []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _enough(sessions: Iterable[ThemeSession]) -> bool:
    here = list(sessions)
    return len(here) >= SESSIONS and len({one.asked[-1].time.date() for one in here}) >= DAYS


def _words(ground: str, here: Sequence[ThemeSession], sessions: Sequence[ThemeSession]) -> tuple[str, ...]:
    """Returns up to three words that characterize the work in a folder, the most frequent first."""
    places = {part for word, parts in split_words(ground) for part in (word, *parts)}
    inside = _counted(here, ground)
    others = [one for one in sessions if one not in here]
    outside = _counted(others, "")
    shared = len(here) / max(1, len(others))
    telling = [
        word
        for word, count in inside.items()
        if 2 * count >= len(here) and count > outside[word] * shared and word not in places
    ]
    return tuple(sorted(telling, key=lambda word: (-inside[word], word))[:WORDS])


def _counted(sessions: Iterable[ThemeSession], ground: str) -> Counter[str]:
    """Counts in how many sessions each word was used in a request that changed a file in the folder."""
    out: Counter[str] = Counter()
    for worked in sessions:
        out.update({word for asked in worked.asked if _there(asked, ground) for word in _telling(asked.text)})
    return out


def _there(asked: ThemeRequest, ground: str) -> bool:
    return not ground or any(path.startswith(f"{ground}/") for path in asked.changed)


def _telling(text: str) -> set[str]:
    said = " ".join(sentence.text for sentence in split_spoken(text))
    plain = {
        whole for whole, parts in split_words(clean_text(said)) if not parts and whole.isalpha() and len(whole) >= 4
    }
    return {
        word for word in plain if word not in STOP_WORDS and word not in _USUAL and word.removesuffix("s") not in _USUAL
    }


def _theme(ground: str, told: tuple[str, ...], here: Sequence[ThemeSession]) -> Candidate | None:
    title = show_hidden(f"Work on {join_names(list(told))} in `{ground}`")
    quoted = _quotes(ground, told, here)
    if not quoted or clean_text(title) != title:
        return None
    (newest, asked), evidence = quoted[0][0], tuple(item for _, item in quoted)
    changed = Counter(
        path for one in here for each in one.asked for path in each.changed if path.startswith(f"{ground}/")
    )
    files = sorted(changed, key=lambda path: (-changed[path], path))[:REFERENCES]
    marks = find_flags(title, *(item.quote for item in evidence))
    return Candidate(
        primitive="theme",
        kind=None,
        title=title,
        body="Several sessions in a row worked on this ground.",
        confidence=candidate_confidence("worked", accepted=False, repeated=len(evidence) - 1, flagged=bool(marks)),
        tags=told,
        references=tuple(files),
        evidence=evidence,
        platform=newest.platform,
        session=newest.session,
        turn=asked.turn,
        time=asked.time,
        signal="theme",
        flags=marks,
    )


def _quotes(
    ground: str, told: tuple[str, ...], here: Sequence[ThemeSession]
) -> list[tuple[tuple[ThemeSession, ThemeRequest], Evidence]]:
    """Returns up to three quotes, one per session that used one of the words there, the newest session first."""
    out: list[tuple[tuple[ThemeSession, ThemeRequest], Evidence]] = []
    for worked in sorted(here, key=lambda one: one.asked[-1].time, reverse=True):
        for asked in reversed(worked.asked):
            said = _said(asked, told, worked.platform, worked.session) if _there(asked, ground) else ""
            if said:
                out.append(((worked, asked), Evidence(said, asked.turn, "user")))
                break
    return out[:3]


def _said(asked: ThemeRequest, told: tuple[str, ...], platform: Platform, session: str) -> str:
    source = SessionSource(platform, session, lambda _turn, _who: asked.text)
    for sentence in split_spoken(asked.text):
        if _telling(sentence.text) & set(told) and (
            quote := verify_quote(Quote(sentence.text, asked.turn, "user"), source)
        ):
            return quote
    return ""
