from .routes import API_PREFIX as API_PREFIX
from .routes import OPERATIONS as OPERATIONS
from .routes import api_routes as api_routes
