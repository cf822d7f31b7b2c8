"""Extraction by a language model: one structured reply per segment, checked against the messages it was shown."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memtrial.systems.base import Context, Evidence, Span, Trace
from memtrial.systems.models.prompts import Field, load_prompt
from memtrial.systems.models.prompts.shapes import ExtractReply
from memtrial.systems.models.prompts.shapes import Fact as Told
from memtrial.systems.models.reader.shown import item_row, shorten
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.models.tokens import count_tokens
from memtrial.systems.structured.extraction.learn import Learner, digits
from memtrial.systems.structured.extraction.noise import why_skipped
from memtrial.systems.structured.extraction.params import ModelExtractionParams
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.extraction.statements import day_of
from memtrial.systems.structured.extraction.support import why_refused
from memtrial.systems.structured.node import Edge, Extraction, Fact, State

ROLE = "extract"
_STATES: dict[str, State] = {
    "open": "open", "未解决": "open", "处理中": "open", "pending": "open",
    "settled": "resolved", "resolved": "resolved", "closed": "resolved", "已解决": "resolved", "已完成": "resolved",
    "cancelled": "cancelled", "canceled": "cancelled", "已取消": "cancelled",
    "taken back": "retracted", "retracted": "retracted", "withdrawn": "retracted", "已收回": "retracted",
    "uncertain": "uncertain", "不确定": "uncertain",
}  # fmt: skip
_RELATIONS = (
    ("ordered", ("order", "bought", "purchas", "下单", "购买", "买")),
    ("reported", ("report", "complain", "反映", "投诉")),
    ("assigned_to", ("assigned", "handled by", "looked after", "负责", "跟进")),
    ("works_for", ("work", "employ", "任职", "工作", "就职")),
    ("located_in", ("live", "located", "based", "住", "位于")),
    ("part_of", ("part of", "belongs", "属于")),
    ("owns", ("own", "has a", "拥有")),
    ("about", ("about", "关于")),
    ("knows", ("brother", "sister", "friend", "wife", "husband", "mother", "father", "son", "daughter", "colleague", "neighbo",
               "know", "弟", "哥", "姐", "妹", "朋友", "妻", "夫", "母", "父", "同事", "邻居", "认识")),
)  # fmt: skip


def segments(said: Sequence[Said], most: int, budget: int) -> Iterator[list[Said]]:
    """Cut messages into segments: one session of one conversation each, at most so many messages and tokens.

    Messages of other sessions in between do not end a segment; the segments come in the order of their first messages.
    """
    open_ones: dict[tuple[str, str, str], list[list[Said]]] = {}
    spent: dict[tuple[str, str, str], int] = {}
    order: list[list[Said]] = []
    for one in said:
        message = one.message
        key = (message.tenant_id, message.conversation_id, message.session_id)
        cost = min(count_tokens(message.content) + 40, budget)
        parts = open_ones.setdefault(key, [])
        if not parts or len(parts[-1]) >= most or spent[key] + cost > budget:
            parts.append([])
            order.append(parts[-1])
            spent[key] = 0
        parts[-1].append(one)
        spent[key] += cost
    yield from order


class ModelExtraction:
    """Asks the model, segment by segment."""

    def __init__(self, params: ModelExtractionParams, role: ModelRole) -> None:
        """Bind to a model."""
        self._params = params
        self._role = role

    @classmethod
    def of(cls, params: ModelExtractionParams, context: Context) -> ModelExtraction:
        """Make it from its parameters and the run's settings for the role ``extract``.

        Raises:
            UserError: no model is named, or its settings are wrong.
        """
        return cls(params, ModelRole.of(ROLE, context, params, phase="ingest"))

    async def read(
        self, said: Sequence[Said], learners: dict[str, Learner], into: Extraction, trace: Trace, span: Span
    ) -> None:
        """Take what the model finds in messages; a segment whose call fails gives nothing and is counted."""
        params = self._params
        gate = asyncio.Semaphore(params.concurrency)
        parts: list[list[Said]] = []
        for part in segments(said, params.segment_messages, params.max_context_tokens):
            reasons = {one.message.id: why_skipped(one, keep_questions=True) for one in part}
            if all(reasons.values()):
                into.skipped |= reasons
            else:
                parts.append(part)

        async def ask(part: list[Said]) -> ExtractReply | str:
            async with gate:
                return await self._ask(part, trace, span)

        failed = 0
        for part, reply in zip(parts, await asyncio.gather(*map(ask, parts)), strict=True):
            if isinstance(reply, str):
                failed += 1
                into.skipped |= {one.message.id: f"extraction_error:{reply}" for one in part}
            else:
                self._take(part, reply, learners[part[0].message.tenant_id], into, trace)
        if failed:
            trace.warn(f"extraction: {failed} of {len(parts)} segments gave nothing, the model's reply was no use")
            trace.facts["extraction_errors"] = trace.facts.get("extraction_errors", 0) + failed

    async def _ask(self, part: list[Said], trace: Trace, span: Span) -> ExtractReply | str:
        share = self._params.max_context_tokens // len(part)
        rows = [item_row(shorten(Evidence.of(one.message, 0.0), share)) for one in part]
        chinese = sum(one.language == "zh" for one in part) * 2 > len(part)
        fields: dict[str, Field] = {"messages": rows}
        try:
            return await self._role.ask(load_prompt(ROLE, "zh" if chinese else "en"), fields, ExtractReply, trace, span)
        except ModelRoleError as error:
            return error.status

    async def aclose(self) -> None:
        """Close the connections."""
        await self._role.aclose()

    def _take(self, part: list[Said], reply: ExtractReply, learner: Learner, into: Extraction, trace: Trace) -> None:
        offered = {one.message.id: one for one in part}
        messages = {id: one.message for id, one in offered.items()}
        used: set[str] = set()
        known = [entity.name for entity in learner.lexicon.entities.values()] if self._params.support_check else []
        for told in reply.facts:
            ids = tuple(dict.fromkeys(_meant(id, offered) for id in told.sources))
            fact = self._fact(told, ids, offered, learner, part)
            named = [n for n in told.entities if n.strip()]
            # An id that was never shown is refused whatever the settings: nothing could be cited for it.
            unknown = not ids or any(id not in offered for id in ids)
            reason = (
                "invented_id"
                if unknown
                else why_refused(fact, messages, named, known)
                if self._params.support_check
                else ""
            )
            if reason:
                at = next((id for id in ids if id in offered), part[0].message.id)
                into.flagged.setdefault(at, reason)
                counts = trace.facts.setdefault("extraction_flagged", {})
                counts[reason] = counts.get(reason, 0) + 1
            else:
                entities = [_entity(n, offered[ids[0]], learner) for n in named]
                keys = tuple(dict.fromkeys(k for k in (*entities, *fact.entities) if k))
                into.facts.append(replace(fact, entities=keys))
                used |= set(ids)
        for relation in reply.relations:
            ids = tuple(dict.fromkeys(i for s in relation.sources if (i := _meant(s, offered)) in offered))
            if not ids:
                continue
            texts = " ".join(f"{messages[i].content} {messages[i].sender_name}" for i in ids).casefold()
            if relation.subject.casefold() in texts and relation.object.casefold() in texts:
                into.edges.append(
                    _edge(relation.subject, relation.relation, relation.object, offered[ids[-1]], ids, learner)
                )
        for id, one in offered.items():
            if id not in used and id not in into.flagged:
                into.skipped.setdefault(id, why_skipped(one, keep_questions=True) or "nothing_said")

    def _fact(
        self, told: Told, ids: tuple[str, ...], offered: dict[str, Said], learner: Learner, part: list[Said]
    ) -> Fact:
        sources = [offered[id] for id in ids if id in offered] or [part[0]]
        last = max(sources, key=lambda one: one.message.timestamp)
        message = last.message
        injected = all(one.injected for one in sources)
        keys = [m.key for m in learner.lexicon.find(told.fact)]
        return Fact(
            text=told.fact.strip(),
            tenant_id=message.tenant_id,
            message_ids=ids,
            recorded_at=message.timestamp,
            fact_type=told.type,
            subject=next(iter(keys), last.speaker),
            owner=last.customer if last.voice != "person" else "",
            state="injected" if injected else _STATES.get(told.state.strip().lower(), "active"),
            entities=tuple(dict.fromkeys([*keys, *([last.speaker] if last.speaker else [])])),
            source=message.source,
            speaker=message.sender,
            conversation_id=message.conversation_id,
            event_time=day_of(told.event_time) if told.event_time else None,
        )


def _meant(id: str, offered: dict[str, Said]) -> str:
    return id if id in offered else id.strip()


def _entity(name: str, said: Said, learner: Learner) -> str:
    """Return the key of an entity that the model names, met before or new."""
    found = learner.lexicon.lookup(name)
    if found is not None:
        return found.key
    inside = learner.lexicon.find(name)
    if inside and inside[0].end - inside[0].start == len(name):
        return inside[0].key
    if digits(name) >= 4 and " " not in name.strip():
        return learner.lexicon.add(
            "order" if "order" in said.text.lower() or "订单" in said.text else "ticket", name
        ).key
    words = name.split()
    person = name.istitle() and 1 <= len(words) <= 3
    return learner.lexicon.add("person" if person else "topic", name).key


def _edge(subject: str, relation: str, target: str, said: Said, ids: tuple[str, ...], learner: Learner) -> Edge:
    folded = relation.lower()
    kind = next((name for name, words in _RELATIONS if any(w in folded for w in words)), "related")
    message = said.message
    return Edge(
        message.tenant_id, _entity(subject, said, learner), kind, _entity(target, said, learner), ids, message.timestamp
    )
