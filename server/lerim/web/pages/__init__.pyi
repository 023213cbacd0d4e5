from .routes import page_routes as page_routes
from .today import prepare_first_page as prepare_first_page
