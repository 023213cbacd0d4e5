from .importer import ImportPlan as ImportPlan
from .importer import carry_out_import as carry_out_import
from .importer import plan_import as plan_import
from .rules_lines import RulesLine as RulesLine
from .rules_lines import list_rules_lines as list_rules_lines
