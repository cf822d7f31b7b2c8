"""No cheap trick owns the questions. The proxies here are independent of the systems that memtrial ships."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from memtrial.datasets.schema import Corpus, Dataset, Message, Question

_POSSESSIVE = re.compile(r"\b(my|i|me|last|did|was)\b|我|上次|上个月|之前|当时", re.IGNORECASE)


def _tokens(text: str) -> list[str]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    for run in re.findall(r"[一-鿿]+", text):
        words += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return words


def _needing(corpus: Corpus) -> list[Question]:
    return [question for question in corpus.questions if question.evidence]


def _visible(messages: list[Message], question: Question) -> np.ndarray:
    return np.array([m.tenant_id == question.tenant_id and m.timestamp <= question.asked_at for m in messages])


def _bm25(messages: list[Message], question: Question, counts: list[Counter[str]], df: Counter[str]) -> np.ndarray:
    mean = sum(map(len, counts)) / len(counts)
    scores = np.zeros(len(messages))
    for token in set(_tokens(question.text)):
        idf = math.log(1 + (len(messages) - df[token] + 0.5) / (df[token] + 0.5))
        for i, count in enumerate(counts):
            if token in count:
                scores[i] += idf * count[token] * 2.2 / (count[token] + 1.2 * (0.25 + 0.75 * len(count) / mean))
    return scores


def _shares(corpus: Corpus, rank: str) -> tuple[float, float]:
    """Return how often the first message holds all evidence, and how often a lure stands above all evidence."""
    messages = corpus.messages()
    texts = [message.content for message in messages]
    counts = [Counter(_tokens(text)) for text in texts]
    df = Counter(token for count in counts for token in count)
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    matrix = vectors.fit_transform(texts)
    right = lured = 0
    questions = _needing(corpus)
    for question in questions:
        if rank == "bm25":
            scores = _bm25(messages, question, counts, df)
        else:
            scores = (matrix @ vectors.transform([question.text]).T).toarray()[:, 0]
        scores = np.where(_visible(messages, question), scores, -1.0)
        order = [messages[i].id for i in np.argsort(-scores, kind="stable")]
        right += set(question.evidence) <= {order[0]}
        place = {message_id: i for i, message_id in enumerate(order)}
        evidence = min(place[i] for i in question.evidence)
        wrong = [place[i] for lure in question.lures for i in lure.message_ids if i not in question.evidence]
        lured += bool(wrong) and min(wrong) < evidence
    return right / len(questions), lured / len(questions)


def test_word_match_alone_fails(desk: Dataset) -> None:
    for corpus in desk.corpora:
        right, lured = _shares(corpus, "bm25")
        assert right < 0.4
        assert lured > 0.1


def test_vectors_alone_fail(desk: Dataset) -> None:
    for corpus in desk.corpora:
        right, lured = _shares(corpus, "vectors")
        assert right < 0.4
        assert lured > 0.1


def _holds(question: Question, message: Message) -> bool:
    return all(answer in message.content for answer in question.answers) or any(
        len(answer) > 3 and answer in message.content for answer in question.answers
    )


def test_the_newest_message_is_no_shortcut(desk: Dataset) -> None:
    for corpus in desk.corpora:
        messages = corpus.messages()
        own = named = 0
        questions = _needing(corpus)
        for question in questions:
            seen = [m for m in messages if m.tenant_id == question.tenant_id and m.timestamp <= question.asked_at]
            mine = [m for m in seen if question.asker in (m.sender, m.recipient)]
            own += bool(mine) and _holds(question, mine[-1])
            # The newest message that shares the question's rarest words.
            words = Counter(token for m in seen for token in set(_tokens(m.content)))
            known = [token for token in _tokens(question.text) if words[token]]
            rarest = sorted(known, key=lambda token: words[token])[:2]
            about = [m for m in seen if rarest and all(token in _tokens(m.content) for token in rarest)]
            named += bool(about) and about[-1].id in question.evidence and len(question.evidence) == 1
        assert own / len(questions) < 0.25
        assert named / len(questions) < 0.5


def test_always_abstaining_is_mostly_wrong(desk: Dataset) -> None:
    for corpus in desk.corpora:
        abstain = sum(not question.answerable for question in corpus.questions) / len(corpus.questions)
        assert 0.05 < abstain < 0.25


def test_always_answering_yes_or_no_is_no_shortcut(desk: Dataset) -> None:
    golds = Counter(q.answers[0] for c in desk.corpora for q in c.questions if q.answer_type == "boolean" and q.answers)
    assert max(golds.values()) / sum(golds.values()) < 0.7


def test_a_list_of_words_is_no_gate(desk: Dataset) -> None:
    for corpus in desk.corpora:
        hits: dict[bool, list[bool]] = {True: [], False: []}
        for question in corpus.questions:
            hits[question.needs_memory].append(bool(_POSSESSIVE.search(question.text)))
        recall = sum(hits[True]) / len(hits[True])
        false_alarms = sum(hits[False]) / len(hits[False])
        assert false_alarms > 0.1
        assert (recall + 1 - false_alarms) / 2 < 0.8


def test_many_questions_need_more_than_one_message(desk: Dataset) -> None:
    for corpus in desk.corpora:
        questions = _needing(corpus)
        assert sum(len(question.evidence) > 1 for question in questions) / len(questions) > 0.35
