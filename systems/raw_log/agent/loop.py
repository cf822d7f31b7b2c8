"""The agent: a model holds the tools, looks until it knows, and answers; every step is bounded and in the trace."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from memtrial.systems.base import Context, Evidence, Query, Span, Trace
from memtrial.systems.models.prompts import load_prompt, with_addition
from memtrial.systems.models.reader.reading import UNKNOWN
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.role import ModelRole, ModelRoleError, model_span
from memtrial.systems.raw_log.agent.params import AgentParams
from memtrial.systems.raw_log.agent.shown import Board, ToolError
from memtrial.systems.raw_log.agent.talk import Protocol, Said, Talk
from memtrial.systems.raw_log.agent.tools import ANSWER, TOOLS, Call, Final, LogTools, checked, look
from memtrial.systems.raw_log.asked import question_within

ROLE = "agent"
_ARGUMENT_CHARS = 200
_ABOUT_TOOLS = re.compile(r"\btools?\b|tool_choice|function.?call", re.IGNORECASE)
_NOW = f"You must answer now: call {ANSWER}. If what you have seen does not hold the answer, abstain."
_NO_CALL = f"Your reply calls no tool. Call one; {ANSWER} gives the final answer."
_REPEATED = "You made this very call before. Look for something else, or answer."
_UNCITED = "The answer cites no message that was shown. Cite the messages that it rests on, look further, or abstain."
_WORDLESS = 'The answer is empty. Say it in "answer", or abstain.'


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What an agent found.

    Attributes:
        text: the answer in words.
        citations: ids of messages that were shown.
        confidence: in [0, 1], None where the model gave none.
        abstained: the log does not hold the answer, says the model.
        seen: every message shown: those cited first, as cited, then the others as they were shown.
        open_points: what stays unsettled.
    """

    text: str
    citations: tuple[str, ...]
    confidence: float | None
    abstained: bool
    seen: tuple[Evidence, ...]
    open_points: tuple[str, ...] = ()


@dataclass(slots=True)
class _State:
    """How far a question has come."""

    talk: Talk
    board: Board
    steps: list[dict[str, Any]] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    repeats: int = 0
    tokens: int = 0
    turns: int = 0
    told_to_answer: int = 0
    sent_back: bool = False


class AgentLoop:
    """Lets a model search the log until it answers.

    Args:
        params: settings.
        context: of the system; names the model of the role ``agent``.
        tools: look into the log.
        role: asks the model; made from the context otherwise.

    Raises:
        UserError: no model is named, or its settings are wrong.
    """

    def __init__(
        self, params: AgentParams, context: Context, tools: LogTools, *, role: ModelRole | None = None
    ) -> None:
        """Bind the agent to its model and its tools."""
        self._params, self._tools = params, tools
        self._role = role or ModelRole.of(ROLE, context, params)
        self._refused = False  # the server takes no tools

    async def answer(self, query: Query, trace: Trace) -> AgentResult:
        """Search and answer.

        Args:
            query: the question.
            trace: gets the spans ``agent`` (the model) and ``agent_tools``; ``facts["agent"]``, a row for each call with
                its step, tool, arguments, hits, messages shown for the first time, tokens of the step and error; and
                ``facts["agent_end"]``: protocol, replies, tokens, how it ended.

        Raises:
            ModelRoleError: the model gave no usable reply, or no answer within its limits: an error, no abstention.
        """
        params = self._params
        state = self._begin(query, "json" if params.protocol == "json" or self._refused else "tools", trace)
        end = "no_answer"
        try:
            while state.turns < params.steps and state.told_to_answer < 2:
                last = self._must_answer(state)
                if last:
                    state.told_to_answer += 1
                    state.talk.tell(None, _NOW)
                with model_span(trace, ROLE) as span:
                    said = await self._hear(state, last, trace, span)
                if self._without_tools(said, state):
                    state.talk = self._begin(query, "json", trace).talk
                    state.talk.board = state.board
                    continue
                result = await self._act(said, state, query, trace, last)
                if result is not None:
                    end = "abstained" if result.abstained else "answered"
                    return result
            raise ModelRoleError(ROLE, "invalid", f"no final answer in {state.turns} replies")
        except ModelRoleError as error:
            end = end if error.status == "invalid" else error.status
            raise
        finally:
            trace.facts["agent"] = state.steps
            told = {"protocol": state.talk.protocol, "replies": state.turns, "tokens": state.tokens, "end": end}
            trace.facts["agent_end"] = {**told, "shown": len(state.board.seen), "taken_out": state.talk.taken_out}
            if state.talk.taken_out:
                trace.warn(f"agent: {state.talk.taken_out} results taken out of the prompt by agent.max_context_tokens")
            state.board.warn(trace)

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._role.aclose()

    def _begin(self, query: Query, protocol: Protocol, trace: Trace) -> _State:
        params = self._params
        language = language_of(query.text, query.language)
        prompt = load_prompt(ROLE, language)
        if protocol == "json":
            prompt = with_addition(prompt, "json")
        trace.facts.setdefault("prompts", {})[ROLE] = prompt.ident
        question, _ = question_within(query, language, params.max_context_tokens // 4, trace)
        board = Board(params.max_message_tokens, params.max_result_tokens)
        messages = prompt.render(question=question, steps=params.steps)
        return _State(Talk(self._role, protocol, messages, board, params.max_context_tokens), board)

    def _must_answer(self, state: _State) -> bool:
        params = self._params
        return (
            state.turns + 1 >= params.steps
            or state.tokens >= params.max_total_tokens
            or state.repeats > params.repeats
            or state.told_to_answer > 0
        )

    async def _hear(self, state: _State, last: bool, trace: Trace, span: Span) -> Said:
        said = await state.talk.hear([TOOLS[ANSWER]] if last else list(TOOLS.values()), trace, span)
        state.turns += 1
        state.tokens += said.reply.usage.prompt + said.reply.usage.completion
        return said

    def _without_tools(self, said: Said, state: _State) -> bool:
        """Whether the dialogue has to begin anew with calls as text."""
        if self._params.protocol != "auto" or state.talk.protocol == "json" or state.made:
            return False
        refused = said.reply.status == "bad_request" and _ABOUT_TOOLS.search(said.reply.detail) is not None
        ignored = said.reply.ok and not said.calls and state.turns < self._params.steps
        self._refused = self._refused or refused
        state.turns -= refused  # nothing was said
        if ignored:
            state.steps.append(_row(state, said, Call("", {}), error="the reply calls no tool"))
        return refused or ignored

    async def _act(self, said: Said, state: _State, query: Query, trace: Trace, last: bool) -> AgentResult | None:
        """Do what a reply asks for; returns the answer if it holds one.

        Raises:
            ModelRoleError: it is no reply to go on with.
        """
        if said.reply.status not in ("ok", "empty", "invalid"):
            state.steps.append(_row(state, said, Call("", {}), error=said.reply.status))
            raise ModelRoleError(ROLE, said.reply.status, said.reply.detail)
        if not said.calls:
            fault = "the reply calls no tool" if said.reply.ok else said.reply.detail
            state.steps.append(_row(state, said, Call("", {}), error=fault[:_ARGUMENT_CHARS]))
            state.talk.tell(None, _NO_CALL)
        for number, call in enumerate(said.calls):
            row = _row(state, said, call) if number == 0 else _row(state, None, call)
            state.steps.append(row)
            try:
                if number >= self._params.calls_per_step:
                    raise ToolError(f"not done: at most {self._params.calls_per_step} calls in one reply")
                if call.tool == ANSWER:
                    return self._final(call, state, query, trace, last)
                if last:
                    raise ToolError(_NOW)
                await self._look(call, row, state, query, trace)
            except ToolError as error:
                row["error"] = str(error)[:_ARGUMENT_CHARS]
                state.talk.tell(call, str(error))
        return None

    async def _look(self, call: Call, row: dict[str, Any], state: _State, query: Query, trace: Trace) -> None:
        if call.key in state.made:
            state.repeats += 1
            raise ToolError(_REPEATED)
        state.made.add(call.key)
        with trace.span("agent_tools"):
            found = await look(call, self._tools, state.board, query, trace, self._params)
        before = len(state.board.seen)
        text, whole = state.board.show(found)
        row |= {"hits": len(found), "new": len(state.board.seen) - before}
        state.talk.tell(call, text if found else f"{text}\nNothing found.", whole)

    def _final(self, call: Call, state: _State, query: Query, trace: Trace, last: bool) -> AgentResult:
        """Return the answer.

        Raises:
            ToolError: it has to be given again.
        """
        final = checked(call)
        assert isinstance(final, Final)
        if not final.abstain and not final.answer:
            raise ToolError(_WORDLESS)
        cited, strange = state.board.cited(final.citations)
        if not final.abstain and not cited and self._params.cite and not state.sent_back and not last:
            state.sent_back = True
            raise ToolError(_UNCITED)
        if strange:
            trace.warn(f"agent: {strange} citation{'s' if strange > 1 else ''} dropped: no such message was shown")
        if not final.abstain and not cited:
            trace.warn("agent: the answer cites no message that was shown")
        seen = state.board.seen
        first = [seen[number] for number in cited]
        ids = () if final.abstain else tuple(dict.fromkeys(id for item in first for id in item.message_ids))
        others = [item for number, item in enumerate(seen) if number not in set(cited)]
        text = final.answer or UNKNOWN[language_of(query.text, query.language)]
        return AgentResult(
            text, ids, final.confidence, final.abstain, (*first, *others), tuple(p for p in final.open_points if p)
        )


def _row(state: _State, said: Said | None, call: Call, error: str = "") -> dict[str, Any]:
    usage = said.reply.usage if said is not None else None
    row: dict[str, Any] = {
        "step": state.turns,
        "tool": call.tool[:40],
        "arguments": json.dumps(call.arguments, ensure_ascii=False, default=str)[:_ARGUMENT_CHARS],
        "hits": 0,
        "tokens": usage.prompt + usage.completion if usage is not None else 0,
    }
    return row | {"error": error} if error else row


__all__ = ["AgentLoop", "AgentResult"]
