from . import call as call
from . import command as command
from .programs import AGENTS as AGENTS
from .programs import describe_payment as describe_payment
from .programs import find_program as find_program
from .programs import missing_program_problem as missing_program_problem
