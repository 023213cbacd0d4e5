from .notes import DayNote as DayNote
from .notes import describe_notes as describe_notes
from .notes import read_notes as read_notes
