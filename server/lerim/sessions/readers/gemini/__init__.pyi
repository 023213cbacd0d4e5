from . import store as store
from .folders import find_session_folder as find_session_folder
from .folders import folders_by_hash as folders_by_hash
