"""The context gate: what the dialogue says about a question that its own words leave open."""

from __future__ import annotations

import re
from typing import NamedTuple

from memtrial.systems.structured.gates.dialogue import DialogueState, task_of
from memtrial.systems.structured.gates.params import ContextParams
from memtrial.systems.structured.gates.signals import Signals

# signs that a question answers itself; a matter under way does not change that
_SELF_CONTAINED = frozenset({"computes", "language_task", "general", "writing", "live", "small_talk"})
_OWN_MATTER = frozenset({"known", "code", "product", "past_time", "event", "record_noun", "offer", "who_said"})
_CONTINUES = re.compile(
    r"^\W*(?:ok(?:ay)?[, ]+)?(?:and|also|what about|how about|same|ditto|then|so)\b|\b(?:then|as well|too)\W*$|\b(?:it|that|this|those|them|one)\b"
    r"|^\W*(?:那|还有|另外|同问|再看|以及|换成)|呢\W*$|它|那个|这个|也是|又是|其中",
    re.IGNORECASE,
)
GOES_ON = "goes on with"


class Verdict(NamedTuple):
    """What a gate says; ``open`` is None where it has nothing to say."""

    open: bool | None
    reason: str


def judge(text: str, signals: Signals, state: DialogueState, params: ContextParams) -> Verdict:
    """Judge a question by the dialogue it stands in.

    Args:
        text: the question.
        signals: of the question.
        state: of the dialogue.
        params: settings.
    """
    own = signals.fired & _OWN_MATTER
    contained = signals.fired & _SELF_CONTAINED
    if not contained and {e.key for e in state.named} & {e.key for e in state.active}:
        return Verdict(True, "names what the dialogue is about")
    if state.task and not contained and (about := task_of(text)):
        return Verdict(True, f"{state.task} under way, asks about {about}")
    if state.needed is not None and not contained and not own:
        how = follows_up(text, signals, params.short)
        # a short question after a sum may be a new matter; only what plainly goes on with the sum shares its fate
        if how and (state.needed or how == GOES_ON):
            return Verdict(state.needed, f"{how} a question that {'needed' if state.needed else 'needed no'} memory")
    if "generic_owned" in signals.fired and not own and not state.named:
        return Verdict(False, "what is called mine is nothing on record")
    return Verdict(None, "says nothing")


def follows_up(text: str, signals: Signals, short: int) -> str:
    """Say how a question leans on the one before it, or "" where it stands by itself."""
    if _CONTINUES.search(text):
        return GOES_ON
    return "too short to stand without" if signals.length <= short else ""
