"""The gates together: one decision per question, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole, model_span
from memtrial.systems.structured.gates.context import Verdict, judge
from memtrial.systems.structured.gates.cost import allow
from memtrial.systems.structured.gates.dialogue import DialogueState, Knows, read_dialogue
from memtrial.systems.structured.gates.params import (
    ROLE,
    ClassifierParams,
    GateParams,
    ModelGateParams,
    RulesParams,
)
from memtrial.systems.structured.gates.rules import points, told
from memtrial.systems.structured.gates.signals import Signals, read_signals

Embed = Callable[[str], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the gates allow.

    Attributes:
        lookup: memory is looked up.
        max_items: most items that may be shown; None is no limit of the gates'.
        newest_only: those are to be the newest, not the best.
        reasons: why, by gate.
    """

    lookup: bool
    max_items: int | None = None
    newest_only: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)


class Gates:
    """Decides before any look-up.

    Args:
        params: settings.
        context: of the system; its models are used where the semantic gate is one.
        embed: the question's vector by the bundled e5, for the classifier; None loads the embedder itself. A system that
            embeds the question anyway hands over a function that does so once.
        load: how busy the model is, in [0, 1]; None takes ``cost.load``.
        tokens: expected tokens of a look-up for this question; None takes ``cost.tokens``.
    """

    def __init__(
        self,
        params: GateParams,
        context: Context,
        *,
        embed: Embed | None = None,
        load: Callable[[], float] | None = None,
        tokens: Callable[[Query], int] | None = None,
    ) -> None:
        """Prepare the gates.

        Raises:
            UserError: the semantic gate is a model and none is named for its role.
        """
        self.params = params
        self._embed = embed
        self._load = load or (lambda: params.cost.load)
        self._tokens = tokens or (lambda query: params.cost.tokens)
        self._role: ModelRole | None = None
        if isinstance(params.semantic, ModelGateParams):
            self._role = ModelRole.of(ROLE, context, params.semantic)

    def state(self, query: Query, knows: Knows | None = None) -> DialogueState:
        """Return the state of a question's dialogue, read as far back as ``context.turns`` says.

        Args:
            query: the question.
            knows: finds the entities of the memory in a text, of the question's tenant alone.
        """
        return read_dialogue(query, knows, turns=self.params.context.turns)

    async def decide(self, query: Query, state: DialogueState, trace: Trace) -> Decision:
        """Decide whether memory is looked up for a question, and how much of it.

        One gate, ``lookup``, is recorded: metrics read it. What each of the three said is in ``trace.facts["gates"]``.

        Args:
            query: the question.
            state: of its dialogue, from :meth:`state`.
            trace: gets the decision and its reasons.

        Raises:
            ModelRoleError: the semantic gate is a model, and it gave no answer.
        """
        with trace.span("gates"):
            signals = read_signals(query, state.named)
        semantic = await self._semantic(query, state, signals, trace)
        context = Verdict(None, "off")
        if self.params.context.kind == "on":
            context = judge(query.text, signals, state, self.params.context)
        lookup = bool(semantic.open if context.open is None else context.open)
        reasons = {"semantic": semantic.reason, "context": context.reason, "cost": "off"}
        opens: dict[str, bool | None] = {"semantic": semantic.open, "context": context.open, "cost": None}
        max_items: int | None = None
        if self.params.cost.kind == "on" and lookup:
            max_items, reasons["cost"] = allow(self.params.cost, self._tokens(query), self._load())
            opens["cost"] = lookup = max_items != 0
        decided = "context" if context.open is not None else "semantic"
        if opens["cost"] is False:
            decided = "cost"
        trace.gate("lookup", open=lookup, reason=f"{decided}: {reasons[decided]}")
        trace.facts["gates"] = {
            **{name: {"open": opens[name], "reason": reason} for name, reason in reasons.items()},
            "max_items": max_items,
        }
        return Decision(lookup, max_items if lookup else 0, bool(max_items), reasons)

    async def aclose(self) -> None:
        """Close the model's client, if there is one."""
        if self._role is not None:
            await self._role.aclose()

    async def _semantic(self, query: Query, state: DialogueState, signals: Signals, trace: Trace) -> Verdict:
        params = self.params.semantic
        if isinstance(params, RulesParams):
            score = points(signals)
            return Verdict(score >= params.min_points, f"{score:+.1f} points ({told(signals)})")
        if isinstance(params, ClassifierParams):
            return self._classified(query, params, signals, trace)
        if isinstance(params, ModelGateParams):
            return await self._asked(query, trace)
        return Verdict(True, "off: every question is looked up")

    def _classified(self, query: Query, params: ClassifierParams, signals: Signals, trace: Trace) -> Verdict:
        from memtrial.systems.structured.gates.classifier import embedder_revision, load_classifier

        classifier = load_classifier()
        if classifier.embedder != embedder_revision():
            trace.warn(f"gate: fitted on {classifier.embedder}, used on {embedder_revision()}")
        threshold = classifier.threshold if params.threshold is None else params.threshold
        with trace.span("gate_classifier"):
            if self._embed is None:
                from memtrial.systems.models.embedders import E5

                self._embed = E5(None).query
            probability = classifier.probability(self._embed(query.text), signals)
        return Verdict(probability >= threshold, f"probability {probability:.3f}, threshold {threshold:.3f}")

    async def _asked(self, query: Query, trace: Trace) -> Verdict:
        from memtrial.systems.models.prompts import load_prompt
        from memtrial.systems.models.prompts.shapes import GateReply
        from memtrial.systems.models.reader.shown import question_row

        assert self._role is not None
        language = language_of(query.text, query.language)
        with model_span(trace, ROLE) as span:
            said = await self._role.ask(
                load_prompt(ROLE, language), {"question": question_row(query, language)}, GateReply, trace, span
            )
        return Verdict(said.lookup, f"the model: {said.reason[:200]}")
