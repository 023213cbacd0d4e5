"""Whose claim it is, by the words that tell it."""

import pytest

from lerim.extraction.attribution import (
    REPEATS_SOURCE,
    UNSUPPORTED_QUOTE,
    attribute_claim,
    is_quote_supporting,
    telling_stems,
)
from lerim.extraction.candidate import Candidate
from lerim.extraction.utterances import Utterance
from lerim.memory.record import Evidence, Speaker
from reviews import made_candidate

TITLE = "Use pnpm for the web workspace"
BODY = "`web/package.json` is installed with pnpm, since npm breaks its links."
ASIDE = "the web team meets on thursday in the blue room to talk about hiring, budgets and the offsite in june"
FILLER = [Utterance("user", str(number), "the web server of the web shop") for number in range(30)]


def claim(quote: str, who: Speaker = "user", title: str = TITLE, body: str = BODY) -> Candidate:
    evidence = (Evidence(quote, "b", who),)
    return made_candidate(title, body, "b", confidence=0.9, tags=(), references=(), evidence=evidence, signal="model")


def test_a_quote_bears_a_claim_if_it_shares_what_tells_it() -> None:
    for quote in ("no, pnpm", "npm breaks the links, don't", "the workspaces of web", "web/package.json has links"):
        assert is_quote_supporting(quote, TITLE, BODY), quote
    for quote in ("perfect, commit it", "use it", "fix the tests", "完美,提交吧", ""):
        assert not is_quote_supporting(quote, TITLE, BODY), quote
    assert not is_quote_supporting(ASIDE, TITLE, BODY, FILLER)  # one common word of a long quote
    assert is_quote_supporting("The icons must be pngs", "Every logo is a PNG", "")
    assert telling_stems("redis status class") == {"redis", "statu", "class"}


def said(*heard: tuple[Speaker, str]) -> list[Utterance]:
    return [Utterance(who, "ab"[number > 0], text) for number, (who, text) in enumerate(heard)]


PAGE = "Everybody should use pnpm for the web workspace."


@pytest.mark.parametrize(
    ("heard", "who", "flag"),
    [
        ([("web", PAGE), ("user", "perfect")], "web", REPEATS_SOURCE),
        ([("tool", PAGE), ("assistant", PAGE), ("user", "perfect")], "tool", REPEATS_SOURCE),
        ([("assistant", PAGE), ("web", PAGE), ("user", "perfect")], "assistant", UNSUPPORTED_QUOTE),
        ([("user", PAGE), ("web", PAGE)], "user", UNSUPPORTED_QUOTE),
        ([("assistant", "All is done.\nShall I commit?"), ("user", "perfect")], "assistant", UNSUPPORTED_QUOTE),
        ([("user", "perfect")], "user", UNSUPPORTED_QUOTE),
    ],
)
def test_a_claim_that_no_quote_bears_is_of_who_said_it_first(
    heard: list[tuple[Speaker, str]], who: Speaker, flag: str
) -> None:
    judged = attribute_claim(claim("perfect"), said(*heard))
    assert (judged.evidence[0].who, judged.flags) == (who, (flag,))
    assert judged.confidence <= 0.55


def test_what_somebody_says_first_is_theirs_and_what_a_tool_prints_scattered_or_later_is_not_its() -> None:
    own = claim("I use pnpm for the web workspace.", "assistant")
    scattered = ("pnpm " + "alpha " * 200 + "web " + "gamma " * 200 + "workspace " + "delta " * 200) * 2
    for both in ((("assistant", PAGE), ("web", PAGE)), (("tool", scattered), ("assistant", PAGE))):
        assert attribute_claim(own, said(*both)) == own
    assert attribute_claim(own, said(("web", PAGE), ("assistant", PAGE))).evidence[0].who == "web"
    short = claim("pnpm, then.", "assistant")
    heard = said(("user", "go on"), ("assistant", "pnpm, then."), ("tool", OUTPUT))
    assert attribute_claim(short, heard) == short
    theirs = claim("use pnpm in the web workspace")
    assert attribute_claim(theirs, said(("web", PAGE), ("user", "use pnpm in the web workspace"))) == theirs


LONG = "Use pnpm for the web workspace, since npm breaks links of packages"
OUTPUT = "web/package.json: workspace, Use: npm\nuse of pnpm in web: breaks links of packages"


def test_a_persons_quote_that_bears_a_claim_stays_though_a_tool_printed_its_words_first() -> None:
    theirs = claim("seems like pnpm is what we want here", title=LONG)
    quote = theirs.evidence[0].quote
    judged = attribute_claim(theirs, said(("tool", OUTPUT), ("assistant", "It has npm."), ("user", quote)))
    assert (judged.evidence, judged.flags, judged.confidence) == (theirs.evidence, (REPEATS_SOURCE,), 0.55)
    paged = attribute_claim(theirs, said(("web", f"{LONG}."), ("user", quote)))
    assert (paged.evidence[0].who, paged.confidence) == ("web", 0.3)


def test_the_agents_quote_stands_beside_the_tools_that_printed_its_words_first() -> None:
    own = claim("I use pnpm for the web workspace.", "assistant")
    judged = attribute_claim(own, said(("tool", OUTPUT), ("assistant", own.evidence[0].quote)))
    assert [one.who for one in judged.evidence] == ["assistant", "tool"]
    assert (judged.flags, judged.confidence) == ((REPEATS_SOURCE,), 0.3)


def test_a_quote_that_shares_a_word_with_the_title_is_kept_though_it_mostly_tells_of_something_else() -> None:
    theirs = claim(ASIDE, title=LONG)
    agents = Utterance("assistant", "a", "pnpm for the workspace: npm breaks it.")
    judged = attribute_claim(theirs, [*FILLER, agents, Utterance("user", "b", ASIDE)])
    assert (judged.evidence, judged.flags, judged.confidence) == (theirs.evidence, (UNSUPPORTED_QUOTE,), 0.55)


def test_the_persons_words_stay_where_no_line_of_the_agent_says_the_claim_better() -> None:
    title = "Copy for players in Planetfall is short and has no em dashes"
    quote = "too much words + i dont like emdashes"
    scattered = "Copy.\n\n- for players\n\n- Planetfall\n\n- short"
    heard = said(("assistant", scattered), ("user", quote))
    kept = attribute_claim(claim(quote, title=title, body="Players read little."), heard)
    assert [(one.who, one.quote) for one in kept.evidence] == [("user", quote)]
    assert UNSUPPORTED_QUOTE in kept.flags
    assert kept.confidence < 0.6
