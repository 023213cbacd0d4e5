from .answers import describe_recalled as describe_recalled
from .calls import ToolCalls as ToolCalls
