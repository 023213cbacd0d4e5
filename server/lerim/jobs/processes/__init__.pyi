from .editor_questions import EditorAsker as EditorAsker
from .processes import JobError as JobError
from .processes import JobProcesses as JobProcesses
