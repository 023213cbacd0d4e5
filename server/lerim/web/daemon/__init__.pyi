from .daemon import Daemon as Daemon
from .daemon import DaemonState as DaemonState
from .schedule import Timings as Timings
