from .server import main as main
