from .parser import NO_ANSWER as NO_ANSWER
from .parser import CitedSentence as CitedSentence
from .parser import CitedSentenceParser as CitedSentenceParser
from .parser import split_cited_sentences as split_cited_sentences
from .support import NumberedText as NumberedText
from .support import escape_lines as escape_lines
from .support import is_supported as is_supported
