from .reconciling import reconcile_project as reconcile_project
from .worker import Worker as Worker
from .worker import rescue_stalled_jobs as rescue_stalled_jobs
