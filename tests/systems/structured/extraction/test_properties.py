import asyncio
from datetime import timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.supportdesk import generate
from memtrial.systems.base import Context, Trace
from memtrial.systems.structured.extraction import ExtractionParams, Extractor
from memtrial.systems.structured.extraction.support import why_refused
from memtrial.systems.structured.node import Extraction, Fact
from tests.systems.structured.extraction.conftest import START, extract_all, message

PIECES = st.sampled_from(
    ["Kestrel 2S", "AA-100234", "TAA-1002", "K20001", "Dana Roth", "€12.50", "14 May", "the 5th", "voucher", "returns", "30 days",
     "云雀S2", "周敏", "5月14日", "退款", "99元", "少了", "v1.4", "not supported", "S2X", "no wait", ":", "，", "|", "(", "\n", "İ", "\ud800", "9" * 40]
)  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=60), st.lists(PIECES, max_size=8).map(" ".join), st.lists(PIECES, max_size=8).map("".join)
)
TURNS = st.lists(
    st.tuples(st.sampled_from(["c", "a", "c2", "erp", "crm", "wiki", "forum", "email", "Mira"]), TEXTS), max_size=6
)


@settings(max_examples=150, deadline=None)
@given(TURNS)
def test_any_text_is_survived_and_only_given_ids_are_named(turns: list[tuple[str, str]]) -> None:
    lines = [message(n, who, text) for n, (who, text) in enumerate(turns, 1)]
    out = extract_all(Extractor(ExtractionParams(), Context(Path("."))), lines)
    ids = {m.id for m in lines}
    keys = {e.key for e in out.entities}
    assert all(f.message_ids and set(f.message_ids) <= ids for f in out.facts)
    assert all(set(e.message_ids) <= ids and {e.source, e.target} <= keys for e in out.edges)
    assert all(set(f.entities) | ({f.subject, f.owner} - {""}) <= keys for f in out.facts)
    assert set(out.skipped) | set(out.flagged) <= ids
    told = {id for f in out.facts for id in f.message_ids}
    assert told | set(out.skipped) | set(out.flagged) == ids  # every message is accounted for


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=2))
def test_the_support_check_survives_any_text(stored: str, said: str, names: list[str]) -> None:
    turn = message(1, "Mira", said)
    assert isinstance(why_refused(Fact(stored, "t", (turn.id,), START), {turn.id: turn}, names), str)


def test_portions_do_not_matter() -> None:
    for language in ("en", "zh"):
        log = generate(1000, 5, language, "train").corpora[0].messages()  # type: ignore[arg-type]
        whole = extract_all(Extractor(ExtractionParams(), Context(Path("."))), log)
        parts = extract_all(Extractor(ExtractionParams(), Context(Path("."))), log, 37)
        assert whole.facts == parts.facts and whole.edges == parts.edges and whole.skipped == parts.skipped
        assert {(e.tenant_id, e.key): e for e in whole.entities} == {(e.tenant_id, e.key): e for e in parts.entities}


def test_quality_on_the_train_split_does_not_slip() -> None:
    log = generate(1000, 6, "en", "train").corpora[0].messages()
    out = extract_all(Extractor(ExtractionParams(), Context(Path("."))), log)
    share = sum(bool(f.attribute) for f in out.facts) / len(out.facts)
    assert share > 0.5  # what generated desks talk about has attributes


def test_an_empty_portion_and_an_unknown_tenant() -> None:
    extractor = Extractor(ExtractionParams(), Context(Path(".")))
    assert asyncio.run(extractor.extract([], Trace())) == Extraction()
    assert extractor.resolve("Kestrel 2S", "nobody", "x") == []
    asyncio.run(extractor.aclose())


def test_an_old_exchange_lends_nothing_to_a_new_session() -> None:
    lines = [
        message(1, "erp", "SO AA-100234; Dana Roth (K20001); Kestrel 2S; total €99"),
        message(2, "c", "put me down for 3 June, the Kestrel 2S install"),
        message(3, "c", "no wait, make that the 5th", session=2, at=START + timedelta(days=3)),
    ]
    out = extract_all(Extractor(ExtractionParams(), Context(Path("."))), lines)
    assert [(f.value, f.state) for f in out.facts if f.attribute == "visit_date"] == [("2024-06-03", "active")]
