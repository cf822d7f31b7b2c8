"""Extraction: messages in, facts, entities and edges out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Context, Trace
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.models.role import model_span
from memtrial.systems.structured.extraction.drafts import Case, Memory
from memtrial.systems.structured.extraction.focus import Focus
from memtrial.systems.structured.extraction.folding import clean
from memtrial.systems.structured.extraction.learn import Learner
from memtrial.systems.structured.extraction.lexicon import Mention
from memtrial.systems.structured.extraction.noise import why_skipped
from memtrial.systems.structured.extraction.params import ExtractionParams, ModelExtractionParams
from memtrial.systems.structured.extraction.relations import Relations
from memtrial.systems.structured.extraction.resolving import resolve
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.extraction.statements import statements
from memtrial.systems.structured.extraction.support import value_stands
from memtrial.systems.structured.extraction.typed import typed_facts
from memtrial.systems.structured.node import Entity, Extraction

if TYPE_CHECKING:
    from memtrial.systems.structured.extraction.by_model import ModelExtraction


def _without(text: str, mentions: Sequence[Mention]) -> str:
    """Blank the names out, keeping the length."""
    for mention in mentions:
        text = f"{text[: mention.start]}{'□' * (mention.end - mention.start)}{text[mention.end :]}"
    return text


class TenantReader:
    """Reads one tenant's messages in time order, each once; later ones never change what was said of earlier ones."""

    def __init__(self, tenant: str, params: ExtractionParams) -> None:
        """Start with empty dictionaries."""
        self._params = params
        self.learner = Learner(tenant)
        self._relations = Relations(self.learner)
        self._focus: dict[str, Focus] = {}
        self._memory = Memory()

    def learn(self, message: Message) -> Said:
        """Read a message's values and names."""
        text = clean(message.content)
        said = Said.of(message, text)
        said.values = extract_values(text, message.timestamp, said.language)
        self.learner.read(said)
        if any(text[m.end : m.end + 1].isdigit() for m in said.mentions):  # a date glued to a name: 晨曦T512月3日
            said.values = extract_values(_without(text, said.mentions), message.timestamp, said.language)
        return said

    def read(self, message: Message, into: Extraction) -> Said:
        """Take from one message what there is, and return it as the patterns saw it."""
        params = self._params
        said = self.learn(message)
        focus = self._focus.setdefault(message.conversation_id, Focus())
        focus.enter(message.session_id, message.timestamp)
        found = typed_facts(Case(said, focus, self.learner, self._memory))  # also keeps track of who ordered what
        # a pattern may have met somebody new: whom a sentence says to work somewhere
        said.mentions = self.learner.lexicon.find(said.text) if found else said.mentions
        typed = found if params.typed else []
        if params.support_check and not all(value_stands(fact, said) for fact in typed):
            into.flagged[message.id] = "unsupported_value"
            typed = [fact for fact in typed if value_stands(fact, said)]
        into.facts += typed
        into.edges += self._relations.read(said)
        reason = why_skipped(said, params.keep_questions)
        if reason and not typed:
            if params.statements != "none":
                into.skipped[message.id] = reason
        elif params.statements == "all" or (params.statements == "untyped" and not typed):
            into.facts += statements(
                said, focus, self.learner, most=params.max_chars, resolve_dates=params.resolve_dates
            )
        for mention in said.mentions:
            focus.name(mention.kind, mention.key, message.id)
        return said


class Extractor:
    """Takes from a log what is worth remembering."""

    def __init__(self, params: ExtractionParams | ModelExtractionParams, context: Context) -> None:
        """Start with empty dictionaries; nothing is kept in files, as extraction can be repeated.

        Raises:
            UserError: it is a model, and none is named, or its settings are wrong.
        """
        self._params = params
        self._model: ModelExtraction | None = None
        if isinstance(params, ExtractionParams):
            self._keyless = params
        else:
            from memtrial.systems.structured.extraction.by_model import (
                ModelExtraction,  # a keyless run loads none of it
            )

            self._keyless = ExtractionParams(typed=params.typed, statements="none", support_check=params.support_check)
            self._model = ModelExtraction.of(params, context)
        self._tenants: dict[str, TenantReader] = {}
        self._told: dict[str, dict[str, Entity]] = {}

    def _tenant(self, tenant: str) -> TenantReader:
        reader = self._tenants.get(tenant)
        if reader is None:
            reader = self._tenants[tenant] = TenantReader(tenant, self._keyless)
        return reader

    async def _by_model(
        self, messages: Sequence[Message], out: Extraction, trace: Trace, model: ModelExtraction
    ) -> None:
        said = [self._tenant(m.tenant_id).read(m, out) for m in messages]
        learners = {tenant: reader.learner for tenant, reader in self._tenants.items()}
        with model_span(trace, "extract") as span:
            await model.read(said, learners, out, trace, span)

    async def extract(self, messages: Sequence[Message], trace: Trace) -> Extraction:
        """Take facts, entities and edges from new messages.

        Args:
            messages: in time order, none given before.
            trace: gets the stage ``extract`` and counts of messages, facts, what was skipped and flagged.
        """
        out = Extraction()
        if self._model is not None:
            await self._by_model(messages, out, trace, self._model)
        else:
            with trace.span("extract"):
                for message in messages:
                    self._tenant(message.tenant_id).read(message, out)
        for tenant in dict.fromkeys(m.tenant_id for m in messages):
            told = self._told.setdefault(tenant, {})
            for key, entity in self._tenants[tenant].learner.lexicon.entities.items():
                if told.get(key) is not entity:
                    told[key] = entity
                    out.entities.append(entity)
        counts = trace.facts.setdefault("extraction", {"messages": 0, "facts": 0, "skipped": 0, "flagged": 0})
        for name, size in (
            ("messages", messages),
            ("facts", out.facts),
            ("skipped", out.skipped),
            ("flagged", out.flagged),
        ):
            counts[name] += len(size)
        return out

    def resolve(self, text: str, tenant: str, asker: str, history: Sequence[Turn] = ()) -> list[Entity]:
        """Return the entities that a question names, the asker's own where it says "my"; only that tenant's."""
        reader = self._tenants.get(tenant)
        return resolve(reader.learner, text, asker, history) if reader else []

    def person(self, tenant: str, sender: str) -> str:
        """Return the key of the person behind a sender's id, or "" for one who never wrote or was not taken for a person."""
        reader = self._tenants.get(tenant)
        return reader.learner.senders.get(sender) or "" if reader else ""

    async def aclose(self) -> None:
        """Close a model's connections."""
        if self._model is not None:
            await self._model.aclose()
