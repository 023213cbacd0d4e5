"""The environment variables that name the organisation's database: in a file that needs no package of `lerim[org]`."""

from __future__ import annotations

DATABASE_VARIABLE = "LERIM_DATABASE_URL"
"""The address of the database."""
TEAM_VARIABLE = "LERIM_TEAM"
"""The team that is worked for, if there are several."""
