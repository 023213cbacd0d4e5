from .commands import agents_app as agents_app
