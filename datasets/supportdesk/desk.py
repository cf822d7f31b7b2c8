"""Put a whole desk together: tenants, their logs, and what is true in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.schema import Conversation
from memtrial.datasets.supportdesk.cases.deck import fill
from memtrial.datasets.supportdesk.log import TenantLog
from memtrial.datasets.supportdesk.phrasings.bank import load_bank
from memtrial.datasets.supportdesk.pools import POOLS
from memtrial.datasets.supportdesk.rng import Rng
from memtrial.datasets.supportdesk.world import Voice, make_tenants

LANGUAGES = {"zh": ("zh",), "en": ("en",), "both": ("zh", "en")}
SPLITS = ("test", "train")
FEWEST, MOST = 1_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Desk:
    """One language's part of the desk.

    Attributes:
        logs: one finished log per tenant, with topics, orders and complaints; ``log.ids[ref]`` is a message's id.
        conversations: those of all tenants.
        end: minute of the last message of all.
    """

    language: str
    logs: tuple[TenantLog, ...]
    conversations: tuple[Conversation, ...]
    end: int


def check_options(messages: int, language: str, split: str) -> None:
    """Raise a UserError that names the option, its value and what is allowed."""
    if not FEWEST <= messages <= MOST:
        raise UserError(f"supportdesk: messages is {messages}, allowed are {FEWEST} to {MOST}")
    for name, value, allowed in (("language", language, tuple(LANGUAGES)), ("split", split, SPLITS)):
        if value not in allowed:
            raise UserError(
                f"supportdesk: {name} is {value!r}, allowed are {', '.join(allowed)}{did_you_mean(value, allowed)}"
            )


def generate_world(messages: int, seed: int, language: str = "both", split: str = "test") -> tuple[Desk, ...]:
    """Generate the logs with the typed facts behind them.

    Args:
        messages: exact number of messages over all languages, 1,000 to 1,000,000.
        seed: the same seed gives the same bytes on any machine.
        language: ``zh``, ``en`` or ``both`` (half of the messages each).
        split: ``train`` or ``test``; they share no user, no product and no phrasing.

    Raises:
        UserError: an option is out of range, or the split's phrasing bank is missing or faulty.
    """
    return tuple(iter_desks(messages, seed, language, split))


def iter_desks(messages: int, seed: int, language: str, split: str) -> Iterator[Desk]:
    """Yield the desks of ``generate_world`` one by one, so that a caller may drop one's facts before the next is made."""
    check_options(messages, language, split)
    languages = LANGUAGES[language]
    for part, lang in enumerate(languages):
        share = messages // len(languages) + (part < messages % len(languages))
        yield _desk(share, seed, lang, split, least=12 if len(languages) == 1 else 8)


def _desk(messages: int, seed: int, language: str, split: str, *, least: int) -> Desk:
    count = min(60, least + messages // 20_000)
    sizes = [messages // count + (i < messages % count) for i in range(count)]
    pool = POOLS[(split, language)]
    voice = Voice(language, load_bank(split, language), pool)
    tenants = make_tenants(split, language, count, sizes, pool, Rng(seed, split, language, "tenants"))
    logs, conversations, end = [], [], 0
    for tenant, size in zip(tenants, sizes, strict=True):
        log = TenantLog(tenant, voice, size, Rng(seed, split, tenant.id))
        fill(log)
        end = max(end, max(row[0] for row in log.rows))
        conversations += log.finish()
        logs.append(log)
    return Desk(language, tuple(logs), tuple(conversations), end)
