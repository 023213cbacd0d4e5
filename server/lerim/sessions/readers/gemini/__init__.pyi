from . import store as store
from .folders import folders_by_hash as folders_by_hash
