from .backfill import backfill_command as backfill_command
from .backfill import require_consent as require_consent
from .maintain import maintain_command as maintain_command
from .sync import run_sync as run_sync
from .sync import sync_command as sync_command
from .sync_report import show_sync_report as show_sync_report
