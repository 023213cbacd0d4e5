from . import language as language
from . import watching as watching
