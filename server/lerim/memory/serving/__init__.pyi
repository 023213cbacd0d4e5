from .agent_memories import AgentMemories as AgentMemories
from .agent_memories import Recalled as Recalled
from .agent_memories import ServedMemory as ServedMemory
from .agent_text import FENCE_TAG as FENCE_TAG
from .agent_text import fence_items as fence_items
from .agent_text import neutral_line as neutral_line
from .agent_text import render_memory as render_memory
from .agent_text import tells_to_act as tells_to_act
