"""A tenant's log while it is being written: messages first as plain rows, with their ids once all are in time order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memtrial.datasets.schema import Conversation, Message, Participant
from memtrial.datasets.supportdesk.rng import Rng
from memtrial.datasets.supportdesk.text import DAY, moment
from memtrial.datasets.supportdesk.world import Complaint, Fact, Order, Person, Status, Tenant, Topic, Voice

SPAN = 400
"""Days over which things happen."""

FEEDS = ("crm", "erp", "wiki", "forum", "email")

_TITLES = {
    "en": {
        "crm": "CRM record feed",
        "erp": "ERP record feed",
        "wiki": "Wiki changes",
        "forum": "Forum",
        "email": "Mailbox",
    },
    "zh": {"crm": "CRM记录", "erp": "ERP记录", "wiki": "知识库变更", "forum": "论坛", "email": "公共邮箱"},
}
_ROLES = {"en": ("customer", "agent", "system"), "zh": ("客户", "客服", "系统")}

Row = tuple[int, int, str, str, str, str, str, int]
"""minute, number, conversation, sender, recipient, source, text, number of the message replied to or -1"""


class TenantLog:
    """Messages and facts of one tenant under construction.

    Attributes:
        heard: minute of everybody's first message.
        spare: messages that may still go into decoration (greetings, chit-chat) of the case being written.
    """

    def __init__(self, tenant: Tenant, voice: Voice, budget: int, rng: Rng) -> None:
        """Start an empty log that is to hold exactly ``budget`` messages."""
        self.tenant = tenant
        self.language = voice.language
        self.bank = voice.bank
        self.pool = voice.pool
        self.rng = rng
        self.budget = budget
        self.rows: list[Row] = []
        self.topics: dict[tuple[str, int, str, str], Topic] = {}
        self.orders: list[Order] = []
        self.complaints: list[Complaint] = []
        self.spare = 0
        self.ids: list[str] = []
        self.heard: dict[str, int] = {}
        self._busy: set[tuple[int, int]] = set()
        self._serial = 100_000 + rng.below(400_000)
        self._staff_turn = rng.below(4)

    @property
    def left(self) -> int:
        """Messages still to be written."""
        return self.budget - len(self.rows)

    def phrase(self, intent: str, slots: Mapping[str, object]) -> str:
        """Render one variant of an intent."""
        variant = self.rng.pick(self.bank.phrases[intent])
        return variant.format_map(slots) if slots else variant

    def write(
        self, minute: int, conversation: str, sender: str, recipient: str, source: str, text: str, reply_to: int = -1
    ) -> int:
        """Append a message and return its number."""
        number = len(self.rows)
        self.rows.append((minute, number, conversation, sender, recipient, source, text, reply_to))
        return number

    def record(self, source: str, minute: int, intent: str, **slots: object) -> int:
        """Append a record to one of the feeds (crm, erp, wiki) and return its number."""
        feed = f"{self.tenant.id}-{source}"
        return self.write(minute, feed, feed, self.tenant.id, source, self.phrase(intent, slots))

    def post(self, minute: int, intent: str, **slots: object) -> int:
        """Append a forum post by some reader."""
        author = f"{self.tenant.id}-{self.pool.handle}{self.rng.between(100, 999)}"
        return self.write(minute, f"{self.tenant.id}-forum", author, "", "forum", self.phrase(intent, slots))

    def mail(self, minute: int, intent: str, sender: Person | None, **slots: object) -> int:
        """Append an e-mail: a customer's into its conversation, anybody else's into the mailbox feed."""
        text = self.phrase(intent, slots)
        if sender is None:
            author = f"{self.tenant.id}-{self.pool.handle}{self.rng.between(100, 999)}"
            return self.write(minute, f"{self.tenant.id}-email", author, self.tenant.id, "email", text)
        return self.write(minute, sender.conversation, sender.id, self.tenant.id, "email", text)

    def free_day(self, customer: Person, wanted: int) -> int:
        """Return the first day from ``wanted`` on which the customer is in no other session, and take it."""
        while (customer.index, wanted) in self._busy:
            wanted += 1
        self._busy.add((customer.index, wanted))
        return wanted

    def minute_of(self, day: int) -> int:
        """Return some minute of a day's office hours."""
        return day * DAY + 8 * 60 + self.rng.below(7 * 60)

    def later(self, day: int, low: int, high: int) -> int:
        """Return a day ``low`` to ``high`` days after ``day``."""
        return day + self.rng.between(low, high)

    def code(self, letter: str) -> str:
        """Return a new code; consecutive ones are easily mixed up."""
        self._serial += 1 + self.rng.below(7)
        return f"{letter}{self.tenant.code}-{self._serial}"

    def agent(self) -> tuple[str, str]:
        """Return id and name of the next agent on shift."""
        self._staff_turn = (self._staff_turn + 1) % len(self.tenant.staff)
        return self.tenant.staff[self._staff_turn]

    def free(self, kind: str, customer: Person | None, entity: str, detail: str = "") -> bool:
        """Say whether nothing was said on this topic yet."""
        return (kind, customer.index if customer else -1, entity, detail) not in self.topics

    def topic(self, kind: str, customer: Person | None, entity: str, detail: str = "") -> Topic:
        """Return the topic, made when it is new."""
        key = (kind, customer.index if customer else -1, entity, detail)
        found = self.topics.get(key)
        if found is None:
            found = self.topics[key] = Topic(kind, customer, entity, detail)
        return found

    def fact(
        self, topic: Topic, values: tuple[str, ...], *refs: int, status: Status = "holds", settled: bool = True
    ) -> None:
        """Add what the messages ``refs`` say on a topic; not ``settled`` where more of it follows at once."""
        minute = max(self.rows[ref][0] for ref in refs)
        topic.facts.append(Fact(values, refs, minute, status))
        if settled:
            self.settle(topic, minute)

    def settle(self, topic: Topic, minute: int) -> None:
        """Mark that questions on a topic have one answer from ``minute`` on."""
        topic.cuts.append(max([minute, *(fact.minute for fact in topic.facts)]))

    def finish(self) -> list[Conversation]:
        """Order all messages by time, give them their ids and return the conversations."""
        order = sorted(self.rows)
        ids = [""] * len(order)
        for place, row in enumerate(order, 1):
            ids[row[1]] = f"{self.tenant.id}-{place:06d}"
        self.ids = ids
        extras = self._extras()
        members: dict[str, list[Message]] = {}
        sessions: dict[tuple[str, int], str] = {}
        tenant = self.tenant.id
        feeds = {f"{tenant}-{feed}" for feed in FEEDS}
        for minute, number, conversation, sender, recipient, source, text, reply_to in order:
            # A feed is cut by weeks, a customer's conversation by days: one contact never goes on overnight.
            day = minute // DAY
            key = (conversation, day - day % 7 if conversation in feeds else day)
            session = sessions.get(key)
            if session is None:
                session = sessions[key] = f"{conversation}-d{day:03d}"
            extra = extras.get(sender)
            if extra is None:
                extra = extras[sender] = MappingProxyType({"sender_name": sender[len(tenant) + 1 :]})
            self.heard.setdefault(sender, minute)
            message = Message(
                ids[number],
                conversation,
                session,
                tenant,
                sender,
                recipient,
                moment(minute),
                text,
                source,
                ids[reply_to] if reply_to >= 0 else None,
                extra,
            )
            members.setdefault(conversation, []).append(message)
        self.rows = []
        return [self._conversation(name, messages) for name, messages in sorted(members.items())]

    def _extras(self) -> dict[str, Mapping[str, str]]:
        customer, agent, system = _ROLES[self.language]
        out: dict[str, Mapping[str, str]] = {}
        for person in self.tenant.customers:
            out[person.id] = MappingProxyType({"sender_name": person.name, "sender_role": customer})
        for staff_id, name in self.tenant.staff:
            out[staff_id] = MappingProxyType({"sender_name": name, "sender_role": agent})
        for feed in ("crm", "erp", "wiki"):
            out[f"{self.tenant.id}-{feed}"] = MappingProxyType({"sender_name": feed.upper(), "sender_role": system})
        return out

    def _conversation(self, name: str, messages: list[Message]) -> Conversation:
        feed = name[len(self.tenant.id) + 1 :]
        names = {p.id: p.name for p in self.tenant.customers} | dict(self.tenant.staff)
        title = _TITLES[self.language].get(feed) or names[name]
        people = dict.fromkeys(m.sender for m in messages) if feed != "forum" else {}
        return Conversation(
            id=name,
            tenant_id=self.tenant.id,
            messages=tuple(messages),
            language=self.language,
            title=f"{self.tenant.brand}: {title}",
            participants=tuple(Participant(p, names.get(p, p[len(self.tenant.id) + 1 :])) for p in people),
        )


class Session:
    """One contact of a customer with the desk: a clock that runs on with every message, all on one day."""

    def __init__(self, log: TenantLog, customer: Person, wanted: int) -> None:
        """Open a contact on the first free day from ``wanted``."""
        self.log = log
        self.customer = customer
        self.day = log.free_day(customer, wanted)
        self.minute = log.minute_of(self.day)
        self.agent_id, self.agent_name = log.agent()
        if self._spare(70):
            self.customer_says("c.greet")
            if self._spare(70):
                self.agent_says("a.greet", agent=self.agent_name)

    def _spare(self, percent: int) -> bool:
        if self.log.spare > 0 and self.log.rng.chance(percent):
            self.log.spare -= 1
            return True
        return False

    def customer_says(self, intent: str, **slots: object) -> int:
        """Append what the customer says, now and then with an opener or a tail, and return its number."""
        log, rng = self.log, self.log.rng
        text = log.phrase(intent, slots)
        roll = rng.below(8)
        if intent != "c.serial":
            if roll == 0:
                text = rng.pick(log.bank.phrases["d.before"]) + text
            elif roll == 1 and text[-1].isalnum():
                text += rng.pick(log.bank.phrases["d.after"])
        return self._write(self.customer.id, self.agent_id, text, -1)

    def agent_says(self, intent: str, reply_to: int = -1, **slots: object) -> int:
        """Append what the agent says and return its number."""
        return self._write(self.agent_id, self.customer.id, self.log.phrase(intent, slots), reply_to)

    def _write(self, sender: str, recipient: str, text: str, reply_to: int) -> int:
        self.minute += 1 + self.log.rng.below(5)
        return self.log.write(self.minute, self.customer.conversation, sender, recipient, "chat_log", text, reply_to)

    def chatter(self) -> None:
        """Maybe put a line or two of chit-chat in between."""
        if self._spare(40):
            if self.log.rng.chance(30):
                self.customer_says("c.praise", product=self.log.rng.pick(self.log.tenant.products))
            else:
                self.customer_says("c.chat")
            if self._spare(60):
                self.agent_says("a.chat")

    def end(self) -> None:
        """Maybe close with the usual politeness."""
        if self._spare(50):
            self.agent_says("a.more")
        if self._spare(60):
            self.customer_says("c.thanks")
