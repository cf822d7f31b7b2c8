"""Whether memory is looked up at all, and how much of it: semantic, context and cost gate, before any work is done."""

from memtrial.systems.structured.gates.dialogue import DialogueState, Knows, read_dialogue
from memtrial.systems.structured.gates.gates import Decision, Gates
from memtrial.systems.structured.gates.params import GateParams

__all__ = ["Decision", "DialogueState", "GateParams", "Gates", "Knows", "read_dialogue"]
