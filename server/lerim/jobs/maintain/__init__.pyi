from .last_run import is_maintenance_due as is_maintenance_due
from .proposals import MAX_WAITING_PROPOSALS as MAX_WAITING_PROPOSALS
from .report import MaintainProgress as MaintainProgress
from .report import MaintainReport as MaintainReport
from .report import MaintainStage as MaintainStage
from .report import StaleMemory as StaleMemory
from .run import maintain_project as maintain_project
