from . import watching as watching
