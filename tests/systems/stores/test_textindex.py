"""Every engine behind TextIndex: what it finds is what the reference in Python finds."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.systems.models.analyze import terms
from memtrial.systems.stores.textindex import (
    All,
    Either,
    Has,
    InARow,
    TextDocument,
    TextIndex,
    TextQuery,
    Tree,
    Without,
    met,
)

Opener = Callable[..., TextIndex]
NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)
LONG = "long" * 100
WORDS = ["red", "blue", "苹果", "apple-7", LONG, "a"]
PEOPLE = ["kim", "", "Kim", "kim lee", "周乔", "\ud800", "x" * 400]


def document(n: int, words: list[str], **more: Any) -> TextDocument:
    given: dict[str, Any] = {"tenant": "t1", "sender": "kim", "recipient": "lee", "timestamp": NOON} | more
    return TextDocument(f"m{n}", terms=words, **given)


def found(index: TextIndex, query: TextQuery) -> list[str]:
    return [id for id, _ in index.find(query, 100)]


trees: st.SearchStrategy[Tree] = st.recursive(
    st.builds(Has, st.sampled_from([*WORDS, "none", "red blue", "", "*"]))
    | st.builds(InARow, st.lists(st.sampled_from([*WORDS, "red blue", ""]), max_size=3).map(tuple)),
    lambda parts: (
        st.builds(Without, parts)
        | st.builds(All, st.lists(parts, max_size=3).map(tuple))
        | st.builds(Either, st.lists(parts, max_size=3).map(tuple))
    ),
    max_leaves=6,
)
moments = st.sampled_from([NOON + n * TICK for n in range(-2, 3)])
people = st.frozensets(st.sampled_from([*PEOPLE, "nobody"]), max_size=2)
documents = st.lists(
    st.builds(
        TextDocument,
        st.just(""),
        tenant=st.sampled_from(["t1", "t2", ""]),
        terms=st.lists(st.sampled_from(WORDS), max_size=5),
        held=st.none() | st.lists(st.sampled_from(WORDS), max_size=5),
        sender=st.sampled_from(PEOPLE),
        recipient=st.sampled_from(PEOPLE),
        conversation=st.sampled_from(["c1", "c2"]),
        session=st.sampled_from(["s1", "s2"]),
        timestamp=st.none() | moments,
    ),
    max_size=8,
)
queries = st.builds(
    TextQuery,
    tenant=st.sampled_from([None, "t1", "t2", "", "t1 OR t2"]),
    terms=st.none()
    | st.lists(st.tuples(st.sampled_from([*WORDS, "none"]), st.sampled_from([0.3, 1.0])), max_size=3).map(tuple),
    tree=st.none() | trees,
    dates=st.none() | st.lists(st.tuples(moments, moments), max_size=2).map(tuple),
    senders=st.none() | people,
    parties=st.none() | people,
    conversation=st.sampled_from([None, None, "c1"]),
    session=st.sampled_from([None, None, "s1"]),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents, st.lists(queries, min_size=6, max_size=6))
def test_an_engine_finds_what_the_reference_finds(
    open_index: Opener, texts: list[TextDocument], asked: list[TextQuery]
) -> None:
    index = open_index()
    index.clear()
    numbered = [
        TextDocument(f"m{n}", d.tenant, d.terms, d.held, d.sender, d.recipient, d.conversation, d.session, d.timestamp)
        for n, d in enumerate(texts)
    ]
    assert index.load(numbered) == len(numbered)
    index.commit()
    for query in asked:
        wanted = [d.id for d in numbered if met(query, d)]
        hits = index.find(query, 100)
        assert sorted(id for id, _ in hits) == wanted
        assert [score for _, score in hits] == sorted((score for _, score in hits), reverse=True)
        if query.terms is None:
            assert hits == [(id, 0.0) for id in wanted]
        assert index.newest(query, 3) == wanted[::-1][:3]
        assert index.count(query) == len(wanted)
    index.close()


def test_scores_are_bm25_by_hand(open_index: Opener) -> None:
    index = open_index()
    index.load([document(0, ["red", "red", "blue"]), document(1, ["blue"]), document(2, ["apple", "x"], tenant="t2")])
    index.commit()
    # idf = ln(1 + (3 - 1 + 0.5) / (1 + 0.5)) = 0.98083; mean length 2; tf = 2 · 2.2 / (2 + 1.2 · (0.25 + 0.75 · 3 / 2)) = 1.20548
    assert index.find(TextQuery("t1", terms=(("red", 1.0),)), 5) == [("m0", pytest.approx(1.18236, abs=1e-4))]
    assert index.search([("red", 0.5)], None, 5) == [("m0", pytest.approx(0.59118, abs=1e-4))]
    assert [index.document_frequency(term) for term in ("red", "blue", "none", "red blue")] == [1, 2, 0, 0]


def test_what_is_held_does_not_rank_and_what_ranks_is_not_held(open_index: Opener) -> None:
    index = open_index()
    index.load([document(0, ["red", "kim"], held=["red"])])
    index.commit()
    assert found(index, TextQuery("t1", terms=(("kim", 1.0),))) == ["m0"]
    assert found(index, TextQuery("t1", tree=Has("kim"))) == []


def test_of_equal_scores_the_first_that_came_leads_and_the_limit_cuts_there(open_index: Opener) -> None:
    index = open_index()
    for n in range(30):
        index.load([document(n, ["red"])])
        if n % 5 == 0:
            index.commit()
    index.commit()
    for limit in (1, 4, 29, 40):
        assert found(index, TextQuery(None, terms=(("red", 1.0),)))[:limit] == [f"m{n}" for n in range(min(limit, 30))]
        assert index.newest(TextQuery(None), limit) == [f"m{n}" for n in range(29, max(29 - limit, -1), -1)]


def test_times_are_exact_in_any_zone(open_index: Opener) -> None:
    index = open_index()
    index.load([document(n, ["a"], timestamp=NOON + n * TICK) for n in range(3)])
    index.load([document(3, ["a"], timestamp=datetime(1, 1, 1, tzinfo=UTC))])
    index.commit()
    abroad = (NOON + TICK).astimezone(timezone(timedelta(hours=8)))
    assert found(index, TextQuery("t1", dates=((abroad, abroad + TICK),))) == ["m1"]
    assert found(index, TextQuery("t1", dates=((datetime.min.replace(tzinfo=UTC), NOON),))) == ["m3"]
    with pytest.raises(ValueError, match="has no zone"):
        index.load([document(4, ["a"], timestamp=NOON.replace(tzinfo=None))])


@pytest.mark.parametrize(
    "text",
    ["where is (the key", "cost: 5/6 AND OR", "user:* OR _exists_:secret", "路由器！怎么重启？", "a && b || [c TO"],
)
def test_query_syntax_is_text_and_leaves_the_tenant_alone(open_index: Opener, text: str) -> None:
    index = open_index()
    index.load([document(0, terms("the key")), document(1, terms("secret apples (the key)"), tenant="t2")])
    index.commit()
    words = tuple((term, 1.0) for term in [*terms(text), text, *text.split()])
    assert set(found(index, TextQuery("t1", terms=words))) <= {"m0"}
    for raw in (text, "*", "t1 OR t2", "t*"):
        assert found(index, TextQuery(raw)) == []
        assert found(index, TextQuery("t1", tree=Either((Has(raw), InARow((raw, "key")))))) == []
        assert found(index, TextQuery("t1", senders=frozenset({raw}))) == []


def test_what_looks_like_a_date_is_text_like_any_other(open_index: Opener) -> None:
    index = open_index()
    assert index.load([document(n, terms(note)) for n, note in enumerate(("2019-07", "2019-77", "tuesday"))]) == 3
    index.commit()
    assert sorted(found(index, TextQuery("t1", terms=(("2019", 1.0),)))) == ["m0", "m1"]
    assert found(index, TextQuery("t1", terms=(("tuesday", 1.0),))) == ["m2"]


def test_chinese_words_and_punctuation(open_index: Opener) -> None:
    index = open_index()
    notes = ("周末去植物园看郁金香", "好，走吧", "买了苹果")
    index.load([document(n, terms(note)) for n, note in enumerate(notes)])
    index.commit()
    for asked in ("植物园", "郁金香", "看郁金"):
        assert found(index, TextQuery("t1", terms=tuple((t, 1.0) for t in terms(asked)))) == ["m0"]
    assert found(index, TextQuery("t1", terms=tuple((t, 1.0) for t in terms("苹果，多少钱")))) == ["m2"]


def test_a_filtered_search_finds_all_that_a_scan_does(open_index: Opener) -> None:
    index = open_index()
    index.load([document(n, ["a"], tenant=f"user-{n % 2}") for n in range(80)])
    index.commit()
    assert len(index.find(TextQuery("user-0"), 40)) == index.count(TextQuery("user-0")) == 40


def test_a_restart_finds_the_documents_and_doubles_none(open_index: Opener) -> None:
    index = open_index()
    index.load([document(n, ["key"]) for n in range(3)])
    index.close()
    index.close()
    again = open_index()
    assert again.load([document(1, ["other"]), document(3, ["key"])]) == 1
    again.commit()
    assert (len(again), again.ids, "m3" in again, "m4" in again) == (4, ["m0", "m1", "m2", "m3"], True, False)
    assert found(again, TextQuery("t1", terms=(("key", 1.0),))) == ["m0", "m1", "m2", "m3"]


def test_other_settings_empty_the_index(open_index: Opener) -> None:
    index = open_index(version=1)
    index.load([document(0, ["key"])])
    index.close()
    assert len(open_index(version=2)) == 0


def test_a_term_with_white_space_is_refused(open_index: Opener) -> None:
    index = open_index()
    for bad in ("two words", "", "wide\u3000space"):
        with pytest.raises(ValueError, match="no white space"):
            index.load([document(0, ["red", bad])])


def test_a_cleared_index_is_empty_and_takes_the_same_ids_again(open_index: Opener, tmp_path: Path) -> None:
    index = open_index()
    index.load([document(0, ["red"])])
    index.commit()
    index.clear()
    assert (len(index), found(index, TextQuery(None))) == (0, [])
    assert index.load([document(0, ["blue"])]) == 1
    index.commit()
    assert found(index, TextQuery(None, tree=Has("blue"))) == ["m0"]
