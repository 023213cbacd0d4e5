from .routes import page_routes as page_routes
