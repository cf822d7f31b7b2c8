"""The contract between memtrial and a memory architecture.

A system is anything with three coroutines, ``ingest``, ``answer`` and ``close``, and a factory ``create(params, context)``.
Nothing is subclassed. ``params`` is always a dict of plain values; where the class has ``Params`` (a pydantic model) they have
been checked by it and every default is filled in, and ``create`` may make an instance of them with ``Params.model_validate``. A
``UserError`` of ``create`` stops the run and is stored for no question. The runner owns time: it hands over the messages up to
a query's ``asked_at`` before it asks.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable
from xml.sax.saxutils import escape, quoteattr

from memtrial.datasets.schema import Message, Turn


@dataclass(frozen=True, slots=True)
class Query:
    """All that a system ever learns about a question. ``id`` is opaque and carries no label.

    ``options`` are the choices that the question itself offers (empty for open questions).
    """

    id: str
    tenant_id: str
    asker: str
    asked_at: datetime
    text: str
    history: tuple[Turn, ...] = ()
    language: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One retrieved item: raw message, extracted fact, graph edge or summary, with the ids of the messages behind it.

    ``sender`` is a display name; ``sender_id`` and ``recipient_id`` are ids as in ``Query.asker`` and, like
    ``conversation_id``, empty where an item does not come from one message. A reader may use them; nothing requires them.
    ``trust`` is how far a memory is to be believed, in [0, 1] (None: nobody weighed it), ``status`` how its matter stands.
    ``render`` shows an item that has a trust as XML with both, so that a reader can tell it from plain text.
    """

    text: str
    score: float
    message_ids: tuple[str, ...]
    tenant_id: str
    kind: Literal["message", "fact", "edge", "summary"] = "message"
    timestamp: datetime | None = None
    sender: str = ""
    source: str = ""
    sender_id: str = ""
    recipient_id: str = ""
    conversation_id: str = ""
    trust: float | None = None
    status: str = ""

    @classmethod
    def of(cls, message: Message, score: float) -> Evidence:
        """Wrap a raw message."""
        return cls(
            text=message.content,
            score=score,
            message_ids=(message.id,),
            tenant_id=message.tenant_id,
            timestamp=message.timestamp,
            sender=message.sender_name,
            source=message.source,
            sender_id=message.sender,
            recipient_id=message.recipient,
            conversation_id=message.conversation_id,
        )

    def render(self) -> str:
        """Return the line a reader is shown; its tokens are what ``context_tokens`` counts."""
        when = f"[{self.timestamp:%Y-%m-%d %H:%M}] " if self.timestamp else ""
        who = f"{self.sender}: " if self.sender else ""
        line = f"{when}{who}{self.text}"
        if self.trust is None:
            return line
        named = {"id": ",".join(self.message_ids), "source": self.source, "status": self.status}
        told = "".join(f" {name}={quoteattr(value)}" for name, value in named.items() if value)
        return f'<memory score="{self.trust:.2f}"{told}>{escape(line)}</memory>'


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system says.

    Attributes:
        text: the answer in words; may be empty when ``abstained``.
        abstained: the system says that it does not know.
        citations: ids of the messages the answer rests on.
        confidence: in [0, 1], or None where the system states none.
        retrieved: the ranking, best first; retrieval metrics read it.
        context: what the reader was shown, in the order shown; exposure and tokens are measured on it.
    """

    text: str = ""
    abstained: bool = False
    citations: tuple[str, ...] = ()
    confidence: float | None = None
    retrieved: tuple[Evidence, ...] = ()
    context: tuple[Evidence, ...] = ()


@dataclass(slots=True)
class Span:
    """A timed stage; ``model_ms`` is the part of it that was spent in a model call."""

    stage: str
    ms: float
    model_ms: float = 0.0


@dataclass(slots=True)
class LlmCall:
    """One call to a language model, with its usage (OpenTelemetry GenAI names in exports)."""

    role: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    estimated: bool = False


@dataclass(slots=True)
class GateDecision:
    """Whether a gate let the memory look-up through, and why."""

    gate: str
    open: bool
    reason: str = ""


@dataclass(slots=True)
class Trace:
    """What happened inside one call. A system adds to it; the runner persists a summary.

    ``replayed_ms`` is the time that work served from an artifact cache took when it was first done; it is added to
    measured ingest time, so that a warm cache does not make a system look fast. ``instrument_ms`` is the time of work that
    only measures; it is taken off the latency of an answer.
    """

    spans: list[Span] = field(default_factory=list)
    llm_calls: list[LlmCall] = field(default_factory=list)
    gates: list[GateDecision] = field(default_factory=list)
    cache_hits: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    replayed_ms: float = 0.0
    instrument_ms: float = 0.0

    @contextmanager
    def instrument(self) -> Iterator[None]:
        """Mark work that only measures (an exact search beside the approximate one); latency leaves it out."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.instrument_ms += (time.perf_counter() - start) * 1000.0

    @contextmanager
    def span(self, stage: str) -> Iterator[Span]:
        """Time a stage with the monotonic clock."""
        entry = Span(stage, 0.0)
        start = time.perf_counter()
        try:
            yield entry
        finally:
            entry.ms = (time.perf_counter() - start) * 1000.0
            self.spans.append(entry)

    def gate(self, gate: str, *, open: bool, reason: str = "") -> None:
        """Record a gate's decision; the memory counts as looked up when every gate recorded is open."""
        self.gates.append(GateDecision(gate, open, reason))

    def warn(self, text: str) -> None:
        """Record something a reader of the report must know, such as a cut context."""
        self.warnings.append(text)


@dataclass(frozen=True, slots=True)
class Context:
    """What the runner gives a factory.

    Attributes:
        folder: an existing folder of the system's own; what it holds survives a restart of the worker.
        seed: for everything random.
        tenants: the tenants whose messages will come.
        cache_dir: folder shared by all runs for artifacts addressed by content (embeddings); None switches it off.
        models: model settings by role (empty in the profile without a language model).
    """

    folder: Path
    seed: int = 0
    tenants: tuple[str, ...] = ()
    cache_dir: Path | None = None
    models: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class System(Protocol):
    """What memtrial calls. Structural: any object with these three coroutines will do.

    One call is under way at a time, unless a run is told ``concurrency: N``: then ``answer`` may be called while earlier
    answers are awaited, never while messages are taken in. A class that cannot bear it says ``serial = True``.

    A class may have ``preflight(params)``, a class method that gets the parameters as ``create`` does: it raises a
    ``UserError`` in one sentence where an address in the environment, a file or a package is missing. It is called for
    every system of a run before the first question, and by ``--dry-run``; it should be quick, load no model and ask no server.

    A system that learns from its own answers does so in a fourth coroutine, ``establish(query, kept)``: the runner hands
    back ``trace.facts["established"]`` once the answer that holds it is stored, and again after a restart.
    """

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Take in messages not given before, in time order."""
        ...

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Answer from what was ingested so far."""
        ...

    async def close(self) -> None:
        """Release files and handles. Called once, also after a failure."""
        ...
