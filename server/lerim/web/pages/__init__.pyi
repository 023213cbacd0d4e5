from .rendering import prepare_first_page as prepare_first_page
from .routes import page_routes as page_routes
