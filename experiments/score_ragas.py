"""ragas.json beside a run: ragas' scores of its answers, replayable, and apart from every figure of memtrial's own."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.ragas_file import RAGAS, RagasFile
from memtrial.experiments.rejudge import answers_hash
from memtrial.experiments.store import Run, read_run, write_json
from memtrial.metrics.ragas.adapter import ROLE, Embed, load_ragas
from memtrial.metrics.ragas.samples import RULES
from memtrial.metrics.ragas.scores import METRICS, Summary
from memtrial.metrics.ragas.scoring import STRICTNESS, Metric, Row, ragas_metric, score_records, summaries
from memtrial.metrics.records import Record
from memtrial.systems.models.llm.budget import Budget
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CALLS, CallStore

Replay = Literal["off", "prefer", "only"]
REPLAYS: tuple[Replay, ...] = ("off", "prefer", "only")

_LOCAL: Literal["e5"] = "e5"


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of it.

    Attributes:
        file: where it is written.
        summaries: by trial, data set and metric.
        ledger: what was asked and paid.
        rows: by answer.
        questions: number of questions scored, and of those in the run.
    """

    file: Path
    summaries: list[Summary]
    rows: list[Row]
    ledger: Ledger
    questions: tuple[int, int]

    def render(self) -> str:
        """Return the table that is printed."""
        width = max((len(f"{s.trial} {s.dataset}") for s in self.summaries), default=0)
        lines = []
        for s in self.summaries:
            why = ", ".join(
                f"{count} {reason.partition(':')[2]}"
                for reason, count in s.by_reason.items()
                if reason.startswith("unscored:")
            )
            unscored = f"; unscored: {why}" if why else ""
            lines.append(f"{f'{s.trial} {s.dataset}':<{width}}  {s.metric:<18}  {s.show()}{unscored}")
        return "\n".join(lines)

    def above(self, share: float) -> list[Summary]:
        """Return the summaries of which a larger share is unscored."""
        return [s for s in self.summaries if s.unscored_share > share]


def score_run(
    folder: Path,
    settings: ModelSettings,
    *,
    embedding_model: str | None = None,
    metrics: Sequence[str] = METRICS,
    replay: Replay = "prefer",
    limit: int | None = None,
    budget_usd: float | None = None,
    ask: Metric | None = None,
    embed: Embed | None = None,
) -> Scored:
    """Score a run and write ragas.json.

    Args:
        folder: of the run.
        settings: the model that judges.
        embedding_model: of the same endpoint; None takes the embedder that comes with memtrial.
        metrics: which of ``METRICS``.
        replay: as for ``Client``; calls are recorded in the run's own file.
        limit: at most this many questions, the same for every trial.
        budget_usd: most that may be paid.
        ask: what asks instead of ragas, for tests.
        embed: what embeds instead, for tests.

    Raises:
        UserError: no run, no such metric, ragas or the key is missing, the budget is spent.
    """
    for name in metrics:
        if name not in METRICS:
            raise UserError(
                f"there is no metric {name!r}; there are: {', '.join(METRICS)}{did_you_mean(name, METRICS)}"
            )
    strictness = 1 if settings.temperature == 0 else STRICTNESS
    run = read_run(folder)
    if ask is None:
        load_ragas()  # before anything is asked
    records, total = _chosen(run, limit)
    store = CallStore(folder / CALLS, secrets=[os.environ.get(settings.api_key_env, "")])
    ledger = Ledger()
    budget = Budget(budget_usd) if budget_usd is not None else None

    async def score() -> list[Row]:
        client = Client(settings, store=store, ledger=ledger, replay=replay, budget=budget)
        vectors, make = None, embed
        if make is None and embedding_model is not None:
            own = settings.model_copy(update={"model": embedding_model, "price": None})
            vectors = Client(own, store=store, ledger=ledger, replay=replay, budget=budget)
            make = _endpoint(vectors)
        try:
            asking = ask or ragas_metric(make or _local(), strictness=strictness)
            return await score_records(
                records, run.message, client, asking, metrics=metrics, at_once=settings.max_concurrency
            )
        finally:
            await client.aclose()
            if vectors is not None:
                await vectors.aclose()

    try:
        rows = asyncio.run(score())
    finally:
        store.close()
    table = summaries(rows, metrics)
    asked = len({_question(r) for r in records})
    file = RagasFile(
        answers=answers_hash(run.records),
        ragas=_version(),
        model=settings.identity(),
        embeddings=embedding_model or _LOCAL,
        strictness=strictness,
        questions={"scored": asked, "in_run": total, "run_complete": run.complete},
        rules=RULES,
        usage=_usage(ledger),
        summaries=table,
        rows=rows,
    )
    write_json(folder / RAGAS, file.model_dump(mode="json"))
    return Scored(folder / RAGAS, table, rows, ledger, (asked, total))


def settings_of(model: str, base_url: str | None, api_key_env: str) -> ModelSettings:
    """Return the judge's settings: temperature 0, so that it scores alike each time.

    Raises:
        UserError: the address or the name of the variable is none; a value that may be a key is not quoted.
    """
    try:
        return ModelSettings(model=model, base_url=base_url, api_key_env=api_key_env, max_tokens=4096)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise UserError(f"{option} {first['msg'].removeprefix('Value error, ')}") from None


def replay_of(value: str) -> Replay:
    """Return the replay mode of that name.

    Raises:
        UserError: there is none.
    """
    for known in REPLAYS:
        if value == known:
            return known
    raise UserError(f"--replay is {value!r}; allowed: {', '.join(REPLAYS)}{did_you_mean(value, REPLAYS)}")


def _question(record: Record) -> tuple[str, str, str]:
    return record.result.dataset, record.result.corpus_id, record.result.question_id


def _chosen(run: Run, limit: int | None) -> tuple[list[Record], int]:
    """Return the records of at most ``limit`` questions, drawn by hash so that no data set's beginning is preferred."""
    names = {_question(record) for record in run.records}
    drawn = sorted(names, key=lambda name: hashlib.sha256("\x1f".join(name).encode("utf-8", "replace")).digest())
    kept = set(drawn if limit is None else drawn[:limit])
    records = [record for record in run.records if _question(record) in kept]
    return sorted(records, key=lambda r: (r.trial, *_question(r), r.result.repeat)), len(names)


def _usage(ledger: Ledger) -> dict[str, Any]:
    """Return what scoring each trial takes, replayed or not: the same figures after a replay."""
    out: dict[str, Any] = {}
    for (role, trial), sums in ledger.totals("role", "trial").items():
        if role == ROLE:
            out[trial] = {"prompt": sums.prompt, "completion": sums.completion, "usd": sums.usd}
    return out


def _endpoint(client: Client) -> Embed:
    async def embed(text: str) -> Sequence[float]:
        return (await client.embed([text], phase="evaluation"))[0]

    return embed


def _local() -> Embed:
    from memtrial.systems.models.embedders import make_embedder

    model = make_embedder(_LOCAL, dims=0, seed=0, cache_dir=None)

    async def embed(text: str) -> Sequence[float]:
        return [float(x) for x in model.query(text)]

    return embed


def _version() -> str | None:
    try:
        return metadata.version("ragas")
    except metadata.PackageNotFoundError:
        return None
