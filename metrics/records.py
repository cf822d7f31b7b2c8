"""The persisted shapes: what a run writes down and what every metric reads.

``Result`` is what came back from a system, unjudged: one line of the journal. ``Record`` is a result with the labels of
its question and the outcome: one row of records.parquet. Reports are made from records alone.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

SCHEMA_VERSION = 1

Outcome = Literal[
    "correct",
    "correct_abstention",
    "needless_abstention",
    "wrong_memory",
    "hallucination",
    "incomplete",
    "wrong_other",
    "error",
]
OUTCOMES: tuple[str, ...] = get_args(Outcome)


class _Persisted(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Item(_Persisted):
    """One retrieved or shown item. ``text`` is kept only where it is not simply its message's content."""

    ids: list[str]
    score: float = 0.0
    kind: str = "message"
    tenant_id: str = ""
    text: str | None = None
    tokens: int = 0


class Usage(_Persisted):
    """Tokens of one role in one phase of an answer, or of taking in a log.

    Attributes:
        cached: part of ``prompt`` that the server had in its cache.
        reasoning: part of ``completion`` that was thought and not shown.
        estimated: a count was not told by the server but counted here.
        phase: ``ingest``, ``query`` or ``evaluation``.
        usd: what the calls cost, replayed ones at what they cost when they were asked; None where that is unknown.
        replayed: calls that were served from the record and paid by nobody now.
        without_usage: calls for which the server told no usage.
        failed: calls without a good reply.
    """

    role: str
    model: str
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    calls: int = 0
    estimated: bool = False
    reasoning: int = 0
    phase: str = "query"
    usd: float | None = None
    replayed: int = 0
    without_usage: int = 0
    failed: int = 0


class TraceSummary(_Persisted):
    """What is kept of a trace: milliseconds by stage, gate decisions, usage, cache hits, warnings."""

    spans: dict[str, float] = Field(default_factory=dict)
    model_ms: float = 0.0
    gates: list[tuple[str, bool, str]] = Field(default_factory=list)
    usage: list[Usage] = Field(default_factory=list)
    cache_hits: dict[str, int] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)
    facts: dict[str, Any] = Field(default_factory=dict)


class Result(_Persisted):
    """What a system answered to one planned question; no label in it.

    Attributes:
        key: identity of (trial unit, corpus, question, repeat); the same in a resumed run.
        unit: key of the trial unit (system with parameters, data fingerprint, code version, seed).
        error: ``timeout``, ``raised``, ``invalid`` (an answer that breaks the contract), ``crashed`` (the worker died) or None;
            ``model_<status>`` where a language model gave no usable reply, with the status of the call: ``model_refused``,
            ``model_filtered``, ``model_truncated``, ``model_empty``, ``model_tool_call``, ``model_invalid`` (no object of
            the form asked for), ``model_timeout``, ``model_rate_limited``, ``model_connection``, ``model_server_error``,
            ``model_bad_reply``, ``model_bad_request``, ``model_not_recorded`` (asked for with ``--replay only``);
            ``missing`` (planned, never answered) is never stored: metrics put it in the place of an absent record.
        log_size: messages of the corpus that had been handed over when the question was asked.
        context_tokens: tokens of the rendered context, by the named tokenizer of the run.
    """

    key: str
    unit: str
    dataset: str
    corpus_id: str
    question_id: str
    repeat: int = 0
    error: str | None = None
    error_detail: str = ""
    text: str = ""
    abstained: bool = False
    citations: list[str] = Field(default_factory=list)
    confidence: float | None = None
    retrieved: list[Item] = Field(default_factory=list)
    context: list[Item] = Field(default_factory=list)
    context_tokens: int = 0
    latency_ms: float | None = None
    log_size: int = 0
    trace: TraceSummary = Field(default_factory=TraceSummary)


class LureLabel(_Persisted):
    """A lure as it stands in a record."""

    kind: str
    message_ids: list[str] = Field(default_factory=list)
    values: list[str] = Field(default_factory=list)


class Labels(_Persisted):
    """Everything of the question that a metric or a page needs."""

    text: str
    history: list[tuple[str, str]] = Field(default_factory=list)
    options: list[str] = Field(default_factory=list)
    asker: str = ""
    asked_at: str = ""
    tenant_id: str = ""
    conversation_id: str = ""
    cluster_id: str = ""
    category: str = ""
    language: str = ""
    answerable: bool = True
    needs_memory: bool = True
    answer_type: str = "free"
    answers: list[str] = Field(default_factory=list)
    evidence: list[str] = Field(default_factory=list)
    evidence_sessions: list[str] = Field(default_factory=list)
    official_evidence: list[str] = Field(default_factory=list)
    lures: list[LureLabel] = Field(default_factory=list)
    contested: str = ""


class Judgement(_Persisted):
    """What the judge made of an answer.

    Attributes:
        outcome: exactly one of OUTCOMES.
        judge: ``matcher`` for the deterministic one; a model's name otherwise.
        matched: the gold form that was found asserted, or "".
        lures_used: kinds of the lures whose value is asserted as what holds.
        lures_exposed: kinds of the lures of which a message (that is not also evidence) was in the context.
        lure_cited: a message that only a lure contains was cited.
        mixed: gold and lure are stated without saying which holds.
        asked_back: the answer asks for clarification (counts as abstaining).
        abstained: flag or published phrase, with no typed value offered.
        unsupported: typed values that neither context, question, history nor gold supports.
        leaks: items of another tenant in ranking, context, or answer.
    """

    outcome: Outcome
    judge: str = "matcher"
    matched: str = ""
    lures_used: list[str] = Field(default_factory=list)
    lures_exposed: list[str] = Field(default_factory=list)
    lure_cited: bool = False
    mixed: bool = False
    asked_back: bool = False
    abstained: bool = False
    unsupported: list[str] = Field(default_factory=list)
    leaks: int = 0
    note: str = ""


class Record(_Persisted):
    """One planned question in one trial: labels, result, judgement.

    ``ranking`` is the flattened ranking (METRICS: item by item, in time order inside an item, duplicates at their first
    place), ``ranking_sessions`` and ``ranking_tokens`` run parallel to it.
    """

    schema_version: int = SCHEMA_VERSION
    trial: str
    result: Result
    labels: Labels
    judgement: Judgement
    ranking: list[str] = Field(default_factory=list)
    ranking_sessions: list[str] = Field(default_factory=list)
    ranking_tokens: list[int] = Field(default_factory=list)


class TrialInfo(_Persisted):
    """One line of the plan and what was measured once per trial rather than per question.

    ``trial`` is the label of a variant (``bm25`` or ``bm25[k1=0.9]``); there is one TrialInfo per trial and data set.
    ``axes`` holds the varied paths with their values. Measured fields are None until measured.
    """

    trial: str
    unit: str
    system: str
    target: str
    params: dict[str, Any] = Field(default_factory=dict)
    dataset: str
    axes: dict[str, Any] = Field(default_factory=dict)
    seed: int = 0
    repeats: int = 1
    planned: int = 0
    time_limit_s: float = 0.0
    ingest_s: float | None = None
    ingest_replayed_s: float | None = None
    messages_ingested: int = 0
    write_ms: list[float] = Field(default_factory=list)
    index_mb: float | None = None
    peak_rss_mb: float | None = None
    other_work_cores: float | None = None
    warnings: list[str] = Field(default_factory=list)
    facts: dict[str, Any] = Field(default_factory=dict)


class MetricRow(_Persisted):
    """One row of metrics.json. ``value`` is None where the metric cannot be measured, and ``status`` says why.

    ``status``: ``ok`` or a semicolon-separated list of ``unmeasurable:<why>``, ``few_clusters``, ``few_samples``,
    ``saturated``, ``short_ranking`` (most rankings hold fewer than K ids though the log has more), ``incomplete:<n>`` (n
    planned answers without a record, counted as errors), ``degraded``, ``estimated_tokens`` (not told by the server but
    counted here), ``adapter_suspect``, ``unscored:<n>`` (n answers have no verdict of this judge and are not in the value).
    ``judge`` tells rows of one metric apart where verdicts were published with the answers: the run's own judge comes first.
    """

    trial: str
    system: str
    params: dict[str, Any]
    dataset: str
    slice: str
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    judge: str | None = None
    status: str = "ok"
