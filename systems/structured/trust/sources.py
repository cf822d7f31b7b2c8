"""Who is believed: authority by source system, and the order of sources for a type of fact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, field_validator

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import Fact, FactType

Share = Annotated[float, Field(ge=0, le=1)]
Tiers = tuple[tuple[str, ...], ...]

AUTHORITIES: Mapping[str, float] = {
    "crm": 0.95, "erp": 0.95, "wms": 0.95, "billing": 0.95, "contract": 0.95,
    "wiki": 0.85, "policy": 0.85, "docs": 0.85,
    "email": 0.7, "e-mail": 0.7, "ticket": 0.7,
    "chat": 0.6, "chat_log": 0.6, "sms": 0.6,
    "forum": 0.3, "social": 0.3,
}  # fmt: skip

_SYSTEMS = ("crm", "erp", "wms", "billing")
_DOCUMENTS = ("contract", "policy", "docs", "wiki")
_SAID: Tiers = (("email", "e-mail", "ticket"), ("chat", "chat_log", "sms"), ("forum", "social"))
_RULES: Tiers = (_DOCUMENTS, _SYSTEMS, *_SAID)
ORDERS: Mapping[str, Tiers] = {
    "product": _RULES,
    "policy": _RULES,
    "promotion": _RULES,
    "stock": (("wms", "erp"), ("crm", "billing"), _DOCUMENTS, *_SAID),
    "": (_SYSTEMS, _DOCUMENTS, *_SAID),
}
# nobody knows these better than the person they are about
_OWN: frozenset[FactType] = frozenset({"profile", "preference", "plan"})


class SourceParams(Part):
    """Authority of sources.

    Attributes:
        authorities: by source system, in [0, 1]; what is given here joins the built-in table.
        unknown: authority of a source that is not in the table.
        of_record: least authority of a source in the first tier for the type of fact: a rule is the wiki's to state,
            stock the warehouse's.
        own_words: least authority of what people say of themselves (profile, preference, plan).
        orders: by type of fact, tiers of sources, the most believed first; "" stands for all types that are not named.
            What is given here joins the built-in orders. A source in no tier comes after those that are in one.
    """

    authorities: dict[str, Share] = Field(default_factory=dict)
    unknown: Share = 0.5
    of_record: Share = 0.95
    own_words: Share = 0.85
    orders: dict[FactType | Literal[""], Tiers] = Field(default_factory=dict)

    @field_validator("authorities")
    @classmethod
    def _lower(cls, given: dict[str, float]) -> dict[str, float]:
        return {name.lower(): value for name, value in given.items()}

    @field_validator("orders")
    @classmethod
    def _lower_tiers(cls, given: dict[FactType | Literal[""], Tiers]) -> dict[FactType | Literal[""], Tiers]:
        return {name: tuple(tuple(s.lower() for s in tier) for tier in tiers) for name, tiers in given.items()}

    def authority(self, fact: Fact) -> float:
        """Return how far the source of a fact is believed, in [0, 1]."""
        source = fact.source.lower()
        value = self.authorities.get(source, AUTHORITIES.get(source, self.unknown))
        if source and source in self._tiers(fact.fact_type)[0]:
            value = max(value, self.of_record)
        if fact.fact_type in _OWN and fact.speaker and _is_own(fact):
            value = max(value, self.own_words)
        return value

    def tier(self, fact: Fact) -> int:
        """Return the place of a fact's source in the order for its type: 0 is believed first."""
        source = fact.source.lower()
        tiers = self._tiers(fact.fact_type)
        return next((place for place, names in enumerate(tiers) if source in names), len(tiers))

    def _tiers(self, fact_type: FactType) -> Tiers:
        for orders in (self.orders, ORDERS):
            tiers: Tiers | None = orders.get(fact_type)
            if tiers is not None:
                return tiers or ((),)
        return self.orders.get("", ORDERS[""]) or ((),)


def _is_own(fact: Fact) -> bool:
    """Tell whether the speaker is the person that the fact is about: a key ends in the name or id it was made of."""
    speaker = fact.speaker.casefold()
    return any(key.partition(":")[2].casefold() == speaker for key in (fact.subject, fact.owner) if key)
