from . import conflicting_answers as conflicting_answers
from .conflicting_answers import TWO_ANSWERS_CODE as TWO_ANSWERS_CODE
from .conflicting_answers import conflicting_answers_among as conflicting_answers_among
from .conflicting_answers import join_titles as join_titles
from .entries import MemoryEntry as MemoryEntry
from .entries import symbol_names as symbol_names
from .reference_map import MemoryFileChanges as MemoryFileChanges
from .reference_map import ReferenceMap as ReferenceMap
