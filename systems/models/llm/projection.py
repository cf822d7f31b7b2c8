"""What the contexts of a run without a model would cost and how long a named model would take over them: projected, never measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.llm.prices import Price, cost_of, show_usd, worst_cost
from memtrial.systems.models.tokens import count_tokens

LABEL = "projected"

# OpenAI's chat format, the one published: three tokens around each message, its role, and three that open the reply.
_PER_MESSAGE, _PER_REPLY = 4, 3


class DelayModel(BaseModel):
    """How long a model takes over a reply.

    Attributes:
        time_to_first_token_s: seconds from sending to the first token, at the prompt lengths in question.
        tokens_per_second: speed of writing after it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    time_to_first_token_s: float = Field(ge=0)
    tokens_per_second: float = Field(gt=0)

    def seconds(self, answer_tokens: float) -> float:
        """Return the projected time of one reply."""
        return self.time_to_first_token_s + answer_tokens / self.tokens_per_second


@dataclass(frozen=True, slots=True)
class Projection:
    """A figure that nobody measured, and what it rests on.

    Attributes:
        model: the model named.
        questions: number of contexts it was worked out from.
        prompt_tokens: mean per question.
        answer_tokens: mean per question.
        usd_per_1k: US dollars for a thousand questions; None where the price is unknown or there is no question.
        seconds: mean time of a reply; None without a delay model or a question.
        label: ``projected``; stands beside the figure wherever it is shown.
    """

    model: str
    questions: int
    prompt_tokens: float | None
    answer_tokens: float | None
    usd_per_1k: float | None
    seconds: float | None
    label: str = LABEL

    def show(self) -> str:
        """Return one line for display."""
        time = "unknown" if self.seconds is None else f"{self.seconds:.2f} s"
        return f"{self.label} with {self.model}: {show_usd(self.usd_per_1k)} per 1,000 questions, {time} a reply"


@dataclass(frozen=True, slots=True)
class PriceRange:
    """What a plan will cost: ``low`` if every reply is a single token, ``high`` if every reply is as long as allowed.

    None where the price is unknown. Retries after failures, repairs and what a provider's prompt cache saves are in neither.
    """

    calls: int
    prompt_tokens: int
    low: float | None
    high: float | None

    def show(self) -> str:
        """Return the range for display."""
        if self.low is None or self.high is None:
            return show_usd(None)
        return f"{show_usd(self.low)}–{show_usd(self.high)}"

    def __add__(self, other: PriceRange) -> PriceRange:
        """Add the range of other calls; an unknown part makes the sum unknown."""
        return PriceRange(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            None if self.low is None or other.low is None else self.low + other.low,
            None if self.high is None or other.high is None else self.high + other.high,
        )


def project(
    context_tokens: Sequence[int],
    answer_tokens: Sequence[int] | int,
    model: str,
    price: Price | None,
    delay: DelayModel | None = None,
    *,
    frame_tokens: int = 0,
) -> Projection:
    """Project cost and time of reading the contexts of a run with a model.

    Args:
        context_tokens: tokens of the context that the reader was shown, one per question.
        answer_tokens: tokens of the reply, one per question or the same for all.
        model: its name, for display.
        price: its price, None where unknown.
        delay: its delay model, None where unknown.
        frame_tokens: tokens that instructions and question add to each context.

    Raises:
        ValueError: if there is not one answer for each context.
    """
    n = len(context_tokens)
    answers = [answer_tokens] * n if isinstance(answer_tokens, int) else list(answer_tokens)
    if len(answers) != n:
        raise ValueError(f"{n} contexts but {len(answers)} answers")
    if n == 0:
        return Projection(model, 0, None, None, None, None)
    prompt, completion = sum(context_tokens) + n * frame_tokens, sum(answers)
    usd = cost_of(Usage(prompt=prompt, completion=completion), price)
    return Projection(
        model=model,
        questions=n,
        prompt_tokens=prompt / n,
        answer_tokens=completion / n,
        usd_per_1k=None if usd is None else usd / n * 1000,
        seconds=None if delay is None else delay.seconds(completion / n),
    )


def price_range(prompt_tokens: Sequence[int], max_tokens: int, price: Price | None) -> PriceRange:
    """Price calls before they are made.

    Args:
        prompt_tokens: real counts of the prompts, from :func:`count_prompt`.
        max_tokens: limit of each reply.
        price: of the model, None where unknown.
    """
    calls, prompt = len(prompt_tokens), sum(prompt_tokens)
    if price is None:
        return PriceRange(calls, prompt, None, None)
    low = cost_of(Usage(prompt=prompt, completion=calls), price)
    return PriceRange(calls, prompt, low, worst_cost(prompt, calls * max_tokens, price))


def count_prompt(messages: Sequence[Mapping[str, Any]]) -> int:
    """Count the tokens of chat messages with the run's tokenizer and OpenAI's chat format; other models differ."""
    texts = sum(count_tokens(str(message.get("content") or "")) for message in messages)
    return texts + _PER_MESSAGE * len(messages) + _PER_REPLY
