from .app import main as main
from .terminal import output as output
