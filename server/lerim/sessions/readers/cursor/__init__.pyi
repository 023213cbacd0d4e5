from . import folders as folders
from . import store as store
