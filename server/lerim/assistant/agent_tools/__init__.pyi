from .calls import ToolCalls as ToolCalls
