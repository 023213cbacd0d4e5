from .acts import memory_app as memory_app
