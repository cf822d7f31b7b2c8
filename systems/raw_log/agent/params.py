"""Settings of the agent."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memtrial.systems.models.role import ModelParams


class AgentParams(ModelParams):
    """A model that searches the log itself; what is not given of its settings comes from the role ``agent``.

    Attributes:
        kind: an agent is always a model.
        protocol: how it calls its tools: ``tools`` as the interface has them, ``json`` as objects in its text, for servers
            that offer none; ``auto`` takes ``json`` where the server refuses tools, or the model's first reply calls none.
        steps: most replies of the model; in the last one it must answer.
        calls_per_step: most tools that one reply may call.
        repeats: calls made a second time that are borne before it must answer.
        hits: messages that a tool returns where the model asks for no other number; ``most_hits`` is the most.
        max_result_tokens: most tokens of what a tool returns.
        max_message_tokens: most tokens of one message; of a longer one the beginning is shown.
        max_context_tokens: most tokens of a prompt; the oldest results are taken out first.
        max_total_tokens: tokens of all prompts and replies together after which it must answer.
        cite: an answer that cites no message that was shown is sent back, once.
    """

    kind: Literal["model"] = "model"
    protocol: Literal["auto", "tools", "json"] = "auto"
    steps: int = Field(default=8, ge=1, le=100)
    calls_per_step: int = Field(default=4, ge=1, le=32)
    repeats: int = Field(default=2, ge=0, le=100)
    hits: int = Field(default=10, ge=1, le=200)
    most_hits: int = Field(default=30, ge=1, le=200)
    max_result_tokens: int = Field(default=3_000, ge=100)
    max_message_tokens: int = Field(default=400, ge=20)
    max_context_tokens: int = Field(default=24_000, ge=2_000)
    max_total_tokens: int = Field(default=100_000, ge=1)
    cite: bool = True
