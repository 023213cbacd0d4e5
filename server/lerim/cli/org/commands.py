"""The group `lerim org`."""

from __future__ import annotations

import typer

from lerim.cli.org.backfill import backfill_command
from lerim.cli.org.init import init_command
from lerim.cli.org.team_memory import propose_command, search_command, share_command
from lerim.cli.org.work import (
    cancel_command,
    limits_command,
    pull_command,
    retry_command,
    status_command,
    worker_command,
)

org_app = typer.Typer(
    help="Work through an organisation's past, with many machines and workers and one PostgreSQL database.",
    epilog="It needs `pip install 'lerim[org]'`; docs/ORG.md says what is stored where.",
    no_args_is_help=True,
)
org_app.command("init")(init_command)
org_app.command("backfill")(backfill_command)
org_app.command("worker")(worker_command)
org_app.command("limits")(limits_command)
org_app.command("status")(status_command)
org_app.command("pull")(pull_command)
org_app.command("share")(share_command)
org_app.command("propose")(propose_command)
org_app.command("search")(search_command)
org_app.command("retry")(retry_command)
org_app.command("cancel")(cancel_command)
