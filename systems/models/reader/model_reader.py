"""The reader that asks a language model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from memtrial.systems.base import Context, Evidence, Query, Span, Trace
from memtrial.systems.models.prompts import Field, fence, load_prompt, with_addition
from memtrial.systems.models.prompts.shapes import ReadReply
from memtrial.systems.models.reader.params import ModelReaderParams
from memtrial.systems.models.reader.reading import UNKNOWN, Reading
from memtrial.systems.models.reader.shown import fit, item_row, question_row
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole
from memtrial.systems.models.tokens import count_tokens

ROLE = "read"


class ModelReader:
    """Answers with a language model from the items shown, and cites none but their messages.

    Args:
        params: settings.
        role: asks the model.
    """

    def __init__(self, params: ModelReaderParams, role: ModelRole) -> None:
        """Bind the reader to its model."""
        self.params = params
        self._role = role

    @classmethod
    def of(cls, params: ModelReaderParams, context: Context) -> ModelReader:
        """Make the reader from its parameters and the run's settings for the role ``read``.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        return cls(params, ModelRole.of(ROLE, context, params))

    async def read(self, query: Query, context: Sequence[Evidence], trace: Trace, span: Span) -> Reading:
        """Answer a question from the items shown.

        Args:
            query: the question.
            context: items for the reader, best first or in time order.
            trace: receives usage, the prompt's identity, and a warning for whatever was cut or dropped.
            span: receives the model's time.

        Returns:
            The reading; ``shown`` is what of the context fitted the budget.

        Raises:
            ModelRoleError: the model refused, its reply was cut, or there was none: an error, not an abstention.
        """
        language = language_of(query.text, query.language)
        question = question_row(query, language)
        budget = self.params.max_context_tokens - count_tokens(fence("question", question))
        prompt = load_prompt(ROLE, language)
        if not self.params.trust:
            context = [replace(item, trust=None) for item in context]
        elif any(item.trust is not None for item in context):
            prompt = with_addition(prompt, "trust")
        fitted = fit(context, max(0, budget))
        if fitted.left_out or fitted.cut:
            trace.warn(
                f"context cut to {len(fitted.items)} of {len(context)} items"
                f"{', the best one shortened,' if fitted.cut else ''} by reader.max_context_tokens"
            )
        fields: dict[str, Field] = {"messages": [item_row(item) for item in fitted.items], "question": question}
        said = await self._role.ask(prompt, fields, ReadReply, trace, span)
        confidence = said.confidence
        if confidence is not None and not 0.0 <= confidence <= 1.0:
            trace.warn("the model's confidence was no number from 0 to 1 and does not count")
            confidence = None
        offered = {id for item in fitted.items for id in item.message_ids}
        citations = known_ids(said.citations, offered, trace, "citation")
        text = said.answer.strip()
        if said.abstain:
            return Reading(text or UNKNOWN[language], True, (), confidence, fitted.items)
        return Reading(text, False, citations, confidence, fitted.items)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._role.aclose()


def known_ids(ids: Iterable[str], offered: Iterable[str], trace: Trace, what: str) -> tuple[str, ...]:
    """Return the ids that were offered, each once; a warning counts the others.

    A model copies an id as it was shown, so with blanks around it, or where an id holds characters that are shown as
    escapes, it may still be meant.
    """
    names = {id.strip(): id for id in offered} | {id: id for id in offered}
    found: dict[str, None] = {}
    strange = 0
    for id in ids:
        name = names.get(id) or names.get(id.strip())
        if name is None:
            strange += 1
        else:
            found[name] = None
    if strange:
        trace.warn(
            f"{strange} {what}{'s' if strange > 1 else ''} of the model dropped: no message of that id was shown"
        )
    return tuple(found)
