from .editor_questions import EditorAsker as EditorAsker
from .editor_questions import JobQuestions as JobQuestions
from .processes import JobError as JobError
from .processes import JobProcesses as JobProcesses
