"""The labels are true: checked from the texts alone, with an independent reading of dates, amounts and intents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from memtrial.datasets.schema import LURE_KINDS, Corpus, Dataset, Message, Question
from memtrial.datasets.supportdesk import CATEGORIES, generate
from memtrial.datasets.supportdesk.phrasings.bank import Bank, load_bank

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_BACK = {"this morning": 0, "yesterday": 1, "今天早上": 0, "昨天": 1, "前天": 2}
_BACK |= {f"{word} days ago": n for n, word in enumerate(("two", "three", "four", "five", "six"), 2)}
_BACK |= {f"{sign}天前": n for n, sign in zip((3, 4, 5, 6), "三四五六", strict=True)}
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _questions(data: Dataset, category: str = "") -> Iterator[tuple[Corpus, dict[str, Message], Question]]:
    for corpus in data.corpora:
        log = {message.id: message for message in corpus.messages()}
        for question in corpus.questions:
            if not category or question.category == category:
                yield corpus, log, question


def _dates(message: Message) -> set[date]:
    """Every date that a message may mean; a bare day of the month is taken for the nearest months."""
    text, today = message.content.casefold(), message.timestamp.date()
    found: set[date] = set()
    for word, gap in _BACK.items():
        if word in text:
            found.add(today - timedelta(days=gap))
    weekdays = [_WEEKDAYS.index(m) for m in re.findall(r"last (\w+day)", text)]
    weekdays += ["一二三四五六日".index(m) for m in re.findall(r"上周([一二三四五六日])", text)]
    for weekday in weekdays:
        found.add(today - timedelta(days=(today.weekday() - weekday) % 7 or 7))
    pairs = {(int(m), int(d)) for m, d in re.findall(r"(\d+)月(\d+)", text)}
    names = "|".join(_MONTHS)
    for day, month in re.findall(rf"(\d+)(?:st|nd|rd|th)?(?: of)? ({names})", text):
        pairs.add((_MONTHS.index(month) + 1, int(day)))
    for month, day in re.findall(rf"({names})[a-z]* (\d+)", text):
        pairs.add((_MONTHS.index(month) + 1, int(day)))
    for day in re.findall(r"the (\d+)(?:st|nd|rd|th)(?! of)", text) + re.findall(r"(?<!月)(?<!\d)(\d+)号", text):
        pairs |= {(month, int(day)) for month in range(1, 13)}
    for month, day in pairs:
        for year in (2024, 2025):
            try:
                when = date(year, month, day)
            except ValueError:
                continue
            if abs((when - today).days) < 120:
                found.add(when)
    return found


def _amounts(text: str) -> list[int]:
    return [round(float(a or b) * 100) for a, b in re.findall(r"€(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)元", text)]


def _intents(text: str, bank: Bank, keys: set[str]) -> set[str]:
    found = set()
    for key in keys:
        for variant in bank.phrases[key]:
            pattern = ".+".join(re.escape(part) for part in re.split(r"\{\w+\}", variant))
            if re.search(pattern, text):
                found.add(key)
    return found


def test_every_category_and_lure_kind_is_there_in_both_languages(desk: Dataset) -> None:
    for corpus in desk.corpora:
        assert {question.category for question in corpus.questions} == set(CATEGORIES)
        assert {lure.kind for question in corpus.questions for lure in question.lures} == set(LURE_KINDS)
        types = {question.answer_type for question in corpus.questions}
        assert types == {"span", "number", "money", "date", "duration", "boolean", "list", "choice", "free"}


def test_two_fifths_need_no_memory(desk: Dataset) -> None:
    for corpus in desk.corpora:
        without = [question for question in corpus.questions if not question.needs_memory]
        assert len(without) / len(corpus.questions) == pytest.approx(0.4, abs=0.01)
        assert all(question.category == "no_memory" for question in without)
        # What nobody can know is a small part; the rest is right or wrong like any question.
        assert 0.02 < sum(not question.answerable for question in without) / len(without) < 0.25


def test_ids_are_unique_and_point_somewhere(desk: Dataset) -> None:
    for corpus in desk.corpora:
        messages = corpus.messages()
        assert len({message.id for message in messages}) == len(messages)
        assert len({question.id for question in corpus.questions}) == len(corpus.questions)
        conversations = {conversation.id for conversation in corpus.conversations}
        for _, log, question in _questions(desk):
            if question in corpus.questions:
                assert question.conversation_id in conversations
                assert all(i in log for lure in question.lures for i in lure.message_ids)


def test_nothing_lies_in_the_future_or_in_another_tenant(desk: Dataset) -> None:
    for _, log, question in _questions(desk):
        for i in question.evidence:
            assert log[i].timestamp <= question.asked_at
            assert log[i].tenant_id == question.tenant_id
        assert question.asker.startswith(question.tenant_id)
        for lure in question.lures:
            assert lure.kind in LURE_KINDS
            assert lure.message_ids
            for i in lure.message_ids:
                assert log[i].timestamp <= question.asked_at
                assert (log[i].tenant_id != question.tenant_id) == (lure.kind == "other_tenant")


def test_stale_is_older_than_what_holds(desk: Dataset) -> None:
    seen = 0
    for _, log, question in _questions(desk):
        for lure in question.lures:
            if lure.kind == "stale":
                newest = max(log[i].timestamp for i in question.evidence)
                assert max(log[i].timestamp for i in lure.message_ids) < newest
                seen += 1
    assert seen > 10


def test_sources_of_lures_fit_their_kind(desk: Dataset) -> None:
    rank = {"erp": 4, "crm": 4, "wiki": 4, "email": 3, "chat_log": 2, "forum": 1}
    for _, log, question in _questions(desk):
        for lure in question.lures:
            if lure.kind == "low_authority":
                best = max(rank[log[i].source] for i in question.evidence)
                assert all(rank[log[i].source] < best for i in lure.message_ids)
            if lure.kind == "injected":
                assert all(log[i].source in ("forum", "email") for i in lure.message_ids)


def test_lure_values_differ_from_answers(desk: Dataset) -> None:
    valued = Counter()
    for _, _, question in _questions(desk):
        gold = {answer.casefold() for answer in question.answers}
        for lure in question.lures:
            assert not gold & {value.casefold() for value in lure.values}
            valued[lure.kind] += bool(lure.values)
    assert all(valued[kind] for kind in LURE_KINDS)


def test_unanswerable_has_no_evidence_and_answerable_has_answers(desk: Dataset) -> None:
    tempting = 0
    for _, _, question in _questions(desk):
        assert bool(question.answers) == question.answerable
        assert bool(question.evidence) == (question.answerable and question.needs_memory)
        if question.category == "unanswerable":
            assert not question.answerable
            tempting += any(lure.values for lure in question.lures)
    assert tempting > 5


def test_gold_values_follow_from_the_evidence(desk: Dataset, request: pytest.FixtureRequest) -> None:
    checked: Counter[str] = Counter()
    for _, log, question in _questions(desk):
        if not question.evidence:
            continue
        messages = [log[i] for i in question.evidence]
        text = " ".join(f"{message.sender_name}: {message.content}" for message in messages)
        kind = question.answer_type
        checked[kind] += 1
        if kind in ("span", "choice"):
            assert question.answers[0] in text or any(answer in text for answer in question.answers), question
        elif kind == "list":
            assert all(answer in text for answer in question.answers), question
        elif kind == "date":
            gold = date.fromisoformat(question.answers[0])
            if not re.search(r"v\d\.\d", text):
                assert any(gold in _dates(message) for message in messages), (question, text)
            else:
                assert gold == messages[-1].timestamp.date()
        elif kind == "money":
            gold_cents = _amounts(question.answers[0])[0]
            amounts = _amounts(text)
            assert gold_cents in amounts or gold_cents == sum(amounts), (question, text)
        elif kind == "number":
            digits = question.answers[-1] if question.category == "spec" else question.answers[0]
            assert re.search(rf"(?<!\d){digits}(?!\d)", text) or int(digits) == len(messages), (question, text)
        elif kind == "duration":
            days = int(question.answers[1])
            if question.category == "policy":
                assert str(days) in text
            else:
                start = messages[0].timestamp.date()
                assert any((end - start).days == days for end in _dates(messages[-1])), (question, text)
        if kind == "choice":
            assert question.answers[0] in question.options
            assert len(set(question.options)) == 4
    assert set(checked) == {"span", "choice", "list", "date", "money", "number", "duration", "boolean"}


def test_yes_and_no_follow_from_what_the_newest_evidence_is(desk: Dataset) -> None:
    split = desk.description.split(", ")[-1].split()[0]
    yes_keys = {"w.spec_yes", "a.ticket", "c.complain", "r.opened", "r.reopened", "a.reopened", "a.voucher_yes"}
    no_keys = {"w.spec_no", "r.closed", "a.closed", "a.voucher_maybe", "a.voucher_no", "c.doubt"}
    seen = set()
    for _, log, question in _questions(desk):
        if question.answer_type == "boolean" and question.evidence:
            bank = load_bank(split, question.language)
            newest = max((log[i] for i in question.evidence), key=lambda message: message.timestamp)
            gold = question.answers[0] in ("yes", "是", "支持")
            keys = yes_keys if gold else no_keys
            assert _intents(newest.content, bank, keys), (question, newest.content)
            seen.add(gold)
    assert seen == {True, False}


def test_sums_that_need_no_memory_are_right(desk: Dataset) -> None:
    checked = 0
    for _, _, question in _questions(desk, "no_memory"):
        if question.answer_type == "money":
            (amount,) = _amounts(question.text)
            (gold,) = _amounts(question.answers[0])
            rest = re.sub(r"€\d+(?:\.\d+)?|\d+(?:\.\d+)?元", "", question.text)
            (n,) = (int(d) for d in re.findall(r"\d+", rest)[:1])
            assert gold in (amount * n, amount // n if amount % n == 0 else -1, amount * n // 100)
            checked += 1
    assert checked > 10


def test_follow_ups_carry_their_history(desk: Dataset) -> None:
    for _, _, question in _questions(desk, "follow_up"):
        assert len(question.history) == 2
        assert question.history[0].speaker == question.asker


def test_questions_lie_inside_the_log_and_near_its_end(desk: Dataset) -> None:
    for corpus in desk.corpora:
        end = max(message.timestamp for message in corpus.messages())
        inside = sum(question.asked_at <= end for question in corpus.questions) / len(corpus.questions)
        assert 0.15 < inside < 0.5


def test_a_customer_who_asks_about_own_matters_can_be_told_from_the_log(desk: Dataset) -> None:
    for corpus, _, question in _questions(desk):
        if question.category in ("update", "lookup", "no_schema", "list", "aggregate") and "-K" in question.asker:
            said = [m for m in corpus.messages() if m.sender == question.asker and m.timestamp <= question.asked_at]
            assert said


def test_no_question_of_one_split_is_one_of_the_other() -> None:
    texts = {
        split: {question.text for _, question in generate(3_000, 7, "both", split).questions()}  # type: ignore[arg-type]
        for split in ("train", "test")
    }
    assert not texts["train"] & texts["test"]
