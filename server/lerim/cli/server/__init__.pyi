from .daemon import down_command as down_command
from .daemon import logs_command as logs_command
from .daemon import up_command as up_command
from .serve import dashboard_command as dashboard_command
from .serve import serve_command as serve_command
