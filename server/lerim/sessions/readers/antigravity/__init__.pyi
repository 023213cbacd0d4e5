from . import store as store
from . import turns as turns
