"""The sentences Lerim adds to the body of a memory to say where a statement was made and how it came about.

They are the same in every memory of a kind and say nothing about the rule itself, so their words do not count as words
of a claim.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_CODE = r"`[^`\n]{1,400}`"
_SENTENCES = (
    r"This holds for all further work\.",
    r"This corrects what the agent had done before\.",
    rf"This was said on (?:refusing to let {_CODE} run|rejecting the agent's plan|refusing an edit)\.",
    r"The person approved this plan\.",
    r"The person accepted the change\.",
    r"The person remarked on it, and the agent changed the code accordingly\.",
    r"The person went on without objecting\.",
    r"The person rejected the agent's plan\.",
    rf"The person refused to let {_CODE} run\.",
    r"The agent found this to be the cause of a failure\.",
    r"The agent wrote it down in the project's own notes\.",
    r"The agent wrote it down after the person had said so\.",
    r"It passed without it\.",
    r"It is part of a plan that was carried out\.",
    r"The agent chose so, and the person agreed\.",
    r"The person chose it when the agent asked\.",
    r"The session ended before anybody answered\.",
    r"The person put the decision off\.",
    r"The person said that it is not decided yet\.",
    r"The person doubted it, and the session ended there\.",
    r"The person picked this from the options the agent laid out\.",
    r"It passed when run in the root of the repository\.",
    rf"It concerns {_CODE}(?:(?:,| and) {_CODE}){{0,40}}\.",
)
_CONCERNS = re.compile(rf"(?<!\S)It concerns ({_CODE}(?:(?:,| and) {_CODE}){{0,40}})\.(?!\S)")
_BOILERPLATE = re.compile(rf"(?<!\S)(?:{'|'.join(_SENTENCES)})(?!\S)")


def update_file_sentence(text: str, moves: Mapping[str, str]) -> str:
    """Returns the body with Lerim's "It concerns …" sentence naming the files by their present paths, each once."""

    def replace_names(found: re.Match[str]) -> str:
        named = [name.strip("`") for name in re.findall(_CODE, found[1])]
        now = list(dict.fromkeys(f"`{moves.get(name, name)}`" for name in named))
        if [f"`{name}`" for name in named] == now:
            return found[0]
        return f"It concerns {', '.join(now[:-1])}{' and ' if now[1:] else ''}{now[-1]}."

    return _CONCERNS.sub(replace_names, text) if moves else text


def strip_boilerplate(text: str) -> str:
    """Returns the body without the sentences Lerim added."""
    return _BOILERPLATE.sub("", text)
