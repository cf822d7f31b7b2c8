"""Vectors from an endpoint, asked for in batches and recorded text by text."""

from __future__ import annotations

import asyncio
import base64
import json
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memtrial.systems.models.llm.budget import worst_prompt_tokens
from memtrial.systems.models.llm.exchange import Exchange, Tally
from memtrial.systems.models.llm.faults import Heard, RawReply, heard_from_error, heard_from_error_object
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.messages import ChatMessage, clean_text
from memtrial.systems.models.llm.outcome import ModelCallError, Reply, Usage
from memtrial.systems.models.llm.prices import Price, cost_of
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore, StoredCall
from memtrial.systems.models.llm.usage import read_usage

ROLE = "embed"
_BATCH = 64


async def embed_texts(
    texts: Sequence[str],
    *,
    identity: Mapping[str, Any],
    settings: ModelSettings,
    store: CallStore | None,
    ledger: Ledger | None,
    price: Price | None,
    replay: str,
    exchange: Callable[[], Exchange],
    phase: str,
    trial: str,
) -> list[list[float]]:
    """Return a vector for each text; see ``Client.embed``."""
    # A service refuses an empty text; a blank is the nearest thing to it.
    cleaned = [clean_text(text) or " " for text in texts]
    keys = {text: _key(store, identity, text) for text in cleaned}
    known: dict[str, list[float]] = {}
    for text, key in keys.items():
        call = store.get(key) if store is not None and replay != "off" else None
        vector = None if call is None else _unpack(call.text)
        if call is not None and vector is not None:
            known[text] = vector
            if ledger is not None:
                ledger.add(ROLE, phase, trial, settings.model, call.usage, cost_of(call.usage, price), replayed=True)
    missing = [text for text in keys if text not in known]
    if missing and replay == "only":
        detail = "no record" if store is None else store.missing(ROLE, settings.model)
        raise ModelCallError(Reply("not_recorded", detail=detail))

    async def fetch(batch: list[str]) -> None:
        tally = Tally()
        vectors: list[list[float]] = []
        sent: list[ChatMessage] = [{"role": "user", "content": text} for text in batch]
        heard = await exchange().post(
            "/embeddings",
            lambda: {"model": settings.model, "input": batch, "encoding_format": "float"},
            lambda raw: _read(raw, sent, vectors),
            tally,
            (worst_prompt_tokens(sent), 0),
        )
        if ledger is not None:
            usd = cost_of(tally.usage, price)
            ledger.add(ROLE, phase, trial, settings.model, tally.usage, usd, status=heard.status)
        if heard.status != "ok":
            raise ModelCallError(Reply(heard.status, detail=heard.detail, attempts=tally.attempts))
        for place, (text, vector) in enumerate(zip(batch, vectors, strict=True)):
            known[text] = vector
            if store is not None:
                # The batch was paid for once: its tokens and its time stand with its first text.
                call = StoredCall(
                    status="ok",
                    text=_pack(vector),
                    finish_reason="embedding",
                    usage=(tally.usage or Usage()) if place == 0 else Usage(),
                    service_ms=(tally.service_ms or 0.0) if place == 0 else 0.0,
                    attempts=tally.attempts if place == 0 else 0,
                    model=settings.model,
                    base_url=settings.public_url,
                    role=ROLE,
                    phase=phase,
                    trial=trial,
                )
                store.put(keys[text], call)

    await asyncio.gather(*(fetch(missing[at : at + _BATCH]) for at in range(0, len(missing), _BATCH)))
    return [list(known[text]) for text in cleaned]


def _key(store: CallStore | None, identity: Mapping[str, Any], text: str) -> str:
    if store is None:
        return text
    kept = {name: identity[name] for name in ("model", "base_url")}
    return store.key({**kept, "kind": "embedding", "temperature": 0}, [{"role": "user", "content": text}], None, 0)


def _read(raw: RawReply, sent: Sequence[ChatMessage], vectors: list[list[float]]) -> Heard:
    if not 200 <= raw.code < 300:
        return heard_from_error(raw)
    try:
        told = json.loads(raw.body.decode("utf-8-sig", "replace"))
        if told.get("error") and not told.get("data"):
            return heard_from_error_object(told["error"], raw)
        rows = sorted(told["data"], key=lambda row: int(row["index"]))
        # Kept in single precision, fresh or from the record, so that both give the same ranking.
        found = [array("f", map(float, row["embedding"])).tolist() for row in rows]
        lengths = {len(vector) for vector in found}
        if len(found) != len(sent) or len(lengths) != 1 or 0 in lengths:
            raise ValueError(f"{len(found)} vectors of lengths {sorted(lengths)} for {len(sent)} texts")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        return Heard("bad_reply", detail=f"not a reply with embeddings: {error}", retry=True, billable=True)
    vectors[:] = found
    usage = told.get("usage")
    usage = {**usage, "completion_tokens": 0} if isinstance(usage, Mapping) else {"completion_tokens": 0}
    counted, flags = read_usage(usage, sent, "")
    return Heard("ok", usage=counted, flags=flags)


def _pack(vector: Sequence[float]) -> str:
    return base64.b64encode(array("f", vector).tobytes()).decode("ascii")


def _unpack(text: str) -> list[float] | None:
    try:
        out = array("f")
        out.frombytes(base64.b64decode(text, validate=True))
    except ValueError:
        return None
    return out.tolist()
