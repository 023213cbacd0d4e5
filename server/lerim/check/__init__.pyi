from .context import CheckContext as CheckContext
from .context import make_check_context as make_check_context
from .document_check import check_document as check_document
from .findings import CheckReport as CheckReport
from .findings import Finding as Finding
from .findings import Severity as Severity
from .project_check import check_project as check_project
from .sarif import make_sarif as make_sarif
