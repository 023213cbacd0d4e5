from . import arguments_and_headers as arguments_and_headers
from . import idioms as idioms
from . import keywords as keywords
from . import lines_above as lines_above
from . import named_literals as named_literals
from . import positional as positional
from . import sentences as sentences
