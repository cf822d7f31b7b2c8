from __future__ import annotations

from pathlib import Path

import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.models.analyze import terms
from memtrial.systems.stores.fulltext import FullTextStore

DOCS = {
    "a": ("t1", "好，走吧"),
    "b": ("t1", "买了苹果"),
    "c": ("t2", "secret apples (the key)"),
    "d": ("t1", "the key"),
}


@pytest.fixture
def store(tmp_path: Path) -> FullTextStore:
    store = FullTextStore(tmp_path / "index", {"v": 1})
    for id, (tenant, text) in DOCS.items():
        store.add(id, tenant, terms(text))
    store.commit()
    return store


def find(store: FullTextStore, text: str, tenant: str | None) -> list[str]:
    return [id for id, _ in store.search([(t, 1.0) for t in terms(text)], tenant, 10)]


def test_punctuation_does_not_match_punctuation(store: FullTextStore) -> None:
    assert find(store, "苹果，多少钱", "t1") == ["b"]


@pytest.mark.parametrize(
    "text",
    ["where is (the key", "cost: 5/6 AND OR", "user:* OR _exists_:secret", "路由器！怎么重启？", "a && b || [c TO"],
)
def test_query_syntax_is_text_and_leaves_the_tenant_alone(store: FullTextStore, text: str) -> None:
    assert set(find(store, text, "t1")) <= {"d"}


def test_all_tenants_where_none_is_named(store: FullTextStore) -> None:
    assert set(find(store, "key", None)) == {"c", "d"}


def test_a_restart_finds_the_documents_and_doubles_none(store: FullTextStore, tmp_path: Path) -> None:
    before = store.search([("key", 1.0)], None, 10)
    store.close()
    again = FullTextStore(tmp_path / "index", {"v": 1})
    again.add("d", "t1", ["key"])
    again.commit()
    assert len(again) == len(DOCS)
    assert again.search([("key", 1.0)], None, 10) == before


def test_other_settings_empty_the_folder(store: FullTextStore, tmp_path: Path) -> None:
    store.close()
    assert len(FullTextStore(tmp_path / "index", {"v": 2})) == 0


def test_an_index_open_elsewhere_is_a_user_error_and_stays_whole(store: FullTextStore, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"full-text index .*index is already open, here or in another process"):
        FullTextStore(tmp_path / "index", {"v": 1})
    assert find(store, "key", "t1") == ["d"]
    store.close()
    assert FullTextStore(tmp_path / "index", {"v": 1}).ids == list(DOCS)


def test_what_looks_like_a_date_is_text_like_any_other(tmp_path: Path) -> None:
    store = FullTextStore(tmp_path / "dates", {"v": 1})
    for id, note in (("a", "2019-07"), ("b", "2019-77"), ("c", "tuesday")):
        store.add(id, "t1", terms(note))
    store.commit()
    assert len(store) == 3
    assert set(find(store, "2019", "t1")) == {"a", "b"}
    assert find(store, "tuesday", "t1") == ["c"]


def test_equal_hits_come_in_the_order_of_adding_whatever_the_engine_merged(tmp_path: Path) -> None:
    store = FullTextStore(tmp_path / "x", {})
    for number in range(40):
        store.add(f"d{number}", "t1", ["newest", "code", f"w{number}"])
        store.commit()  # a segment each; the engine's own threads merge them whenever they get to it
        hits = [id for id, _ in store.search([("newest", 1.0), ("code", 1.0)], "t1", 10)]
        assert hits == [f"d{n}" for n in range(min(10, number + 1))]
    assert store.search([("newest", 1.0)], "t1", 0) == []
    store.close()
