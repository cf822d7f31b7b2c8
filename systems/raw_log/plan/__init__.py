"""Planning: from a question to typed instructions for searching the log."""

from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not, Or, holds, parse
from memtrial.systems.raw_log.plan.instructions import (
    Concept,
    Cue,
    DateRange,
    Filters,
    Instruction,
    Keyword,
    Person,
    Plan,
    Topic,
    relax,
)
from memtrial.systems.raw_log.plan.params import AnyPlanParams, ModelPlanParams, PlanParams
from memtrial.systems.raw_log.plan.planner import Planner
from memtrial.systems.raw_log.plan.view import LogIndex, LogView, Participant

__all__ = [
    "And",
    "AnyPlanParams",
    "Concept",
    "Cue",
    "DateRange",
    "Filters",
    "Instruction",
    "Keyword",
    "Leaf",
    "LogIndex",
    "LogView",
    "ModelPlanParams",
    "Node",
    "Not",
    "Or",
    "Participant",
    "Person",
    "Plan",
    "PlanParams",
    "Planner",
    "Topic",
    "holds",
    "parse",
    "relax",
]
