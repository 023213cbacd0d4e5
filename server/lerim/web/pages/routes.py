"""The routes of the dashboard's pages."""

from __future__ import annotations

from starlette.routing import BaseRoute

routes: list[BaseRoute] = []
