"""What a customer's message asks for, so that a short reply can be understood."""

from __future__ import annotations

from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.extraction.drafts import Case


def asked(case: Case) -> str:
    """Return the attribute that a customer's message asks for, or ""."""
    text, said = case.text, case.said
    thing = said.first("product", "order")
    if not thing and cues.RETURN.search(text):
        if cues.ASKS_FEE.search(text):
            return "return_fee"
        if cues.ASKS_WINDOW.search(text):
            return "return_window"
    if any(case.memory.features.get(k) == "supports" for k in said.all("topic")):
        return "supports"
    if thing:
        if cues.ASKS_REFUND.search(text):
            return "refund"
        if cues.ASKS_ETA.search(text):
            return "delivery_date"
    elif cues.ASKS_WINDOW.search(text) and said.asks:
        return "return_window"
    return ""
