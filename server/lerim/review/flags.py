"""The texts that tell a reviewer what to check before accepting a candidate, by the candidate's flags."""

from __future__ import annotations

FLAG_TEXTS = {
    "hidden-characters": "This contains hidden characters. They are written out below.",
    "commands-an-agent": "This contains instructions for an agent. Read it carefully before you accept it.",
    "quote-without-claim": "The quote from you does not seem to support this. Compare them before you accept it.",
    "may-say-otherwise": (
        "A model may have changed the meaning of what you said: a number, a negation, a condition or an instruction "
        "differs. Compare it with the quote."
    ),
    "repeats-a-source": (
        "A tool or a web page said this first, and nobody else confirmed it. Check it before you accept it."
    ),
    "may-lose": (
        "A model proposes to replace a memory that says more than this, or something else. Compare the two before you "
        "accept it."
    ),
    "differs": "The texts of these memories are not the same. Read both before you merge them.",
    "may-answer": "This may answer the question. Read both before you close it.",
    "plain": "This only lists the original texts one after the other. Read it before you accept it.",
    "two-answers": (
        "These memories answer the same question in different ways. Accept this to keep the newest answer. If the "
        "newest is wrong, reject this and archive it yourself."
    ),
    "said-by-an-agent": "A coding agent proposed this itself. Check that it is true before you accept it.",
    "unverified": "This was found in a file, and nobody has checked it. Check that it is true before you accept it.",
    "no-quote": (
        "No quote from the session supports this. It was left out for that reason, and you proposed it anyway."
    ),
    "held-a-secret": (
        "This contained a secret, which was removed. Check that the rest makes sense and gives nothing away."
    ),
    "not-the-person": "Neither you nor the agent said this. It is based on a tool's output or a web page.",
    "taken-back": "This was taken back later in the session. Check whether it still applies.",
    "sends-data-out": "Some of this text sends data or secrets elsewhere. Read it carefully before you accept it.",
}
"""What a reviewer should check, by the flag of a candidate; the editor says the same."""


def flag_text(flag: str) -> str:
    """Returns the warning for a flag, as a sentence."""
    return FLAG_TEXTS.get(flag, flag)
