from .background import find_hook_index as find_hook_index
from .background import start_refresh as start_refresh
from .background import start_refresh_if_used as start_refresh_if_used
from .index import refresh_hook_index as refresh_hook_index
from .install import install_hook_program as install_hook_program
from .install import is_hook_program_current as is_hook_program_current
from .refresh import main as main
from .refresh import refresh_if_used as refresh_if_used
