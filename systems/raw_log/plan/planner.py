"""One planner, whichever kind a configuration names."""

from __future__ import annotations

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.role import model_span
from memtrial.systems.raw_log.plan.instructions import Plan
from memtrial.systems.raw_log.plan.params import ModelPlanParams, PlanParams
from memtrial.systems.raw_log.plan.rules import plan_by_rules
from memtrial.systems.raw_log.plan.view import LogView


class Planner:
    """Turns a question into instructions for searching the log.

    The trace gets a span ``plan`` and ``facts["plan"]``: who planned, the instructions, and what was dropped and why.
    """

    def __init__(self, params: PlanParams | ModelPlanParams, context: Context) -> None:
        """Build it; a model's client is only made where the parameters name one.

        Raises:
            UserError: the planner is a model, and none is named, or its settings are wrong.
        """
        self._params = params
        self._model = None
        if isinstance(params, ModelPlanParams):
            from memtrial.systems.raw_log.plan.model import ModelPlanner  # a keyless run loads none of it

            self._model = ModelPlanner.of(params, context)

    async def plan(self, query: Query, log_view: LogView, trace: Trace) -> Plan:
        """Plan a question.

        Args:
            query: the question.
            log_view: the log as this question may see it (its tenant's messages).
            trace: receives the span, usage, the plan, and a warning where a model's plan could not be used.

        Raises:
            ModelRoleError: the model was not reached.
        """
        with model_span(trace, "plan") as span:
            if self._model is not None:
                plan = await self._model.plan(query, log_view, trace, span)
            else:
                assert isinstance(self._params, PlanParams)
                plan = plan_by_rules(query, log_view, self._params)
        trace.facts["plan"] = plan.summary()
        return plan

    async def aclose(self) -> None:
        """Close a model's connections."""
        if self._model is not None:
            await self._model.aclose()
