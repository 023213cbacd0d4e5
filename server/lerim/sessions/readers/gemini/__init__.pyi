from . import turns as turns
from .folders import find_chats as find_chats
from .folders import folders_by_hash as folders_by_hash
