"""What hatchling runs before it builds: the encoding, which is not in git, is put where the wheel takes it from."""

import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

import encoding


class EncodingHook(BuildHookInterface):
    """Needs pip in the environment that builds, and its index only where the encoding is not there yet."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Called once before each build, `version` being `standard` or `editable`."""
        encoding.put(encoding.TARGET)
