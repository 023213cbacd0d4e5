from .commands import QuotesOption as QuotesOption
from .left_out import review_app as review_app
from .output import ServerAct as ServerAct
from .output import act_on_each as act_on_each
from .output import format_type as format_type
from .output import show_candidates as show_candidates
from .output import show_result as show_result
