from .plan import plan_backfill as plan_backfill
from .report import BackfillOptions as BackfillOptions
from .report import BackfillPlan as BackfillPlan
from .report import BackfillProgress as BackfillProgress
from .report import BackfillReport as BackfillReport
from .run import backfill_project as backfill_project
