from .claims import ImportPlan as ImportPlan
from .claims import RulesLine as RulesLine
from .claims import list_rules_lines as list_rules_lines
from .claims import plan_import as plan_import
