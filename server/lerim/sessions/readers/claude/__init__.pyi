from . import store as store
from .store import claude_folder_name as claude_folder_name
