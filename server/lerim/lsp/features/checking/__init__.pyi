from .diagnostics import recheck_open_files as recheck_open_files
from .diagnostics import schedule_check as schedule_check
from .diagnostics import stop_checking as stop_checking
