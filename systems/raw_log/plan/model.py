"""A plan by a language model: asked for once or several times, voted on, checked against the question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from memtrial.systems.base import Context, Query, Span, Trace
from memtrial.systems.models.prompts import Field, load_prompt
from memtrial.systems.models.prompts.shapes import CheckReply, PlanReply
from memtrial.systems.models.reader.shown import question_row
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.raw_log.plan.boolean import show
from memtrial.systems.raw_log.plan.instructions import DateRange, Instruction, Keyword, Plan
from memtrial.systems.raw_log.plan.params import ModelPlanParams
from memtrial.systems.raw_log.plan.reply import read_reply
from memtrial.systems.raw_log.plan.rules import plan_by_rules
from memtrial.systems.raw_log.plan.validation import unsure, validated
from memtrial.systems.raw_log.plan.view import LogView
from memtrial.systems.raw_log.plan.votes import elect

ROLE = "plan"
# The model was reached and said nothing of use; asking about the next question would not be spared the same. The rules plan
# instead, and the trace says so. Where it was not reached, the question ends in an error.
_USELESS = frozenset({"refused", "filtered", "truncated", "empty", "invalid", "tool_call"})


class ModelPlanner:
    """Asks a model for plans and keeps what the question bears out.

    Args:
        params: settings.
        role: asks the model.
    """

    def __init__(self, params: ModelPlanParams, role: ModelRole) -> None:
        """Bind the planner to its model."""
        self._params = params
        self._role = role

    @classmethod
    def of(cls, params: ModelPlanParams, context: Context) -> ModelPlanner:
        """Make the planner from its parameters and the run's settings for the role ``plan``.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        return cls(params, ModelRole.of(ROLE, context, params))

    async def plan(self, query: Query, view: LogView, trace: Trace, span: Span) -> Plan:
        """Plan a question.

        Raises:
            ModelRoleError: the model was not reached.
        """
        rules = plan_by_rules(query, view, self._params.rules)
        replies = await self._ask(query, trace, span)
        if not replies:
            return rules
        dropped = [(f"unread {what}", "no instruction of a known kind") for reply in replies for what in reply.unread]
        plans: list[list[Instruction]] = []
        for reply in replies:
            made, lost = read_reply(reply, query, view)
            plans.append(made)
            dropped += lost
        kept, lost = elect(plans)
        dropped += lost
        if self._params.validation:
            kept, lost = validated(kept, query, view, rules, self._params.rules)
            dropped += lost
        if self._params.check and kept:
            kept, lost = await self._checked(kept, query, trace, span)
            dropped += lost
        # what stands in quotes, and a number, is the question's own; and no plan is without words and a meaning
        kinds = {one.kind for one in kept}
        kept += [i for i in rules.of("keyword") if i.certain and i not in kept]
        kept += [i for kind in ("keyword", "concept") if kind not in kinds for i in rules.of(kind) if i not in kept]
        return Plan(tuple(kept), tuple(dict.fromkeys(dropped)), "model")

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._role.aclose()

    async def _ask(self, query: Query, trace: Trace, span: Span) -> list[PlanReply]:
        language = language_of(query.text, query.language)
        fields: dict[str, Field] = {"question": question_row(query, language)}
        prompt = load_prompt(ROLE, language)
        asked = [role.ask(prompt, fields, PlanReply, trace, span) for role in self._role.repeats(self._params.votes)]
        replies: list[PlanReply] = []
        for said in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(said, PlanReply):
                replies.append(said)
            elif not isinstance(said, ModelRoleError) or said.status not in _USELESS:
                raise said
            else:
                trace.warn(f"plan {len(replies) + 1} of {len(asked)} could not be used: {said}")
        if not replies:
            trace.warn("planned by rules, as the model's plan could not be used")
        return replies

    async def _checked(
        self, kept: Sequence[Instruction], query: Query, trace: Trace, span: Span
    ) -> tuple[list[Instruction], list[tuple[str, str]]]:
        language = language_of(query.text, query.language)
        rows = [_row(number, one) for number, one in enumerate(kept, 1)]
        fields: dict[str, Field] = {"question": question_row(query, language), "instructions": rows}
        try:
            said = await self._role.ask(load_prompt("check", language), fields, CheckReply, trace, span)
        except ModelRoleError as error:
            if error.status not in _USELESS:
                raise
            trace.warn(f"the plan was not checked: {error}")
            return list(kept), []
        verdicts = {row.number: row.verdict for row in said.verdicts}
        left: list[Instruction] = []
        dropped = []
        for number, one in enumerate(kept, 1):
            verdict = verdicts.get(number, "possible")
            if verdict == "wrong":
                dropped.append((f"{one.kind} {one.words}", "the check found it wrong"))
            else:
                left.append(one if verdict == "certain" else unsure(one))
        return left, dropped


def _row(number: int, one: Instruction) -> dict[str, Any]:
    row: dict[str, Any] = {"number": number, "kind": one.kind, "value": one.words}
    if isinstance(one, DateRange):
        row |= {"start": f"{one.start:%Y-%m-%d %H:%M}", "end": f"{one.end:%Y-%m-%d %H:%M}"}
    elif isinstance(one, Keyword):
        row["value"] = show(one.tree)
    return row
