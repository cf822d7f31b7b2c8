"""Reranking by a language model: marks from 0 to 10, prompt by prompt, all at the same time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from memtrial.systems.base import Context, Evidence, Query, Span, Trace
from memtrial.systems.models.prompts import Field, fence, load_prompt
from memtrial.systems.models.prompts.shapes import RerankReply
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.models.tokens import count_tokens
from memtrial.systems.raw_log.asked import question_within
from memtrial.systems.raw_log.rerank.batches import Row, dealt, rows_within
from memtrial.systems.raw_log.rerank.marks import Marks, groups, placed, read_marks
from memtrial.systems.raw_log.rerank.params import ModelRerankParams
from memtrial.systems.raw_log.rerank.ranked import Reranked, arranged, repeated, tier_order

ROLE = "rerank"
# A mark without its sentence takes some 22 tokens; few messages of a prompt score so high that they have one.
TOKENS_PER_MARK = 30
_ODD = {
    "missing": "messages without a mark keep their place",
    "unreadable": "lines could not be read",
    "unknown_id": "marks for messages that were not shown dropped",
    "repeated_id": "second marks for a message dropped",
    "not_verbatim": "key sentences that stand in no message dropped",
    "unknown_same_as": "duplicates of unknown messages not merged",
    "other_numbers": "duplicates with other numbers not merged",
}


class ModelReranker:
    """Asks a model for marks and keeps of them what can be relied on.

    Args:
        params: settings.
        role: asks the model.
    """

    def __init__(self, params: ModelRerankParams, role: ModelRole) -> None:
        """Bind the reranker to its model."""
        self._params = params
        self._role = role

    @classmethod
    def of(cls, params: ModelRerankParams, context: Context) -> ModelReranker:
        """Make the reranker from its parameters and the run's settings for the role ``rerank``.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        return cls(params, ModelRole.of(ROLE, context, params))

    async def rerank(
        self, query: Query, items: Sequence[Evidence], scores: Sequence[float], trace: Trace, span: Span
    ) -> list[Reranked]:
        """Return the items, best first; see :meth:`Reranker.rerank`.

        Raises:
            ModelRoleError: as ``on_failure`` says.
        """
        params = self._params
        language = language_of(query.text, query.language)
        tier = tier_order(scores)
        question, used = question_within(query, language, params.max_context_tokens // 2, trace)
        budget = params.max_context_tokens - used - count_tokens(fence("messages", []))
        rows = rows_within(items, tier, min(params.max_message_tokens, max(20, budget - 20)), trace)
        batches = dealt(rows, min(params.batch, self._room()), budget)
        replies = await self._ask(batches, question, language, trace, span)
        marks = self._read(batches, replies, [item.text for item in items], trace)
        order, values = placed(tier, {index: score for one in marks for index, score in one.scores.items()})
        same = [pair for one in marks for pair in one.same]
        same += list(repeated(items, order, params.merge_hours).items())
        sentences = {index: sentence for one in marks for index, sentence in one.sentences.items()}
        return arranged(order, values, sentences, groups(same, order))

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._role.aclose()

    def _room(self) -> int:
        """Return how many messages a reply has room for, so that it is not cut and asked for again."""
        most = getattr(getattr(self._role.client, "settings", None), "max_tokens", None)
        return max(1, most // TOKENS_PER_MARK) if isinstance(most, int) else self._params.batch

    async def _ask(
        self, batches: Sequence[Sequence[tuple[int, Row]]], question: Row, language: str, trace: Trace, span: Span
    ) -> list[RerankReply | ModelRoleError]:
        prompt = load_prompt(ROLE, language)
        traces = [Trace() for _ in batches]
        spans = [Span(ROLE, 0.0) for _ in batches]

        async def one(place: int) -> RerankReply | ModelRoleError:
            rows = [{"id": f"c{number}", **row} for number, (_, row) in enumerate(batches[place], 1)]
            fields: dict[str, Field] = {"question": question, "messages": rows}
            try:
                return await self._role.ask(prompt, fields, RerankReply, traces[place], spans[place])
            except ModelRoleError as error:
                return error

        try:
            return list(await asyncio.gather(*(one(place) for place in range(len(batches)))))
        finally:
            self._add_up(traces, spans, trace, span)

    def _add_up(self, traces: Sequence[Trace], spans: Sequence[Span], trace: Trace, span: Span) -> None:
        """Add what the prompts took; side by side, they take as long as the longest, or as their sum in as many lanes."""
        lanes = max(
            1, int(getattr(getattr(self._role.client, "settings", None), "max_concurrency", None) or len(spans))
        )

        def together(times: list[float]) -> float:
            return max(max(times, default=0.0), sum(times) / lanes)

        span.model_ms += together([one.model_ms for one in spans])
        trace.replayed_ms += together([one.replayed_ms for one in traces])
        for one in traces:
            trace.llm_calls += one.llm_calls
            trace.facts.setdefault("prompts", {}).update(one.facts.get("prompts", {}))
            sent = trace.facts.setdefault("prompt_tokens", {})
            for role, tokens in one.facts.get("prompt_tokens", {}).items():
                sent[role] = sent.get(role, 0) + tokens
        for warning in dict.fromkeys(warning for one in traces for warning in one.warnings):
            trace.warn(warning)

    def _read(
        self,
        batches: Sequence[Sequence[tuple[int, Row]]],
        replies: Sequence[RerankReply | ModelRoleError],
        texts: Sequence[str],
        trace: Trace,
    ) -> list[Marks]:
        """Return the marks of every prompt that was answered.

        Raises:
            ModelRoleError: too few were.
        """
        failed = [reply for reply in replies if isinstance(reply, ModelRoleError)]
        limit = {"none": len(batches) + 1, "all": len(batches), "any": 1}[self._params.on_failure]
        if failed and len(failed) >= limit:
            raise failed[0]
        if failed:
            trace.warn(
                f"{len(failed)} of {len(batches)} prompts for reranking gave no marks, and the tier's order stays for"
                f" their messages: {failed[0]}"
            )
        marks = [
            read_marks(reply, [index for index, _ in batch], texts)
            for batch, reply in zip(batches, replies, strict=True)
            if not isinstance(reply, ModelRoleError)
        ]
        odd: Counter[str] = sum((one.odd for one in marks), Counter())
        trace.facts.setdefault("rerank", {}).update(batches=len(batches), failed=len(failed), **odd)
        for name, words in _ODD.items():
            if odd[name]:
                trace.warn(f"rerank: {odd[name]} {words}")
        return marks


__all__ = ["ModelReranker"]
