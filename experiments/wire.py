"""How messages, queries and answers cross between the runner and a worker: plain JSON, nothing executable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Answer, Evidence, Query, Trace
from memtrial.systems.models.tokens import count_tokens

# What is kept of a ranking: twice the deepest cut-off that a metric uses.
RANKING_DEPTH = 100
# A context longer than this is kept as ids and tokens, run by run of one tenant, not item by item.
CONTEXT_ITEMS = 100
TEXT_LIMIT = 100_000


def dump_messages(messages: Sequence[Message], file: Path) -> None:
    """Write messages as JSON lines for a worker to read; a label cannot be among them, since a Message has none."""
    with file.open("wb") as out:
        for m in messages:
            row = [
                m.id,
                m.conversation_id,
                m.session_id,
                m.tenant_id,
                m.sender,
                m.recipient,
                m.timestamp.isoformat(),
                m.content,
                m.source,
                m.reply_to,
                dict(m.extra),
            ]
            out.write(dumps(row))
            out.write(b"\n")


def read_messages(file: Path) -> Iterator[Message]:
    """Yield the messages of :func:`dump_messages` one by one."""
    with file.open("rb") as lines:
        for line in lines:
            row = orjson.loads(line)
            row[6] = datetime.fromisoformat(row[6])
            yield Message(*row)


def dump_query(query: Query) -> list[Any]:
    """Flatten a query."""
    return [
        query.id,
        query.tenant_id,
        query.asker,
        query.asked_at.isoformat(),
        query.text,
        [[t.speaker, t.text] for t in query.history],
        query.language,
        list(query.options),
    ]


def load_query(row: Sequence[Any]) -> Query:
    """Rebuild a query."""
    ident, tenant, asker, asked_at, text, history, language, options = row
    turns = tuple(Turn(speaker, said) for speaker, said in history)
    return Query(ident, tenant, asker, datetime.fromisoformat(asked_at), text, turns, language, tuple(options))


def dump_answer(answer: Answer, trace: Trace, query: Query) -> dict[str, Any]:
    """Flatten a valid answer and its trace into the fields of a ``Result``, without what is empty.

    Items have a ``line``, which :func:`count_items` makes their tokens of. Ranked items of a foreign tenant are kept
    below ``RANKING_DEPTH`` too, so that no leak goes uncounted.
    """
    out: dict[str, Any] = {}
    if answer.text:
        out["text"] = clean(answer.text)
    if answer.abstained:
        out["abstained"] = True
    if answer.citations:
        out["citations"] = [clean(str(c)) for c in answer.citations]
    if answer.confidence is not None:
        out["confidence"] = float(answer.confidence)
    if answer.retrieved:
        kept = list(answer.retrieved[:RANKING_DEPTH])
        kept += [e for e in answer.retrieved[RANKING_DEPTH:] if e.tenant_id != query.tenant_id]
        out["retrieved"] = [_item(e) for e in kept]
    if answer.context:
        out["context"] = [_item(e) for e in answer.context]
    summary = dump_trace(trace)
    if summary:
        out["trace"] = summary
    return out


def dump_trace(trace: Trace) -> dict[str, Any]:
    """Summarise a trace into the fields of a ``TraceSummary``, without what is empty."""
    out: dict[str, Any] = {}
    if trace.spans:
        spans: dict[str, float] = {}
        for span in trace.spans:
            spans[span.stage] = spans.get(span.stage, 0.0) + span.ms
        out["spans"] = spans
        model_ms = sum(span.model_ms for span in trace.spans)
        if model_ms:
            out["model_ms"] = model_ms
    if trace.gates:
        out["gates"] = [[g.gate, bool(g.open), clean(g.reason)] for g in trace.gates]
    if trace.llm_calls:
        out["usage"] = _usage(trace)
    if trace.cache_hits:
        out["cache_hits"] = dict(trace.cache_hits)
    if trace.warnings:
        out["warnings"] = [clean(str(w))[:1000] for w in trace.warnings[:50]]
    facts = dict(trace.facts)
    if trace.replayed_ms:
        facts["replayed_ms"] = trace.replayed_ms
    if facts:
        out["facts"] = orjson.loads(dumps(facts))
    return out


def usage_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a ledger's rows in the fields of a ``Usage``."""
    return [
        {
            "role": row["role"],
            "model": row["model"],
            "prompt": row["prompt"],
            "cached": row["cached"],
            "completion": row["completion"],
            "calls": row["calls"],
            "estimated": row["estimated"] > 0,
            "reasoning": row["reasoning"],
            "phase": row["phase"],
            "usd": None if row["unpriced"] else row["known_e12"] / 1e12,
            "replayed": row["replayed"],
            "without_usage": row["without_usage"],
            "failed": row["failed"],
        }
        for row in rows
    ]


def with_usage(summary: dict[str, Any], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a trace's summary with what the ledger counted; it knows more than a trace, and also of failed calls."""
    counted = usage_of(rows)
    known = {(row["role"], row["model"]) for row in counted}
    told = [row for row in summary.get("usage", []) if (row["role"], row["model"]) not in known]
    usage = [*counted, *told]
    return {**summary, "usage": usage} if usage else summary


def count_items(row: dict[str, Any]) -> None:
    """Count the tokens of an answer's items, in place.

    The runner does it, once for all workers: to load the tokenizer takes a process longer than to ask a small corpus,
    and its memory is none of the system's.
    """
    for item in (*row.get("retrieved", ()), *row.get("context", ())):
        if "line" in item:
            item["tokens"] = count_tokens(item.pop("line"))
    if "context" in row:
        row["context_tokens"] = sum(item["tokens"] for item in row["context"])


def without_texts(items: list[dict[str, Any]], log: Mapping[str, Message]) -> list[dict[str, Any]]:
    """Drop the text of items that are simply a message of the log."""
    for item in items:
        ids = item["ids"]
        message = log.get(ids[0]) if len(ids) == 1 else None
        if message is not None and message.content == item.get("text"):
            del item["text"]
    return items


def folded(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Fold what a long context shows after its first ``CONTEXT_ITEMS`` items into runs of plain messages of one tenant."""
    kept = items[:CONTEXT_ITEMS]
    for item in items[CONTEXT_ITEMS:]:
        last = kept[-1]
        plain = "text" not in item and "text" not in last and "kind" not in item and "kind" not in last
        if plain and len(kept) > CONTEXT_ITEMS and item["tenant_id"] == last["tenant_id"]:
            last["ids"] += item["ids"]
            last["tokens"] += item["tokens"]
        else:
            kept.append(item)
    return kept


def dumps(value: Any) -> bytes:
    """Serialise; what JSON has no word for becomes text, lone surrogates become replacement characters."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return orjson.dumps(_scrub(value), default=_plain, option=orjson.OPT_NON_STR_KEYS)


def clean(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 file can hold, and cut absurd lengths."""
    text = text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _item(evidence: Evidence) -> dict[str, Any]:
    line = evidence.render()
    item: dict[str, Any] = {
        "ids": [clean(str(i)) for i in evidence.message_ids],
        "score": float(evidence.score),
        "tenant_id": clean(evidence.tenant_id),
        # What would be cut on the way is counted here.
        **({"line": clean(line)} if len(line) <= TEXT_LIMIT else {"tokens": count_tokens(line)}),
        "text": clean(evidence.text),
    }
    if evidence.kind != "message":
        item["kind"] = evidence.kind
    return item


def _usage(trace: Trace) -> list[dict[str, Any]]:
    by_role: dict[tuple[str, str], dict[str, Any]] = {}
    for call in trace.llm_calls:
        row = by_role.setdefault(
            (call.role, call.model),
            {
                "role": call.role,
                "model": call.model,
                "prompt": 0,
                "cached": 0,
                "completion": 0,
                "calls": 0,
                "estimated": False,
            },
        )
        row["prompt"] += call.prompt_tokens
        row["cached"] += call.cached_tokens
        row["completion"] += call.completion_tokens
        row["calls"] += 1
        row["estimated"] = row["estimated"] or call.estimated
    return list(by_role.values())


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    return str(value)


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(str(key)): _scrub(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_scrub(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    return value
