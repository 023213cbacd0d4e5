from .notes import DayNote as DayNote
from .notes import read_notes as read_notes
from .notes import tell_notes as tell_notes
