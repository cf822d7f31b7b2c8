"""Names and definitions of the figures of a router and of write-back: (title, sentence, which way is better)."""

from __future__ import annotations

from typing import Literal

ROUTING_WORDS: dict[str, tuple[str, str, Literal["higher", "lower"] | None]] = {
    "routed_to_structured": (
        "routed to structured",
        "Questions that the router sent to structured memory first.",
        None,
    ),
    "fallback_rate": (
        "fell back",
        "Questions in which the part that was asked first abstained and the other one was asked.",
        None,
    ),
    "oracle_router_accuracy": (
        "oracle router",
        "Accuracy of a router that knows which part is right: per question the better of structured and raw_log, run alone.",
        "higher",
    ),
    "router_accuracy": (
        "router accuracy",
        "Of the questions on which one part alone is right, the share that the router sent to that part first.",
        "higher",
    ),
    "router_accuracy_after_fallback": (
        "router accuracy after fallback",
        "Of the questions on which one part alone is right, the share that was answered by that part in the end.",
        "higher",
    ),
    "write_back_rate": ("written back", "Answers that became memories, over all planned questions.", None),
    "write_back_wrong_rate": (
        "written back wrong",
        "Of the answers that became memories, the share that is wrong or was planted.",
        "lower",
    ),
    "derived_shown_rate": (
        "written-back memory shown",
        "Questions in which a memory that was written back was in the context, over all planned questions.",
        None,
    ),
    "derived_used_rate": (
        "written-back memory used",
        "Questions whose answer is what a memory says that was written back and shown, over all planned questions.",
        None,
    ),
    "derived_wrong_rate": (
        "written-back memory used, wrong",
        "Of the answers that are what a memory written back says, the share that is wrong.",
        "lower",
    ),
}
