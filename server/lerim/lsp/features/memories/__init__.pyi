from . import editor_requests as editor_requests
from . import loading as loading
from .hovers import HoverMemory as HoverMemory
from .hovers import render_hover as render_hover
