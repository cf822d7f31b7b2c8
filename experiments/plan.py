"""From a configuration to everything that will be asked, each question with an identity that survives a restart."""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import orjson

from memtrial.datasets.again import second_times
from memtrial.datasets.check import check_dataset
from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Corpus, Dataset, Message, Question
from memtrial.experiments.config import Config
from memtrial.experiments.models import models_identity, roles_of
from memtrial.experiments.sweep import DataVariant, SystemVariant, expand
from memtrial.metrics.records import TrialInfo
from memtrial.systems.base import Query
from memtrial.systems.registry import SystemFactory, resolve

if TYPE_CHECKING:
    from memtrial.systems.models.llm.settings import ModelSettings

# Raised when the same inputs would no longer give the same results for a reason that no fingerprint sees,
# such as a change in what the runner hands to a system.
IDENTITY_VERSION = 1


@dataclass(frozen=True, slots=True)
class CorpusPlan:
    """One memory: its messages in time order and the questions in the order of asking.

    Attributes:
        corpus: the corpus itself.
        messages: in time order.
        questions: the planned ones, by ``asked_at`` (file order breaks ties).
        upto: for each question, how many of the messages are handed over before it is asked.
        log: messages by id.
    """

    corpus: Corpus
    messages: list[Message]
    questions: list[Question]
    upto: list[int]
    log: dict[str, Message]


@dataclass(frozen=True, slots=True)
class DataPlan:
    """A loaded data variant and what will be asked over it.

    ``faults`` are the errors that ``memtrial datasets check`` finds in its labels: figures over it are in doubt.
    """

    variant: DataVariant
    dataset: Dataset
    fingerprint: str
    corpora: list[CorpusPlan]
    faults: tuple[str, ...] = ()

    @property
    def planned(self) -> int:
        """Number of planned questions."""
        return sum(len(c.questions) for c in self.corpora)

    @property
    def messages(self) -> int:
        """Number of messages that one system will be given."""
        return sum(c.upto[-1] for c in self.corpora)


@dataclass(frozen=True, slots=True)
class Unit:
    """One trial on one data variant, all repeats; ``models`` holds the settings of the roles that it can use."""

    info: TrialInfo
    factory: SystemFactory
    data: DataPlan
    models: Mapping[str, ModelSettings] = field(default_factory=dict)

    def key(self, repeat: int, corpus_id: str, question_id: str) -> str:
        """Identity of one question in this trial; equal in every run of the same plan."""
        return _digest(self.info.unit, str(repeat), str(self.seed(repeat)), corpus_id, question_id)

    def seed(self, repeat: int) -> int:
        """Seed that the system is given in that repeat."""
        seeds: list[int] = self.info.facts["seeds"]
        return seeds[repeat]


@dataclass(frozen=True, slots=True)
class Plan:
    """All trials of a run, in the order in which they run."""

    config: Config
    data: dict[str, DataPlan]
    units: list[Unit]

    @property
    def planned(self) -> int:
        """Number of questions over all trials and repeats: the denominator that is fixed before the run."""
        return sum(unit.info.planned * unit.info.repeats for unit in self.units)

    def questions(self) -> Iterator[tuple[str, Unit, int, CorpusPlan, Question]]:
        """Yield every planned question with its key, in the order of asking."""
        for unit in self.units:
            for repeat in range(unit.info.repeats):
                for part in unit.data.corpora:
                    for question in part.questions:
                        yield unit.key(repeat, part.corpus.id, question.id), unit, repeat, part, question


def make_plan(config: Config) -> Plan:
    """Load the data, expand the sweeps and give every question its identity.

    Raises:
        UserError: if data cannot be loaded or holds no question.
    """
    data: dict[str, DataPlan] = {}
    units: list[Unit] = []
    for system, variant in expand(config.vary, config.systems, config.data):
        if variant.label not in data:
            data[variant.label] = _load(variant, config.limit)
        units.append(_unit(config, system, data[variant.label], units))
    return Plan(config, data, units)


def query_of(question: Question, key: str) -> Query:
    """Return what a system may see of a question; the id is a hash that says nothing about it."""
    return Query(
        id=_digest("query", key)[:16],
        tenant_id=question.tenant_id,
        asker=question.asker,
        asked_at=question.asked_at,
        text=question.text,
        history=question.history,
        language=question.language,
        options=question.options,
    )


def select(dataset: Dataset, limit: int | None) -> dict[str, list[Question]]:
    """Choose at most ``limit`` questions: one of every corpus in turn, spread over the categories as the corpus is.

    Files often hold their questions sorted by kind, so the head of a file is no sample of it. A larger limit chooses a
    superset, so that a run can be grown. A question that is asked twice is chosen with its second time.
    """
    chosen: dict[str, list[Question]] = {corpus.id: [] for corpus in dataset.corpora}
    left = limit if limit is not None else sum(len(c.questions) for c in dataset.corpora)
    second = {corpus.id: second_times(corpus.questions) for corpus in dataset.corpora}
    spread = []
    for corpus in dataset.corpora:
        later = {question.id for question in second[corpus.id].values()}
        spread.append(_spread([question for question in corpus.questions if question.id not in later]))
    for turn in zip_longest(*spread):
        for corpus, question in zip(dataset.corpora, turn, strict=True):
            if question is not None and left > 0:
                own = [question, *filter(None, [second[corpus.id].get(question.id)])][:left]
                chosen[corpus.id] += own
                left -= len(own)
    return chosen


def _spread(questions: Sequence[Question]) -> list[Question]:
    """Order questions so that every beginning holds each category in about its share; within one, by a hash of the id."""
    by_category: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda q: hashlib.sha256(q.id.encode()).digest()):
        by_category.setdefault(question.category, []).append(question)
    places = [
        ((place + 0.5) / len(own), category, question)
        for category, own in by_category.items()
        for place, question in enumerate(own)
    ]
    return [question for _, _, question in sorted(places, key=lambda p: p[:2])]


def _load(variant: DataVariant, limit: int | None) -> DataPlan:
    dataset = load_dataset(variant.spec)
    chosen = select(dataset, limit)
    corpora = []
    for corpus in dataset.corpora:
        if chosen[corpus.id]:
            # Of those chosen, too, the file's order breaks ties: a question asked again at one moment comes after the first time.
            place = {q.id: number for number, q in enumerate(corpus.questions)}
            questions = sorted(chosen[corpus.id], key=lambda q: (q.asked_at, place[q.id]))
            messages = corpus.messages()
            times = [m.timestamp for m in messages]
            upto = [bisect.bisect_right(times, q.asked_at) if dataset.clock_usable else len(times) for q in questions]
            corpora.append(CorpusPlan(corpus, messages, questions, upto, {m.id: m for m in messages}))
    if not corpora:
        raise UserError(f"data.{variant.label}: there is no question in it, so there is nothing to ask")
    faults = tuple(f"{f.kind} at {f.where}: {f.detail}" for f in check_dataset(dataset).of("error"))
    return DataPlan(variant, dataset, dataset.fingerprint(), corpora, faults)


def _unit(config: Config, system: SystemVariant, data: DataPlan, before: list[Unit]) -> Unit:
    factory = resolve(system.target)
    try:
        models = roles_of(factory, system.params, config.models)
    except UserError as error:
        raise UserError(f"{system.label}: {error}") from None
    asked = {"models": models_identity(models)} if models else {}
    code = factory.code_fingerprint()
    identity: Mapping[str, Any] = {
        "version": IDENTITY_VERSION,
        "target": system.target,
        "params": system.params,
        "code": code,
        "data": data.fingerprint,
        "clock_usable": data.dataset.clock_usable,
        "time_limit_s": config.time_limit_s,
        "ingest_limit_s": config.ingest_limit_s,
        "seed": config.seeds[0],
        # Two labels for the very same thing are two trials: a difference between them shows the noise of a measurement.
        "twin": sum(
            u.info.target == system.target and u.info.params == system.params and u.data is data for u in before
        ),
        **asked,
    }
    info = TrialInfo(
        trial=system.label,
        unit=_digest(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS).decode()),
        system=system.system,
        target=system.target,
        params=system.params,
        dataset=data.variant.label,
        axes={**system.axes, **data.variant.axes},
        seed=config.seeds[0],
        repeats=len(config.seeds),
        planned=data.planned,
        time_limit_s=config.time_limit_s,
        facts={"seeds": list(config.seeds), "code_fingerprint": code, "gated": bool(factory.gated), **asked},
    )
    return Unit(info, factory, data, models)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
