"""An answer of a run as ragas wants it, and the rules for answers about which a model need not be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memtrial.metrics.ragas.scores import Score
from memtrial.metrics.records import Item, Record
from memtrial.systems.models.llm.messages import clean_text

FindMessage = Callable[[Record, str], Mapping[str, Any] | None]

NEEDS_CONTEXT = frozenset({"faithfulness", "context_precision", "context_recall"})
NEEDS_REFERENCE = frozenset({"context_precision", "context_recall", "answer_correctness"})
NEEDS_RESPONSE = frozenset({"faithfulness", "answer_relevancy", "answer_correctness"})

# Printed with the figures, so that nobody has to guess what an empty context counts as.
RULES = {
    "unanswerable": "no reference: context precision, context recall and answer correctness do not apply; nor does answer "
    "relevancy to an abstention",
    "system_error": "the system gave no answer: recall, relevancy and correctness 0, faithfulness and precision do not apply",
    "abstained": "the answer abstains or is empty: relevancy and correctness 0, faithfulness does not apply",
    "no_context": "nothing was shown to the reader: recall 0, faithfulness and precision do not apply",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One answer.

    Attributes:
        question: its text, after the turns that came before it.
        response: the answer.
        reference: the gold answer; "" where the question has none.
        contexts: what the reader was shown, item by item, in its order; empty items are left out.
        abstained: the answer declines, or is empty.
        failed: the system gave no answer at all.
        lost: items of the context whose text is not among the run's messages.
    """

    question: str
    response: str
    reference: str
    contexts: tuple[str, ...]
    abstained: bool = False
    failed: bool = False
    lost: int = 0


def sample_of(record: Record, find: FindMessage) -> Sample:
    """Make a sample from a record.

    Args:
        record: an answer of a run.
        find: gives a message by its id, or None where it was not kept.
    """
    result, labels = record.result, record.labels
    shown = [_text(record, item, find) for item in result.context]
    turns = [f"{speaker}: {text}" for speaker, text in labels.history]
    options = [f"- {option}" for option in labels.options]
    reference = labels.answers[0] if labels.answerable and labels.answers else ""
    return Sample(
        question=clean_text("\n".join([*turns, labels.text, *options])),
        response=clean_text(result.text),
        reference=clean_text(reference),
        contexts=tuple(text for text in shown if text is not None and text.strip()),
        abstained=result.abstained or record.judgement.abstained or not result.text.strip(),
        failed=result.error is not None,
        lost=sum(text is None for text in shown),
    )


def ruled(metric: str, sample: Sample) -> Score | None:
    """Return the score that a rule sets, or None where the metric has to be asked."""
    answerable = bool(sample.reference.strip())
    if metric in NEEDS_REFERENCE and not answerable:
        return Score.ruled(None, "unanswerable")
    if sample.failed:
        return Score.ruled(None if metric in ("faithfulness", "context_precision") else 0.0, "system_error")
    if metric in NEEDS_RESPONSE and sample.abstained:
        if metric == "faithfulness":
            return Score.ruled(None, "abstained")
        return Score.ruled(0.0, "abstained") if answerable else Score.ruled(None, "unanswerable")
    if metric in NEEDS_CONTEXT and sample.lost:
        return Score.missing("context_lost", f"{sample.lost} items shown are not among the run's messages")
    if metric in NEEDS_CONTEXT and not sample.contexts:
        return Score.ruled(0.0 if metric == "context_recall" else None, "no_context")
    return None


def _text(record: Record, item: Item, find: FindMessage) -> str | None:
    if item.text is not None:
        return clean_text(item.text)
    rows = [find(record, ident) for ident in item.ids]
    if any(row is None for row in rows):
        return None
    return "\n".join(_line(row) for row in rows if row is not None)


def _line(row: Mapping[str, Any]) -> str:
    """Return a message with its time and sender: many answers follow from those alone."""
    content = clean_text(str(row.get("content") or ""))
    if not content.strip():
        return ""
    when = str(row.get("timestamp") or "")[:16].replace("T", " ")
    who = clean_text(str(row.get("sender_name") or row.get("sender") or ""))
    return f"[{when}] {who}: {content}"
