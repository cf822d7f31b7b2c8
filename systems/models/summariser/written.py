"""A rolling summary that a language model writes, each line with the messages it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.systems.base import Context, Evidence, Span, Trace
from memtrial.systems.models.prompts import Field, load_prompt
from memtrial.systems.models.prompts.shapes import SummaryLine, SummaryReply
from memtrial.systems.models.reader.model_reader import known_ids
from memtrial.systems.models.reader.shown import item_row, shorten
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.models.summariser.params import ModelSummariserParams
from memtrial.systems.models.tokens import count_tokens

ROLE = "summarise"
# These have to do with what the messages say: asking again, or asking the next question, would not end differently. The
# messages are lost to the summary then. Where the model was not reached, nothing is known and the hand-over fails.
_LOST = frozenset({"refused", "filtered", "truncated", "empty", "invalid", "tool_call"})


class WrittenSummary:
    """The summary of one stream of messages, as the model last wrote it."""

    def __init__(self, params: ModelSummariserParams, role: ModelRole, tokens: int) -> None:
        """Start empty."""
        self._params = params
        self._role = role
        self._budget = tokens
        self._sources: dict[str, Evidence] = {}
        self.lines: tuple[Evidence, ...] = ()

    async def fold(self, items: Sequence[Evidence], trace: Trace, span: Span) -> None:
        """Let the model rewrite the summary with messages that have scrolled away.

        Raises:
            ModelRoleError: the model was not reached; the summary is as before.
        """
        items = [item for item in items if item.text.strip()]
        if not items:
            return
        share = self._params.max_context_tokens // len(items)
        shown = [shorten(item, share) for item in items]
        if cut := sum(short is not item for short, item in zip(shown, items, strict=True)):
            trace.warn(f"{cut} of {len(items)} messages cut for the summary by summariser.max_context_tokens")
        language = language_of("\n".join(item.text for item in items))
        fields: dict[str, Field] = {
            "summary": [{"text": line.text, "sources": list(line.message_ids)} for line in self.lines],
            "messages": [item_row(item) for item in shown],
            "tokens": self._budget,
        }
        try:
            said = await self._role.ask(load_prompt(ROLE, language), fields, SummaryReply, trace, span)
        except ModelRoleError as error:
            if error.status not in _LOST:
                raise
            trace.warn(f"{len(items)} messages are not in the summary: {error}")
            return
        offered = {line_id: self._sources[line_id] for line in self.lines for line_id in line.message_ids}
        offered |= {id: item for item in items for id in item.message_ids}
        self.lines = self._within_budget([self._line(line, offered, items[-1], trace) for line in said.lines], trace)
        self._sources = {id: offered[id] for line in self.lines for id in line.message_ids}

    def _line(self, line: SummaryLine, offered: dict[str, Evidence], newest: Evidence, trace: Trace) -> Evidence:
        ids = known_ids(line.sources, offered, trace, "source")
        behind = [offered[id] for id in ids] or [newest]
        times = [item.timestamp for item in behind if item.timestamp is not None]
        tenant = behind[-1].tenant_id
        return Evidence(line.text.strip(), 0.0, ids, tenant, kind="summary", timestamp=max(times, default=None))

    def _within_budget(self, lines: Sequence[Evidence], trace: Trace) -> tuple[Evidence, ...]:
        kept: list[Evidence] = []
        left = self._budget
        wanted = [line for line in lines if line.text]
        for line in wanted:
            left -= count_tokens(line.render()) + 1
            if left < 0:
                trace.warn(f"the model's summary was cut to its first {len(kept)} of {len(wanted)} lines by tokens")
                break
            kept.append(line)
        return tuple(kept)


class WrittenSummariser:
    """Makes summaries that a language model writes."""

    def __init__(self, params: ModelSummariserParams, role: ModelRole) -> None:
        """Bind the summariser to its model."""
        self._params = params
        self._role = role

    @classmethod
    def of(cls, params: ModelSummariserParams, context: Context) -> WrittenSummariser:
        """Make the summariser from its parameters and the run's settings for the role ``summarise``.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        return cls(params, ModelRole.of(ROLE, context, params, phase="ingest"))

    def start(self, tokens: int) -> WrittenSummary:
        """Return an empty summary with a budget."""
        return WrittenSummary(self._params, self._role, tokens)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._role.aclose()
