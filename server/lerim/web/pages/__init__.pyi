from .routes import routes as routes
