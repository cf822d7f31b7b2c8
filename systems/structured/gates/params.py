"""Settings of the gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Discriminator, Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.role import ModelParams, settle_kind

ROLE = "gate"


class SemanticOffParams(Part):
    """Every question counts as one that needs memory.

    Attributes:
        kind: which gate.
    """

    kind: Literal["off"] = "off"


class RulesParams(Part):
    """By words: points for what speaks of something on record, minus points for what answers itself.

    Attributes:
        kind: which gate.
        min_points: points from which memory is looked up. A question of which the words say nothing has 0: as a missed
            look-up costs the answer and a needless one only tokens, it is looked up.
    """

    kind: Literal["rules"] = "rules"
    min_points: float = Field(default=0.0, ge=-20, le=20)


class ClassifierParams(Part):
    """By a logistic regression on the question's vector (bundled e5) and the signals that the rules use.

    Attributes:
        kind: which gate.
        threshold: probability from which memory is looked up; None takes the one found in training.
    """

    kind: Literal["classifier"] = "classifier"
    threshold: float | None = Field(default=None, ge=0, le=1)


class ModelGateParams(ModelParams):
    """Left to a language model, which is asked before every question; what is not given comes from the role ``gate``.

    The context gate would overrule the model; ``context: {kind: off}`` leaves the decision to it alone.

    Attributes:
        kind: which gate.
    """

    kind: Literal["model"] = "model"


class ContextParams(Part):
    """The dialogue overrules the words: opens for what goes on with a matter, shuts for "my advice".

    Attributes:
        kind: ``on`` or ``off``.
        turns: earlier turns that are read, the newest.
        short: a question of at most this many words (Chinese: of twice as many characters) goes on with the last one
            where it has no matter of its own.
    """

    kind: Annotated[Literal["off", "on"], BeforeValidator(lambda value: _switch(value))] = "on"
    turns: int = Field(default=8, ge=1)
    short: int = Field(default=6, ge=1)


class CostParams(Part):
    """A look-up that costs too much is made smaller or left out.

    Attributes:
        kind: ``on`` or ``off``.
        budget_tokens: most tokens that a look-up may add to the prompt.
        tokens: tokens that a look-up is expected to add, where nobody measures them.
        load: how busy the model is, in [0, 1], where nobody measures it.
        max_load: load above which look-ups are made smaller (the seed names 0.7).
        over: what becomes of a look-up over budget or load: the ``newest`` few items, or ``none``.
        newest: how many items are left of it.
    """

    kind: Annotated[Literal["off", "on"], BeforeValidator(lambda value: _switch(value))] = "off"
    budget_tokens: int = Field(default=4000, ge=0)
    tokens: int = Field(default=1500, ge=0)
    load: float = Field(default=0.0, ge=0, le=1)
    max_load: float = Field(default=0.7, ge=0, le=1)
    over: Literal["newest", "none"] = "newest"
    newest: int = Field(default=3, ge=1)


def _switch(value: Any) -> Any:
    """Read YAML's ``off`` and ``on``, which are truth values unless quoted."""
    return ("on" if value else "off") if isinstance(value, bool) else value


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    given = {**value, "kind": _switch(value["kind"])} if "kind" in value else dict(value)
    kinds: dict[str, type[BaseModel]] = {
        "rules": RulesParams,
        "classifier": ClassifierParams,
        "model": ModelGateParams,
        "off": SemanticOffParams,
    }
    return settle_kind(given, kinds, "semantic")


AnySemanticParams = Annotated[
    SemanticOffParams | RulesParams | ClassifierParams | ModelGateParams,
    Discriminator("kind"),
    BeforeValidator(_chosen),
]


class GateParams(Part):
    """The three gates.

    Attributes:
        semantic: does the question speak of something on record? ``off``, ``rules``, ``classifier`` or ``model``.
        context: what the dialogue says to it.
        cost: what a look-up may cost.
    """

    semantic: AnySemanticParams = Field(default_factory=RulesParams)
    context: ContextParams = Field(default_factory=ContextParams)
    cost: CostParams = Field(default_factory=CostParams)
