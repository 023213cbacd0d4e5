from .document_checks import schedule_check as schedule_check
from .document_checks import stop_checking as stop_checking
