"""Scores the answers of a run with ragas' metrics, several at a time, each on its own: one that fails is one unscored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from memtrial.datasets.errors import UserError
from memtrial.metrics.ragas.adapter import AskingEmbeddings, AskingLLM, Embed, UnscoredError, load_ragas
from memtrial.metrics.ragas.samples import FindMessage, Sample, ruled, sample_of
from memtrial.metrics.ragas.scores import METRICS, Score, Summary, summarise
from memtrial.metrics.records import Record
from memtrial.systems.models.llm.outcome import ModelCallError
from memtrial.systems.models.role import ModelClient

# Questions that answer relevancy makes from an answer. At temperature 0 they would all be the same one.
STRICTNESS = 3


class Metric(Protocol):
    """What asks a model about a sample and returns an object with ``value``."""

    def __call__(self, metric: str, sample: Sample, llm: AskingLLM) -> Awaitable[Any]:
        """Score."""
        ...


class Row(BaseModel):
    """The scores of one answer, by metric."""

    model_config = ConfigDict(extra="forbid")

    trial: str
    dataset: str
    corpus_id: str
    question_id: str
    repeat: int = 0
    scores: dict[str, Score]


def ragas_metric(embed: Embed, *, strictness: int = 1) -> Metric:
    """Return the function that asks ragas.

    Args:
        embed: gives the vector of a text, for answer relevancy and answer correctness.
        strictness: questions made from an answer by answer relevancy.

    Raises:
        MissingExtraError: ragas is not installed.
    """
    library = load_ragas()
    embeddings = AskingEmbeddings(embed)

    async def score(metric: str, sample: Sample, llm: AskingLLM) -> Any:
        asked: dict[str, Any] = {"user_input": sample.question}
        contexts = list(sample.contexts)
        if metric == "faithfulness":
            return await library.Faithfulness(llm=llm).ascore(
                **asked, response=sample.response, retrieved_contexts=contexts
            )
        if metric == "answer_relevancy":
            scorer = library.AnswerRelevancy(llm=llm, embeddings=embeddings, strictness=strictness)
            return await scorer.ascore(**asked, response=sample.response)
        if metric == "context_precision":
            scorer = library.ContextPrecisionWithReference(llm=llm)
            return await scorer.ascore(**asked, reference=sample.reference, retrieved_contexts=contexts)
        if metric == "context_recall":
            scorer = library.ContextRecall(llm=llm)
            return await scorer.ascore(**asked, reference=sample.reference, retrieved_contexts=contexts)
        if metric == "answer_correctness":
            scorer = library.AnswerCorrectness(llm=llm, embeddings=embeddings)
            return await scorer.ascore(**asked, response=sample.response, reference=sample.reference)
        raise ValueError(metric)

    return score


async def score_records(
    records: Iterable[Record],
    find: FindMessage,
    client: ModelClient,
    ask: Metric,
    *,
    metrics: Sequence[str] = METRICS,
    limit_s: float = 600.0,
    at_once: int = 16,
    done: Callable[[], None] = lambda: None,
) -> list[Row]:
    """Score answers.

    Args:
        records: of a run.
        find: gives a message by its id.
        client: asks the model.
        ask: from :func:`ragas_metric`.
        metrics: which of ``METRICS``.
        limit_s: longest wait for one metric on one answer.
        at_once: answers under way at a time.
        done: called after each answer.

    Returns:
        A row for every record, in order; every metric has a score in it, with or without a value.

    Raises:
        RunStop: quota, key or budget rule out every further call; what was asked is in the client's store.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(record: Record) -> Row:
        sample = sample_of(record, find)
        scores: dict[str, Score] = {}
        async with gate:
            for metric in metrics:
                score = ruled(metric, sample)
                if score is None:
                    score = await _asked(metric, sample, AskingLLM(client, trial=record.trial), ask, limit_s)
                scores[metric] = score
        done()
        result = record.result
        return Row(
            trial=record.trial,
            dataset=result.dataset,
            corpus_id=result.corpus_id,
            question_id=result.question_id,
            repeat=result.repeat,
            scores=scores,
        )

    tasks = [asyncio.ensure_future(one(record)) for record in records]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _asked(metric: str, sample: Sample, llm: AskingLLM, ask: Metric, limit_s: float) -> Score:
    try:
        async with asyncio.timeout(limit_s):
            result = await ask(metric, sample, llm)
    except UserError:  # RunStop too: every further call would end the same way
        raise
    except TimeoutError:
        return Score.missing("timeout", f"no score within {limit_s:g} s")
    except UnscoredError as error:
        return Score.missing(error.reason, str(error))
    except ModelCallError as error:
        return Score.missing(f"embed_{error.reply.status}", error.reply.detail)
    except Exception as error:  # noqa: BLE001 - whatever a metric raises is this answer's, never the run's
        return Score.missing("raised", type(error).__name__)  # its text may quote the prompt
    return Score.of(getattr(result, "value", result))


def summaries(rows: Iterable[Row], metrics: Sequence[str] = METRICS) -> list[Summary]:
    """Return a summary for every trial, data set and metric, in the order of their first rows."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.trial, row.dataset), []).append(row)
    return [
        summarise((row.scores[metric] for row in group), trial=trial, dataset=dataset, metric=metric)
        for (trial, dataset), group in groups.items()
        for metric in metrics
    ]
