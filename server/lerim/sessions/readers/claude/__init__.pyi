from . import store as store
from .files import claude_folder_name as claude_folder_name
