"""Finds themes by rules: a folder that several recent sessions worked on, and the words their requests have in common.

A folder qualifies if at least three sessions changed files in it, on at least two days. Of two nested folders the inner
one counts, unless the outer one has sessions of its own. The words of a theme occur in the requests of at least three
and at least half of its sessions, and in a smaller share of the other sessions. A folder without such a word is not a
theme: anyone can see where files were changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from lerim.extraction.candidate import Candidate
from lerim.extraction.confidence import candidate_confidence
from lerim.extraction.facts import join_names, split_spoken
from lerim.extraction.quote_check import verify_quote
from lerim.extraction.signals import Quote
from lerim.memory import Evidence
from lerim.redaction import clean_text, find_flags, show_hidden
from lerim.sessions import Platform
from lerim.words import STOP_WORDS, split_words

MIN_SESSIONS = 3
MIN_DAYS = 2
MIN_OWN_SESSIONS = 2  # sessions an outer folder needs beyond those of the folders inside it
MAX_THEME_WORDS = 3
MAX_THEMES = 3
MAX_REFERENCES = 3
_IGNORED_FOLDERS = frozenset(
    ("test", "tests", "__tests__", "spec", "docs", "doc", "fixtures", "node_modules", "dist", "build")
)
_COMMON_WORD_LIST = """
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
_COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())
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
    """The requests of one session in order, except those after which nothing was changed."""

    platform: Platform
    session: str
    requests: tuple[ThemeRequest, ...]


def find_themes(sessions: Sequence[ThemeSession]) -> list[Candidate]:
    """Returns up to three themes of these sessions. The theme with the most sessions comes first."""
    sessions_by_folder = _find_theme_folders(sessions)
    theme_words = {
        folder: _find_theme_words(folder, folder_sessions, sessions)
        for folder, folder_sessions in sessions_by_folder.items()
    }
    ranked = sorted(
        (folder for folder in sessions_by_folder if theme_words[folder]),
        key=lambda one: (-len(sessions_by_folder[one]), one),
    )
    return [
        made
        for one in ranked[:MAX_THEMES]
        if (made := _make_theme(one, theme_words[one], sessions_by_folder[one])) is not None
    ]


def _find_theme_folders(sessions: Sequence[ThemeSession]) -> dict[str, list[ThemeSession]]:
    by_folder: dict[str, dict[str, ThemeSession]] = defaultdict(dict)
    for worked in sessions:
        for path in {path for request in worked.requests for path in request.changed}:
            for folder in _parent_folders(path):
                by_folder[folder][worked.session] = worked
    enough = {
        folder: found
        for folder, found in by_folder.items()
        if len(found) >= MIN_SESSIONS and len({one.requests[-1].time.date() for one in found.values()}) >= MIN_DAYS
    }
    out: dict[str, list[ThemeSession]] = {}
    for folder in sorted(enough, key=lambda one: (-one.count("/"), one)):
        inner = {session for one in out if one.startswith(f"{folder}/") for session in enough[one]}
        if not inner or len(enough[folder].keys() - inner) >= MIN_OWN_SESSIONS:
            out[folder] = list(enough[folder].values())
    return out


def _parent_folders(path: str) -> list[str]:
    """Returns the folders that contain a file, except the root; none for tests, documentation and hidden folders."""
    parts = path.split("/")[:-1]
    if not parts or any(part.startswith(".") or part.lower() in _IGNORED_FOLDERS for part in parts):
        return []
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _find_theme_words(
    folder: str, folder_sessions: Sequence[ThemeSession], sessions: Sequence[ThemeSession]
) -> tuple[str, ...]:
    places = {part for word, parts in split_words(folder) for part in (word, *parts)}
    inside = _count_words(folder_sessions, folder)
    others = [one for one in sessions if one not in folder_sessions]
    outside = _count_words(others, "")
    shared = len(folder_sessions) / max(1, len(others))
    fewest = max(MIN_SESSIONS, len(folder_sessions) / 2)
    telling = [
        word
        for word, count in inside.items()
        if count >= fewest and count > outside[word] * shared and word not in places
    ]
    return tuple(sorted(telling, key=lambda word: (-inside[word], word))[:MAX_THEME_WORDS])


def _count_words(sessions: Iterable[ThemeSession], folder: str) -> Counter[str]:
    out: Counter[str] = Counter()
    for worked in sessions:
        out.update(
            {
                word
                for request in worked.requests
                if _changed_in_folder(request, folder)
                for word in _find_content_words(request.text)
            }
        )
    return out


def _changed_in_folder(request: ThemeRequest, folder: str) -> bool:
    return not folder or any(path.startswith(f"{folder}/") for path in request.changed)


@lru_cache(maxsize=2_048)  # each folder asks for the words of all requests
def _find_content_words(text: str) -> frozenset[str]:
    quote = " ".join(split_spoken(text))
    plain = {
        whole for whole, parts in split_words(clean_text(quote)) if not parts and whole.isalpha() and len(whole) >= 4
    }
    return frozenset(word for word in plain - STOP_WORDS - _COMMON_WORDS if word.removesuffix("s") not in _COMMON_WORDS)


def _make_theme(folder: str, theme_words: tuple[str, ...], folder_sessions: Sequence[ThemeSession]) -> Candidate | None:
    title = show_hidden(f"Work on {join_names(list(theme_words))} in `{folder}`")
    quoted = _find_quotes(folder, theme_words, folder_sessions)
    if not quoted or clean_text(title) != title:
        return None
    (newest, request), evidence = quoted[0][0], tuple(item for _, item in quoted)
    changed = Counter(
        path
        for one in folder_sessions
        for each in one.requests
        for path in each.changed
        if path.startswith(f"{folder}/")
    )
    files = sorted(changed, key=lambda path: (-changed[path], path))[:MAX_REFERENCES]
    marks = find_flags(title, *(item.quote for item in evidence))
    return Candidate(
        primitive="theme",
        kind=None,
        title=title,
        body="Several sessions in a row worked on this area.",
        confidence=candidate_confidence("worked", accepted=False, repeated=len(evidence) - 1, flagged=bool(marks)),
        tags=theme_words,
        references=tuple(files),
        evidence=evidence,
        platform=newest.platform,
        session=newest.session,
        turn=request.turn,
        time=request.time,
        signal="theme",
        flags=marks,
    )


def _find_quotes(
    folder: str, theme_words: tuple[str, ...], folder_sessions: Sequence[ThemeSession]
) -> list[tuple[tuple[ThemeSession, ThemeRequest], Evidence]]:
    """Returns up to three quotes that use one of the words about the folder, at most one per session, the newest
    session first."""
    out: list[tuple[tuple[ThemeSession, ThemeRequest], Evidence]] = []
    for worked in sorted(folder_sessions, key=lambda one: one.requests[-1].time, reverse=True):
        for request in reversed(worked.requests):
            if _changed_in_folder(request, folder) and (quote := _find_quote(request, theme_words)):
                out.append(((worked, request), Evidence(quote, request.turn, "user")))
                break
    return out[:3]


def _find_quote(request: ThemeRequest, theme_words: tuple[str, ...]) -> str:
    for sentence in split_spoken(request.text):
        if not _find_content_words(sentence).isdisjoint(theme_words) and (
            quote := verify_quote(Quote(sentence, request.turn, "user"), request.text)
        ):
            return quote
    return ""
