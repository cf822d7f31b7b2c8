"""What a search of the raw log asks models, before anything is asked: plans and their check, marks, answers, an agent's steps.

How often a model is asked, and what it is shown, depends on what is found. So the bounds lie far apart: the low end has what
is asked in any case with the shortest messages, the high end all that the limits of the parameters allow, with the longest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from memtrial.datasets.schema import Question
from memtrial.experiments.plan import query_of
from memtrial.experiments.priced_rows import Counted
from memtrial.systems.base import Query
from memtrial.systems.models.llm.projection import count_prompt
from memtrial.systems.models.prompts import Field, load_prompt, with_addition
from memtrial.systems.models.reader.shown import question_row
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.tokens import count_tokens
from memtrial.systems.raw_log.agent.tools import TOOLS
from memtrial.systems.raw_log.rerank.model import TOKENS_PER_MARK

if TYPE_CHECKING:
    from memtrial.systems.models.llm.settings import ModelSettings

# Most tokens of what stands around data: ids, names and time of a message; the fence around a result.
_AROUND_TEXT, _FENCE = 100, 40
# A message's own id gives way to a short one, which may be the longer of the two.
_MARK = 4
_Bounds = tuple[int, int]


def search_prompts(
    role: str, params: Mapping[str, Any], settings: ModelSettings, counted: Counted, question: Question
) -> list[_Bounds] | None:
    """Return least and most tokens of every prompt that one question may take; a least of 0 may not be sent at all.

    Args:
        role: of the model.
        params: all parameters of ``raw_log``.
        settings: of the model.
        counted: the messages.
        question: what is asked.

    Returns:
        None for a role that a search of the raw log does not have.
    """
    query = query_of(question, question.id)
    if role == "plan":
        return list(_plan(query, params["planner"], settings))
    if role == "rerank":
        return list(_rerank(query, params, settings, counted, question))
    if role == "read":
        return [_read(query, params, counted, question)]
    if role == "agent":
        return _agent(query, params["agent"], settings)
    return None


def _plan(query: Query, planner: Mapping[str, Any], settings: ModelSettings) -> Iterator[_Bounds]:
    exact = _base("plan", query)
    # At temperature 0 all votes ask the same, and that is paid once.
    for _ in range(planner["votes"] if settings.temperature > 0 else 1):
        yield exact, exact
    if planner["check"]:
        # A majority of n plans holds no more than twice the instructions of one, told in about as many tokens.
        yield 0, _base("check", query, instructions=[]) + 2 * settings.max_tokens


def _rerank(
    query: Query, params: Mapping[str, Any], settings: ModelSettings, counted: Counted, question: Question
) -> Iterator[_Bounds]:
    rerank = params["rerank"]
    short, long = _extremes(counted, question, params["tiers"]["pool"], rerank["max_message_tokens"])
    if not long:
        return
    base = _base("rerank", query, messages=[])
    budget = max(1, rerank["max_context_tokens"] // 2)
    prompts = -(-len(long) // min(rerank["batch"], max(1, settings.max_tokens // TOKENS_PER_MARK)))
    while prompts < len(long) and sum(long[: -(-len(long) // prompts)]) > budget:
        prompts += 1
    # Vectors propose something for every question; words alone may find nothing.
    yield (base + short[0] if params["tiers"]["meaning"] else 0), base + -(-sum(long) // prompts)
    for _ in range(prompts - 1):
        yield 0, base + -(-sum(long) // prompts)


def _read(query: Query, params: Mapping[str, Any], counted: Counted, question: Question) -> _Bounds:
    shown = params["shown"]
    most = shown["items"] * (1 + 2 * shown["neighbours"])
    _, long = _extremes(counted, question, most, shown["max_item_tokens"] + _AROUND_TEXT)
    base = _base("read", query, messages=[])
    context = min(sum(long), shown["max_tokens"] + _AROUND_TEXT * len(long), params["reader"]["max_context_tokens"])
    return (0 if shown["least_score"] else base), base + context


def _agent(query: Query, agent: Mapping[str, Any], settings: ModelSettings) -> list[_Bounds]:
    steps, language = agent["steps"], language_of(query.text, query.language)
    question = question_row(query, language)
    prompt = load_prompt("agent", language)
    as_text = count_prompt(with_addition(prompt, "json").render(question=question, steps=steps))
    with_tools = count_prompt(prompt.render(question=question, steps=steps))
    with_tools += count_tokens(json.dumps([tool.wire() for tool in TOOLS.values()]))
    low = {"tools": with_tools, "json": as_text}.get(agent["protocol"], min(as_text, with_tools))
    high = max(as_text, with_tools)
    # A reply stays in the dialogue, and what is told to a wrong call is no longer than the call; results give way.
    said = 2 * settings.max_tokens + _FENCE
    found = agent["calls_per_step"] * (agent["max_result_tokens"] + _FENCE)
    prompts = [
        min(high + step * (said + found), max(agent["max_context_tokens"], high + step * said)) for step in range(steps)
    ]
    # Once the tokens are used up, it is told to answer, at most twice.
    most = agent["max_total_tokens"] + 2 * prompts[-1]
    whole = sum(prompts)
    if whole > most:
        prompts = [-(-tokens * most // whole) for tokens in prompts]
    return [(low if step == 0 else 0, tokens) for step, tokens in enumerate(prompts)]


def _base(role: str, query: Query, **fields: Field) -> int:
    language = language_of(query.text, query.language)
    given: dict[str, Field] = {"question": question_row(query, language), **fields}
    return count_prompt(load_prompt(role, language).render(**given))


def _extremes(counted: Counted, question: Question, count: int, most: int) -> tuple[list[int], list[int]]:
    """Return tokens of the tenant's shortest messages and of its longest, at most ``count`` each, none above ``most``."""
    count = min(count, len(counted.before(question.tenant_id, question)))
    sums = counted.extremes(question.tenant_id, count)
    short, long = ([after - before for before, after in pairwise(s)] for s in sums)
    return [min(tokens, most) for tokens in short], [min(tokens, most) + _MARK for tokens in long]
