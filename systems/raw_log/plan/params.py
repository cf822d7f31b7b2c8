"""Settings of the planner, and which of its kinds is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.role import ModelParams, settle_kind


class ExpansionParams(Part):
    """Near words of the question's terms, learnt from the log itself.

    Attributes:
        on: whether they are looked for.
        words: most near words of one term.
        weight: what the nearest counts beside the term itself.
        window: messages that are read for one term; the newest that hold it.
        least: messages that must hold both.
        spelling: whether a term that the log lacks is looked for under a close spelling.
    """

    on: bool = True
    words: int = Field(default=3, ge=1, le=20)
    weight: float = Field(default=0.3, gt=0, lt=1)
    window: int = Field(default=200, ge=1, le=5_000)
    least: int = Field(default=3, ge=1, le=100)
    spelling: bool = True


class PlanParams(Part):
    """Planning by rules.

    Attributes:
        kind: which planner.
        dates: whether time words become date ranges.
        people: whether names and pronouns become persons.
        cues: whether words such as "argued" or 决定 become cues.
        validation: whether what is not certain from the question is kept from filtering; without it every time and
            every speaker filters.
        event_lag_days: days after an event in which it is still told of.
        most_terms: most key terms of a question.
        expansion: near words.
    """

    kind: Literal["rules"] = "rules"
    dates: bool = True
    people: bool = True
    cues: bool = True
    validation: bool = True
    event_lag_days: int = Field(default=7, ge=0, le=365)
    most_terms: int = Field(default=16, ge=1, le=64)
    expansion: ExpansionParams = Field(default_factory=ExpansionParams)


class ModelPlanParams(ModelParams):
    """Planning with a language model; what is not given of its settings comes from the role ``plan``.

    Attributes:
        kind: which planner.
        validation: whether each instruction is checked against the question by rules, and dropped where it says what the
            question does not.
        check: whether the model is asked once more which instructions are certain.
        votes: how many plans are asked for; an instruction stays if more than half of them have it. More than one only
            helps at a temperature above 0.
        rules: what the rules read for themselves, and what is done where the model's plan cannot be used.
    """

    kind: Literal["model"] = "model"
    validation: bool = True
    check: bool = False
    votes: int = Field(default=1, ge=1, le=9)
    rules: PlanParams = Field(default_factory=PlanParams)


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return settle_kind(value, KINDS, "planner")


KINDS: Mapping[str, type[BaseModel]] = {"rules": PlanParams, "model": ModelPlanParams}
AnyPlanParams = Annotated[PlanParams | ModelPlanParams, Discriminator("kind"), BeforeValidator(_chosen)]
