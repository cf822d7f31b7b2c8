"""How well extraction does: typed facts against the supportdesk world, and evidence that reaches a node.

    python tools/extraction_quality.py supportdesk --split train --messages 10000
    python tools/extraction_quality.py evidence locomo PATH

``supportdesk`` compares with the world behind the log, so nothing depends on how its questions are written. A world fact
is found where a typed fact of its attribute has its value, names its customer and its product, plan or order, and came
from its last message. A typed fact is right where the world holds such a fact. Only totals per kind are printed.
``evidence`` counts the messages that questions name as evidence, and how many of them any fact came from.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Corpus, Message
from memtrial.datasets.supportdesk import generate_world
from memtrial.datasets.supportdesk.log import TenantLog
from memtrial.datasets.supportdesk.world import Fact as WorldFact
from memtrial.datasets.supportdesk.world import Topic
from memtrial.systems.base import Context, Trace
from memtrial.systems.structured.extraction import ExtractionParams, Extractor
from memtrial.systems.structured.extraction.folding import key_of
from memtrial.systems.structured.node import Extraction, Fact

ATTRIBUTES = {
    "eta": "delivery_date", "eta_order": "delivery_date", "delayed": "delay", "arrived": "arrival_date", "carrier": "carrier",
    "tracking": "tracking", "address": "address", "price": "price", "refund": "refund", "reason": "return_reason",
    "missing": "missing", "voucher": "voucher", "voucher_sure": "voucher_granted", "open": "ticket_state",
    "status": "handling", "window": "return_window", "fee": "return_fee", "contact": "return_contact", "spec": "supports",
    "spec_num": "spec", "visit": "visit_date", "colour": "colour", "doubt": "doubt", "agreed": "agreed",
    "occasion": "occasion", "serial": "serial", "owner": "account_owner",
}  # fmt: skip
"""Attribute by kind of topic; ``lead_days`` and ``spec_since`` are sums over facts and no facts of their own."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def extract(messages: list[Message]) -> tuple[Extraction, float]:
    """Extract keyless in one go; also return the seconds it took."""
    extractor = Extractor(ExtractionParams(), Context(Path(".")))
    start = time.perf_counter()
    out = asyncio.run(extractor.extract(messages, Trace()))
    return out, time.perf_counter() - start


def same_value(fact: Fact, kind: str, accepted: tuple[str, ...], *, loose: bool = False) -> bool:
    """Whether a fact's value is one of the accepted forms; ``loose``: some of a list is enough."""
    value = fact.value
    if kind == "open":
        return (value == "open") == (accepted[0] in ("yes", "是"))
    if kind == "delayed":
        return True
    if kind == "missing":
        mine, theirs = {key_of(v) for v in value.split("; ")}, {key_of(v) for v in accepted}
        return (
            mine <= theirs
            if loose
            else theirs <= mine
            if fact.state == "active" and len(theirs) == 1
            else mine == theirs
        )
    if fact.value_kind == "boolean":
        return (value == "yes") == (accepted[0] in ("yes", "是", "支持"))
    if kind == "spec":
        return any(key_of(value) in key_of(form) for form in accepted) and accepted[0] not in (
            "yes",
            "no",
            "支持",
            "不支持",
        )
    if fact.value_kind in ("money", "quantity"):
        number, wanted = _NUMBER.search(value), _NUMBER.search(accepted[0])
        return bool(number and wanted and Decimal(number[0]) == Decimal(wanted[0]))
    folded = key_of(value)
    return any(key_of(form) in folded or folded == key_of(form) for form in accepted)


def about(fact: Fact, topic: Topic) -> bool:
    """Whether a fact names the topic's customer, thing and detail."""
    names = {key.split(":", 1)[1].split("#")[0] for key in fact.entities}
    wanted = [topic.entity] if topic.entity else []
    if topic.customer is not None:
        wanted.append(topic.customer.name)
    if not all(key_of(name) in names for name in wanted):
        return False
    return not topic.detail or key_of(fact.attribute.partition(":")[2]) == key_of(topic.detail)


def matches(fact: Fact, topic: Topic, told: WorldFact) -> bool:
    """Whether a typed fact says what the world's fact says."""
    return (
        fact.attribute.partition(":")[0] == ATTRIBUTES[topic.kind]
        and same_value(fact, topic.kind, told.values)
        and about(fact, topic)
    )


def true_in(fact: Fact, topic: Topic, told: WorldFact) -> bool:
    """Whether the world holds what a typed fact says: lists while they grow are right as far as they go."""
    if topic.kind != "missing":
        return matches(fact, topic, told)
    everything = tuple({value for other in topic.facts for value in other.values})
    return fact.attribute == "missing" and same_value(fact, "missing", everything, loose=True) and about(fact, topic)


class Count:
    """Found and right, by kind."""

    def __init__(self) -> None:
        """Start at nothing."""
        self.found: Counter[str] = Counter()
        self.told: Counter[str] = Counter()
        self.reached: Counter[str] = Counter()
        self.right: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.injected = [0, 0]
        self.misses: defaultdict[str, list[str]] = defaultdict(list)

    def tenant(self, log: TenantLog, facts: list[Fact], texts: dict[str, str]) -> None:
        """Compare one tenant's facts with its world."""
        by_message: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in facts:
            for id in fact.message_ids:
                by_message[id].append(fact)
        topics: defaultdict[str, list[tuple[Topic, WorldFact]]] = defaultdict(list)
        for topic in log.topics.values():
            if topic.kind not in ATTRIBUTES:
                continue
            for told in topic.facts:
                if told.status == "closed":
                    continue  # tells again what the facts before it tell
                last = log.ids[told.refs[-1]]
                for ref in told.refs:
                    topics[log.ids[ref]].append((topic, told))
                if topic.kind == "voucher_sure" and told.status == "retracted":
                    continue  # what a reader might take it for; nobody says so
                if told.status == "injected":
                    self.injected[0] += 1
                    self.injected[1] += any(f.attribute or f.state != "injected" for f in by_message[last])
                    continue
                self.told[topic.kind] += 1
                hit = any(matches(f, topic, told) for f in by_message[last])
                self.found[topic.kind] += hit
                self.reached[topic.kind] += bool(by_message[last])
                if not hit:
                    got = [(f.attribute, f.value, f.subject) for f in by_message[last]]
                    self.misses[topic.kind].append(f"{texts[last]!r} wanted {told.values[:1]} got {got}")
        kinds = set(ATTRIBUTES.values())
        for fact in facts:
            attribute = fact.attribute.partition(":")[0]
            if attribute not in kinds or fact.state == "retracted":
                continue
            self.taken[attribute] += 1
            hits = (true_in(fact, t, told) for id in fact.message_ids for t, told in topics[id])
            right = any(hits)
            self.right[attribute] += right
            if not right:
                self.misses[f"wrong {attribute}"].append(
                    f"{texts[fact.message_ids[-1]]!r} gave {fact.value!r} {fact.subject}"
                )

    def table(self) -> Iterable[str]:
        """Yield the lines of a Markdown table."""
        yield "| kind | facts | recall | evidence in a node | taken | precision |"
        yield "|---|---|---|---|---|---|"
        for kind in [k for k in ATTRIBUTES if self.told[k]]:
            taken, right = self.taken[ATTRIBUTES[kind]], self.right[ATTRIBUTES[kind]]
            told = self.told[kind]
            shares = [self.found[kind] / told, self.reached[kind] / told, right / taken if taken else float("nan")]
            yield f"| {kind} | {told} | {shares[0]:.3f} | {shares[1]:.3f} | {taken} | {shares[2]:.3f} |"
        told, taken = self.told.total(), self.taken.total()
        yield (
            f"| all | {told} | {self.found.total() / told:.3f} | {self.reached.total() / told:.3f} "
            f"| {taken} | {self.right.total() / taken:.3f} |"
        )
        yield f"planted orders: {self.injected[0]}, of which taken for a fact: {self.injected[1]}"


def supportdesk(split: str, language: str, messages: int, seed: int, show: int) -> None:
    """Print recall and precision for each language."""
    for desk in generate_world(messages, seed, language, split):
        log = sorted((m for c in desk.conversations for m in c.messages), key=lambda m: m.timestamp)
        out, seconds = extract(log)
        texts = {m.id: m.content for m in log}
        facts: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in out.facts:
            facts[fact.tenant_id].append(fact)
        count = Count()
        for tenant in desk.logs:
            count.tenant(tenant, facts[tenant.tenant.id], texts)
        print(f"\n{split} {desk.language}, seed {seed}: {len(log)} messages, {len(out.facts)} facts, {seconds:.1f} s")
        print("\n".join(count.table()))
        if show and split == "train":  # wording of the test split is nobody's to read
            for kind, lines in count.misses.items():
                print(f"\n{kind}: {len(lines)}")
                print("\n".join(f"  {line}" for line in lines[:show]))


def evidence(corpora: Iterable[Corpus]) -> None:
    """Print the share of evidence messages that some fact came from."""
    named = reached = total = kept = 0
    reasons: Counter[str] = Counter()
    seconds = 0.0
    for corpus in corpora:
        log = corpus.messages()
        out, took = extract(log)
        seconds += took
        ids = {id for fact in out.facts for id in fact.message_ids}
        wanted = {id for question in corpus.questions for id in question.evidence}
        named, reached = named + len(wanted), reached + len(wanted & ids)
        total, kept = total + len(log), kept + len({m.id for m in log} & ids)
        reasons.update(out.skipped.get(id, out.flagged.get(id, "none")) for id in wanted - ids)
    print(f"evidence messages in a node: {reached} of {named} ({reached / max(named, 1):.4f}); lost: {dict(reasons)}")
    print(f"messages in a node: {kept} of {total} ({kept / max(total, 1):.3f}); {seconds:.1f} s")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    desk = commands.add_parser("supportdesk")
    desk.add_argument("--split", choices=("train", "test"), default="train")
    desk.add_argument("--language", choices=("zh", "en", "both"), default="both")
    desk.add_argument("--messages", type=int, default=10_000)
    desk.add_argument("--seed", type=int, default=1)
    desk.add_argument("--show", type=int, default=0, help="misses to print per kind (train split only)")
    found = commands.add_parser("evidence")
    found.add_argument("dataset", choices=("locomo", "lifebench"))
    found.add_argument("path", type=Path)
    found.add_argument("--language", choices=("zh", "en"), default="zh", help="of LifeBench")
    arguments = parser.parse_args()
    if arguments.command == "supportdesk":
        supportdesk(arguments.split, arguments.language, arguments.messages, arguments.seed, arguments.show)
    else:
        spec = {"name": arguments.dataset, "path": str(arguments.path)}
        if arguments.dataset == "lifebench":
            spec["language"] = arguments.language
        evidence(load_dataset(spec).corpora)


if __name__ == "__main__":
    main()
