from .answers import describe_recalled as describe_recalled
from .calls import ToolCalls as ToolCalls
from .calls import make_approval_test as make_approval_test
