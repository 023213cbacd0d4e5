"""The command line has a sentence for each flag that the editor has one for."""

import re
from pathlib import Path

from lerim.review.flags import FLAG_TEXTS, flag_text

EDITOR_TEXTS = Path(__file__).parents[2] / "extension" / "src" / "views" / "shared" / "web" / "text.ts"


def test_each_flag_is_a_sentence_in_the_command_line_as_in_the_editor() -> None:
    source = EDITOR_TEXTS.read_text(encoding="utf-8")
    table = source.split("const flagTexts", 1)[1].split("};", 1)[0]
    flags = set(re.findall(r'^  "?([a-z-]+)"?: "', table, re.MULTILINE))
    assert flags == set(FLAG_TEXTS)
    assert all(flag_text(flag).endswith(".") for flag in flags)
