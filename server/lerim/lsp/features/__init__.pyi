from . import checking as checking
from . import language as language
from . import watching as watching
