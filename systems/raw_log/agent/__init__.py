"""Agent mode: the model holds the tools itself and searches the log until it answers."""

from memtrial.systems.raw_log.agent.loop import AgentLoop, AgentResult
from memtrial.systems.raw_log.agent.params import AgentParams
from memtrial.systems.raw_log.agent.shown import ToolError
from memtrial.systems.raw_log.agent.tools import LogTools

__all__ = ["AgentLoop", "AgentParams", "AgentResult", "LogTools", "ToolError"]
