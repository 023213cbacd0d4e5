from . import store as store
