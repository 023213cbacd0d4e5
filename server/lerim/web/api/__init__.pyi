from .routes import OPERATIONS as OPERATIONS
from .routes import routes as routes
