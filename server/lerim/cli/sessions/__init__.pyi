from .commands import sessions_app as sessions_app
from .queue import queue_app as queue_app
