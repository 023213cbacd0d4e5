from .commands import org_app as org_app
