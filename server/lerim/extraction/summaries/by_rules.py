"""Summarizes a session without a model: what the person asked, what was done and how it ended, each with its turns.

All text is either a quote from the person or the agent, in quotation marks, or a description of what the session
recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lerim.extraction.summaries.actions import (
    Locate,
    SessionAction,
    SummaryExchange,
    find_last_runs,
    split_exchanges,
)
from lerim.extraction.summaries.excerpts import (
    find_report_sentence,
    make_request_title,
    one_line,
    summarize_request,
)
from lerim.extraction.summaries.facts import (
    SummaryFacts,
    collect_changed_files,
    count_noun,
    describe_session,
    is_request,
    make_file_statements,
    make_summary_tags,
)
from lerim.extraction.summaries.summary import (
    HAPPENED_WORDS,
    INTENT_WORDS,
    OUTCOME_WORDS,
    Statement,
    Summary,
    count_words,
    fit_statements,
    list_names,
)
from lerim.sessions import Platform, SummaryTurn
from lerim.words import has_substance

MAX_TITLE_CHARS = 90
MAX_FIRST_PROMPT_CHARS = 420
MAX_PROMPT_CHARS = 200
MAX_REPORT_CHARS = 260
MAX_PATHS = 40
MAX_LISTED = 3
"""Maximum number of files or commands named in one statement."""
MAX_ACTIONS = 4  # different actions named in one statement
MAX_COMMITS = 4
MAX_DECISIONS = 2
PLATFORMS_WITHOUT_RESULTS: frozenset[Platform] = frozenset({"cursor", "copilot"})
"""Agents that do not always record whether a command passed."""


def summarize_by_rules(turns: Sequence[SummaryTurn], facts: SummaryFacts, locate: Locate) -> Summary | None:
    """Returns the summary of these turns of a session, or None if no person asked for anything that may be quoted.

    `locate` maps a path as named in a tool call, and a working folder, to a repo-relative path, or to "" if the path
    is outside the repository.
    """
    exchanges = split_exchanges(turns, locate, records_results=facts.platform not in PLATFORMS_WITHOUT_RESULTS)
    prompts = [exchange for exchange in exchanges if is_request(exchange.prompt)]
    intent = fit_statements(_make_intent(prompts), INTENT_WORDS)
    if not intent:
        return None
    report = next((one for one in reversed(exchanges) if _find_report(one) is not None), None)
    return Summary(
        title=_make_title(facts.title, prompts, exchanges),
        description=describe_session(exchanges, turns, facts),
        intent=intent,
        happened=_make_happened(exchanges, report),
        outcome=fit_statements(_make_outcome(exchanges, report, facts), OUTCOME_WORDS),
        files=make_file_statements(exchanges),
        paths=tuple(collect_changed_files(exchanges))[:MAX_PATHS],
        tags=make_summary_tags(exchanges),
    )


def _make_title(title: str, prompts: Sequence[SummaryExchange], exchanges: Sequence[SummaryExchange]) -> str:
    own = one_line(title, 400)
    firsts = [
        summarize_request(one.prompt.text, 400)
        for one in prompts
        if one.prompt is not None and has_substance(one.prompt.text)
    ]
    typed = any(own[:40].lower() == said[:40].lower() for said in firsts)
    if (
        len(own.split()) > 1
        and len(own) <= MAX_TITLE_CHARS
        and has_substance(own)
        and not typed
        and not own.startswith("Implement the")
    ):
        return own.rstrip(".")
    commits = [action.text for one in exchanges for action in one.actions if action.kind == "committed" and action.text]
    best = next((said for said in firsts[:3] if len(said.split()) > 3), "")
    if firsts and len(firsts[0].split()) <= 3 and commits:
        best = commits[0]
    return make_request_title(best or (firsts[0] if firsts else own), MAX_TITLE_CHARS) or "Session without a title"


def _make_intent(prompts: Sequence[SummaryExchange]) -> Iterator[Statement]:
    """Yields the person's own words: the first message that asks for something, then the others. If not all fit, those
    that led to a change take precedence."""
    requests: list[tuple[int, Statement]] = []
    before = ""
    for exchange in prompts:
        assert exchange.prompt is not None
        text, most = exchange.prompt.text, MAX_PROMPT_CHARS if requests else MAX_FIRST_PROMPT_CHARS
        request = summarize_request(text, most) if has_substance(text) else ""
        if request and request != before:
            intro = "Then" if requests else _introduce(request)
            requests.append((_importance(exchange), Statement(f"{intro}: “{request}”", (exchange.prompt.id,))))
            before = request
    left = INTENT_WORDS
    selected = {0}
    for number in sorted(range(len(requests)), key=lambda number: (number > 0, not requests[number][0])):
        size = count_words(requests[number][1].line())
        if size <= left:
            selected.add(number)
            left -= size
    yield from (statement for number, (_, statement) in enumerate(requests) if number in selected)


def _introduce(request: str) -> str:
    asks = any(word.rstrip("”\"')…").endswith("?") for word in request.split())
    return "The user asked" if asks else "The user wrote"


def _importance(exchange: SummaryExchange) -> int:
    return 3 * bool(exchange.changed_files) + 3 * bool(exchange.actions) + bool(exchange.runs)


def _make_happened(exchanges: Sequence[SummaryExchange], report: SummaryExchange | None) -> tuple[Statement, ...]:
    """Returns a statement for each exchange in which something was done or found, in the order of the session. The
    agent's last words, which are in `report`, belong to the outcome; they are left out here if there is something
    else to state about that exchange."""
    described = {
        number: _describe_exchange(one, one is not report or not _importance(one))
        for number, one in enumerate(exchanges)
    }
    statements = {number: statement for number, statement in described.items() if statement is not None}
    last = max(statements, default=-1)
    left, selected = HAPPENED_WORDS, set[int]()
    for number in sorted(
        statements, key=lambda number: (-_importance(exchanges[number]) - 2 * (number == last), number)
    ):
        size = count_words(statements[number].line())
        if size > left:
            short = fit_statements((statements[number],), left)
            if not short:
                continue
            statements[number], size = short[0], count_words(short[0].line())
        selected.add(number)
        left -= size
    return tuple(statements[number] for number in sorted(selected))


def _describe_exchange(exchange: SummaryExchange, with_report: bool) -> Statement | None:
    parts: list[str] = []
    turns: list[str] = []
    if exchange.changed_files:
        parts.append(f"Changed {list_names([f'`{path}`' for path in exchange.changed_files], MAX_LISTED, 'file')}.")
        turns += [own[-1] for own in list(exchange.changed_files.values())[:MAX_LISTED]]
    if exchange.runs:
        runs: dict[str, list[str]] = {}
        for run in exchange.runs:
            runs.setdefault(run.name, []).append(run.outcome)
        parts.append(
            f"Ran {list_names([_format_run(name, how) for name, how in runs.items()], MAX_LISTED, 'command')}."
        )
        turns += list({run.name: run.turn for run in exchange.runs}.values())[:MAX_LISTED]
    for action in list({(action.kind, action.text): action for action in exchange.actions}.values())[:MAX_ACTIONS]:
        parts.append(_format_action(action))
        turns.append(action.turn)
    report = _find_report(exchange) if with_report else None
    if report is not None:
        parts.append(f"The agent said: “{report.text}”")
        turns += report.turns
    if not parts:
        parts, turns = _describe_reading(exchange)
    return Statement(" ".join(parts), tuple(turns)) if parts else None


def _describe_reading(exchange: SummaryExchange) -> tuple[list[str], list[str]]:
    if exchange.read_files:
        return [f"Read {list_names([f'`{path}`' for path in exchange.read_files], MAX_LISTED, 'file')}."], list(
            exchange.read_files.values()
        )[-1:]
    calls = [turn.id for turn in exchange.replies for _ in turn.calls]
    return (
        ([f"The agent made {count_noun(len(calls), 'call')} of tools and reported nothing."], calls[-1:])
        if calls
        else ([], [])
    )


def _format_run(name: str, how: Sequence[str]) -> str:
    """Formats a command with its results: `npm test` (failed 2 times, then passed)."""
    counts = Counter(how)
    if counts["failed"] and how[-1] == "passed":
        times = counts["failed"]
        return f"`{name}` (failed{f' {times} times' if times > 1 else ''}, then passed)"
    if counts["failed"]:
        return f"`{name}` (failed)" if how[-1] == "failed" else f"`{name}` (failed at first)"
    return f"`{name}` (passed)" if how[-1] == "passed" else f"`{name}`"


def _format_action(action: SessionAction) -> str:
    match action.kind:
        case "committed":
            return f"Committed “{action.text}”." if action.text else "Committed."
        case "pushed":
            return "Pushed."
        case "opened":
            return "Opened a pull request."
        case "merged":
            return "Merged a pull request."
        case "chose":
            return f"The user answered {action.text}."
        case "denied":
            return f"Refused: {action.text}."
        case "interrupted":
            return f"Stopped: {action.text}."


def _find_report(exchange: SummaryExchange) -> Statement | None:
    for turn in reversed(exchange.replies[-3:]):
        if turn.text.strip():
            sentence = find_report_sentence(turn.text, MAX_REPORT_CHARS)
            return Statement(sentence, (turn.id,)) if sentence else None
    return None


def _make_outcome(
    exchanges: Sequence[SummaryExchange], last: SummaryExchange | None, facts: SummaryFacts
) -> Iterator[Statement]:
    commits = [action for one in exchanges for action in one.actions if action.kind == "committed"]
    described_commits = [action for action in commits if action.text]
    for action in described_commits[-MAX_COMMITS:] or commits[-1:]:
        yield Statement(_format_action(action), (action.turn,))
    others = {
        action.kind: action
        for one in exchanges
        for action in one.actions
        if action.kind in ("pushed", "opened", "merged")
    }
    for action in others.values():
        yield Statement(_format_action(action), (action.turn,))
    for sentence, turn in facts.decided[-MAX_DECISIONS:]:
        yield Statement(f"Decided: “{sentence}”", (turn,))
    known = [run for run in find_last_runs([one for one in exchanges if one.runs][-2:]) if run.outcome != "ran"]
    failed = [run for run in known if run.outcome == "failed"]
    for run in (*failed[-2:], *[run for run in known if run.outcome == "passed"][-2:]):
        yield Statement(f"`{run.name}` {run.outcome} the last time it was run.", (run.turn,))
    typed = [one.prompt for one in exchanges if one.prompt is not None]
    if len(typed) > 1 and (request := summarize_request(typed[-1].text, MAX_PROMPT_CHARS)):
        yield Statement(f"The user's last words: “{request}”", (typed[-1].id,))
    report = _find_report(last) if last is not None and _importance(last) else None
    if report is not None:
        yield Statement(f"The agent's last report: “{report.text}”", report.turns)
    if not collect_changed_files(exchanges) and not commits:
        end = next((one.replies[-1] for one in reversed(exchanges) if one.replies), typed[-1] if typed else None)
        if end is not None:
            yield Statement("No file was changed.", (end.id,))
