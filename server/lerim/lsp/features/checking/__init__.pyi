from .diagnostics import schedule_check as schedule_check
from .diagnostics import stop_checking as stop_checking
