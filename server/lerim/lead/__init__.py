"""The lead, the explorer and answers: what a model decides or tells of memories, checked by code before it counts."""
