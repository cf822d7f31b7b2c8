import pytest

from memtrial.systems.structured.extraction.folding import clean, fold, stands_alone
from memtrial.systems.structured.extraction.kin import brought_up
from memtrial.systems.structured.extraction.learn import signature
from memtrial.systems.structured.extraction.lexicon import Lexicon
from tests.systems.structured.extraction.conftest import Extract


def keys(lexicon: Lexicon, text: str) -> list[str]:
    return [m.key for m in lexicon.find(text)]


def test_longest_name_wins_and_a_model_is_no_part_of_another() -> None:
    lexicon = Lexicon("t")
    for name in ("Nova 10", "Nova 10X"):
        lexicon.add("product", name)
    assert keys(lexicon, "my nova 10x and the Ｎova 10's lid") == ["product:nova 10x", "product:nova 10"]
    assert keys(lexicon, "the Nova 10Y, Nova 100, SuperNova 10, Nova 10-2") == []


def test_twins_are_different_people_and_a_shared_first_name_is_nobody() -> None:
    lexicon = Lexicon("t")
    for name in ("Lars Jensen", "Lars Jenson"):
        lexicon.add("person", name, "Lars")
    assert keys(lexicon, "Lars Jensen met Lars Jenson") == ["person:lars jensen", "person:lars jenson"]
    assert keys(lexicon, "Lars called") == []


def test_chinese_names_need_no_gap_around_them() -> None:
    lexicon = Lexicon("t")
    for name in ("云雀S2", "云雀S2X", "周敏", "周铭"):
        lexicon.add("product" if name[0] == "云" else "person", name)
    assert keys(lexicon, "给周敏的云雀S2X换货，不是周铭的云雀S2。") == [
        "person:周敏", "product:云雀s2x", "person:周铭", "product:云雀s2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "alone"), [("a-1", True), ("xa-1", False), ("a-1b", False), ("a-1-2", False), ("a-1.", True)]
)
def test_a_code_stands_alone(text: str, alone: bool) -> None:
    start = text.index("a-1")
    assert stands_alone(text, start, start + 3) is alone


def test_folding_keeps_the_length_and_cleaning_drops_what_cannot_be_seen() -> None:
    assert fold("ＡＢ－İß") == "ab-İß"
    assert clean("a\u200bb\x00  c\r\n\n d ") == "ab c\nd"
    assert signature("TB-10442") == "A2-D5"


def test_learns_people_codes_and_products_from_records(extract: Extract) -> None:
    out = extract(
        ("erp", "SO AA-100234; Dana Roth (K20001); Kestrel 2S; total €99"),
        ("erp", "New order AA-100241 | K20002 Dana Rothe | Corvo 5 | €12.50"),
        ("crm", "TAA-100250 opened, Dana Roth (K20001): Kestrel 2S leaks"),
        ("c", "hi, my Kestrel 2S leaks"),
    )
    found = {e.key: e for e in out.entities}
    assert {k for k in found if k[0] in "op"} >= {
        "order:aa-100234", "order:aa-100241", "product:kestrel 2s", "product:corvo 5", "person:dana roth", "person:dana rothe",
    }  # fmt: skip
    assert "ticket:taa-100250" in found
    assert {"k20001", "t:c"} <= set(found["person:dana roth"].aliases)
    edges = {(e.source, e.relation, e.target) for e in out.edges}
    assert ("person:dana roth", "ordered", "order:aa-100234") in edges
    assert ("order:aa-100234", "about", "product:kestrel 2s") in edges
    assert ("person:dana roth", "reported", "ticket:taa-100250") in edges


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("My sister Anna and our dog Max came", ["Anna", "Max"]),
        ("my best friend, Lena Novak, is here", ["Lena Novak"]),
        ("my brother is late and my friend I met", []),
        ("我同事小王说要去", ["小王"]),
        ("我的朋友来了", []),
    ],
)
def test_people_brought_up(text: str, names: list[str]) -> None:
    assert list(brought_up(text)) == names


def test_learns_from_chinese_records(extract: Extract) -> None:
    out = extract(
        ("erp", "周敏[K26000]下单AF-480437：云雀S2X，金额350.30元"),
        ("crm", "受理 TAF-480440，周敏[K26000]，云雀S2X，充电时发烫"),
        ("crm", "顾岚 负责 周敏/K26000"),
    )
    found = {e.key for e in out.entities}
    assert {"order:af-480437", "ticket:taf-480440", "person:周敏", "product:云雀s2x"} <= found
    assert not any("k26000" in key for key in found)
