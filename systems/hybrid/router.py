"""Which of the two parts a question goes to, and why.

Structured memory is better where typed facts hold what is asked (their versions, states and authorities are known), and no
better than its extraction everywhere else; the raw log holds everything. So a question goes to structured memory where it
asks for something that is on record there, and to the log otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from memtrial.systems.hybrid.params import RouterParams
from memtrial.systems.structured.policy import Policy
from memtrial.systems.structured.slots import Slot

Place: TypeAlias = Literal["structured", "raw_log"]
OTHER: dict[Place, Place] = {"structured": "raw_log", "raw_log": "structured"}


@dataclass(frozen=True, slots=True)
class Known:
    """What structured memory can tell of a question before it is answered.

    Attributes:
        slot: the attribute that is asked for; None where no words tell.
        on_record: how many facts stand that fill it.
        policy: what the question's words demand.
        things: keys of the products, orders and tickets that it names.
        typed: how many typed facts there are about those.
        established: a search in the log has answered this very question before, and the answer was written back.
    """

    slot: Slot | None
    on_record: int
    policy: Policy
    things: tuple[str, ...] = ()
    typed: int = 0
    established: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """A decision: where a question goes first, by which rule (a short name), and why in words.

    ``least``: stated confidence below which an answer of the log is taken for none.
    """

    to: Place
    rule: str
    reason: str
    least: float = 0.0


def choose(known: Known, params: RouterParams) -> Route:
    """Return where a question goes first.

    Args:
        known: what structured memory can tell of it.
        params: of the router.
    """
    if params.kind in ("structured_first", "always_structured"):
        return Route("structured", params.kind, "the router asks structured memory, whatever the question")
    if params.kind in ("raw_first", "always_raw"):
        return Route("raw_log", params.kind, "the router asks the log, whatever the question")
    slot, policy = known.slot, known.policy
    if slot is not None:
        asked = f"{' and '.join(slot.attributes)} ({slot.shape})"
        about = f" of {', '.join(slot.things)}" if slot.things else ""
        if known.on_record:
            return Route("structured", "slot", f"asks for {asked}{about}: {known.on_record} facts on record")
        if not known.established:
            reason = f"asks for {asked}{about}, of which nothing is on record"
            if known.typed and params.silence:
                told = f"{reason}, though {known.typed} facts about {known.things[0]} are"
                return Route("raw_log", "slot_silent", told, params.silence)
            return Route("raw_log", "slot_empty", reason)
    if known.established:
        return Route("structured", "established", "was asked before, and what the log answered was written back")
    if policy.min_authority is not None:
        return Route("structured", "authority", "demands sources of an authority that only memories carry")
    if known.typed and policy.wants == "state":
        return Route("structured", "state", f"asks how a matter stands: {known.typed} facts about {known.things[0]}")
    if known.typed and (policy.reading != "newest" or policy.as_of is not None):
        return Route(
            "structured", "versions", f"asks for an earlier version: {known.typed} facts about {known.things[0]}"
        )
    return Route("raw_log", "long_tail", "asks for no attribute that facts are kept of")
