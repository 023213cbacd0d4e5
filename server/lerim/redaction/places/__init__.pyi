from . import calls as calls
from . import given as given
from . import idioms as idioms
from . import lines as lines
from . import positional as positional
from . import spoken as spoken
from . import told as told
