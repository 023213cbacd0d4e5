from .claims import ImportPlan as ImportPlan
from .claims import plan_import as plan_import
from .rules_lines import RulesLine as RulesLine
from .rules_lines import list_rules_lines as list_rules_lines
