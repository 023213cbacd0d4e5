from . import views as views
