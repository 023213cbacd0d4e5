from . import offer as offer
from .commands import model_app as model_app
