"""Patterns that are compiled at their first use."""

import importlib
import pkgutil

import lerim
from lerim.patterns import LatePattern


def test_every_late_pattern_of_ours_compiles() -> None:
    modules = [one.name for one in pkgutil.walk_packages(lerim.__path__, "lerim.") if one.name != "lerim.__main__"]
    values = [value for name in modules for value in vars(importlib.import_module(name)).values()]
    groups = [value.groups for value in values if isinstance(value, LatePattern)]
    assert len(groups) > 100
