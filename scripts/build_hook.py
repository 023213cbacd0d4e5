"""The build hook of hatchling: fetches the encoding, which is not in git, so that the wheel contains it."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

import fetch_encoding


class EncodingHook(BuildHookInterface[Any]):
    """Fetches the encoding with the pip of the build environment, if it is not there yet."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Called once before each build; `version` is `standard` or `editable`."""
        fetch_encoding.ensure_encoding(fetch_encoding.TARGET)
