"""A plan's filters, put to an engine, admit what they admit in Python."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.datasets.schema import Message
from memtrial.systems.baselines.lexical import text_document
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.indexed import text_query
from memtrial.systems.raw_log.plan import And, DateRange, Filters, Keyword, Leaf, Node, Not, Or, Person
from memtrial.systems.stores.textindex_tantivy import TantivyIndex

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
TEXTS = ["red red tent", "the second-hand tent", "hand second", "苹果 植物园", "ha ha ha", "order A-1234", "!!", ""]


def message(n: int, text: str, sender: str, minute: int) -> Message:
    return Message(f"m{n}", "c", "s", f"t{n % 2}", sender, "lee", NOON + timedelta(minutes=minute), text)


LOG = [
    message(n, text, sender, minute)
    for n, (text, sender, minute) in enumerate((t, s, m) for t in TEXTS for s in ("kim", "") for m in (0, 7))
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    index = TantivyIndex(Path(tmp_path_factory.mktemp("index")), {})
    index.load([text_document(m, [*terms(m.content), "kim", "march"], terms(m.content)) for m in LOG])
    index.commit()
    return index


leaves = st.builds(
    Leaf,
    st.sampled_from(["tent", "second hand", "second-hand", "ha ha", "植物园", "A-1234", "?!", "", "kim", "none"]),
    phrase=st.booleans(),
    indexed=st.booleans(),
)
nodes: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda parts: (
        st.builds(Not, parts)
        | st.builds(And, st.lists(parts, min_size=1, max_size=3).map(tuple))
        | st.builds(Or, st.lists(parts, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=6,
)
minutes = st.integers(-1, 9).map(lambda n: NOON + timedelta(minutes=n))
filters = st.builds(
    Filters,
    dates=st.lists(st.builds(DateRange, st.just(""), minutes, minutes), max_size=2).map(tuple),
    people=st.lists(st.builds(Person, st.just(""), st.sampled_from([("kim",), ("",), (), ("kim", "lee")])), max_size=2).map(tuple),
    keywords=st.lists(st.builds(Keyword, st.just(""), nodes), max_size=2).map(tuple),
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters, st.sampled_from([None, "t0", "t1", "t2"]))
def test_an_engine_admits_what_the_filters_admit(index: TantivyIndex, wanted: Filters, tenant: str | None) -> None:
    admitted = [
        m.id for m in LOG if tenant in (None, m.tenant_id) and wanted.admits(m, terms(m.content))
    ]  # fmt: skip
    query = text_query(wanted, tenant)
    assert [id for id, _ in index.find(query, 100)] == admitted
    assert index.count(query) == len(admitted)


def test_weights_rank_what_the_filters_leave(index: TantivyIndex) -> None:
    dated = Filters(dates=(DateRange("", NOON, NOON + timedelta(minutes=1)),))
    found = [id for id, _ in index.find(text_query(dated, "t0", [("tent", 1.0), ("red", 1.0)]), 10)]
    assert found == [m.id for m in LOG if m.tenant_id == "t0" and "tent" in m.content and m.timestamp == NOON]
