from .document import DocumentKind as DocumentKind
from .document import Field as Field
from .document import MemoryDocument as MemoryDocument
from .document import TextSpan as TextSpan
from .document import Value as Value
from .document import kind_of_document as kind_of_document
from .document import text_span as text_span
from .parsing import parse_memory_document as parse_memory_document
