"""Patterns that are compiled at their first use."""

import importlib
import pkgutil
import re

import lerim
from lerim.patterns import LatePattern, compile_later


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    late, compiled = compile_later(r"(?P<word>b+)", re.IGNORECASE), re.compile(r"(?P<word>b+)", re.IGNORECASE)
    assert late.pattern == compiled.pattern
    found = late.search("aBb")
    assert found is not None and found["word"] == "Bb"
    assert late.sub("x", "abab") == "axax"
    assert (late.flags, late.groupindex) == (compiled.flags, compiled.groupindex)


def test_every_late_pattern_of_ours_compiles() -> None:
    modules = [one.name for one in pkgutil.walk_packages(lerim.__path__, "lerim.") if one.name != "lerim.__main__"]
    values = [value for name in modules for value in vars(importlib.import_module(name)).values()]
    groups = [value.groups for value in values if isinstance(value, LatePattern)]
    assert len(groups) > 100
