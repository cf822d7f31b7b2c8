"""Values told apart from the words that speak of them, in wording that no phrasing bank has."""

import pytest

from tests.systems.structured.extraction.conftest import Extract, typed

EN = ("erp", "SO AA-100234; Dana Roth (K20001); Kestrel 2S; total €99")
ZH = ("erp", "订单AA-100234 客户罗丹(K20001) 云雀S2 合计99元")


@pytest.mark.parametrize(
    ("record", "text", "attribute", "value"),
    [
        (EN, "Please arrange the return of the Kestrel 2S, since the hinge squeaks", "return_reason", "hinge squeaks"),
        (ZH, "云雀S2帮我办一下退货，铰链吱吱响", "return_reason", "铰链吱吱响"),
        (ZH, "想把云雀S2退掉，理由是铰链吱吱响", "return_reason", "铰链吱吱响"),
        (ZH, "云雀S2的保护套我喜欢湖水绿", "colour", "湖水绿"),
        (EN, "for the Kestrel 2S cover I have decided on pale moss green", "colour", "pale moss green"),
        (ZH, "云雀S2是为了爷爷的画展", "occasion", "爷爷的画展"),
        (ZH, "云雀S2的配件不全，缺少遮光罩和背带", "missing", "遮光罩; 背带"),
    ],
)
def test_a_value_is_told_apart_from_what_speaks_of_it(
    extract: Extract, record: tuple[str, str], text: str, attribute: str, value: str
) -> None:
    assert [f.value for f in typed(extract(record, ("c", text)), attribute)] == [value]


def test_damage_to_a_cover_and_a_return_for_its_colour_are_no_wish(extract: Extract) -> None:
    out = extract(ZH, ("c", "云雀S2外壳断了一角"), ("c", "云雀S2要退，颜色和照片两样"))
    assert typed(out, "colour") == []


def test_a_day_that_is_not_ahead_of_its_record_has_come(extract: Extract) -> None:
    out = extract(
        ZH, ("erp", "AA-100234 5月4日送达"), ("erp", "AA-100234 预计5月4日送达"), ("erp", "AA-100234 5月9日送达")
    )
    assert [f.value for f in typed(out, "arrival_date")] == ["2024-05-04"]
    assert [f.value for f in typed(out, "delivery_date")] == ["2024-05-04", "2024-05-09"]


def test_a_date_glued_to_a_model_number_is_the_dates(extract: Extract) -> None:
    out = extract(ZH, ("c", "在吗"), ("a", "云雀S212月3日送到您家"))
    fact = typed(out, "delivery_date")[0]
    assert (fact.value[5:], fact.subject) == ("12-03", "product:云雀s2")


@pytest.mark.parametrize(
    ("text", "granted"),
    [
        ("9元券要看领导同不同意", ["no"]),
        ("9元券申请成功", ["yes"]),
        ("等批准了就有9元券", ["no"]),
        ("your €9 voucher has been granted", ["yes"]),
        ("a €9 voucher, if my boss agrees", ["no"]),
        ("voucher of €9", []),
    ],
)
def test_a_voucher_is_granted_only_by_a_word_that_says_so(extract: Extract, text: str, granted: list[str]) -> None:
    assert [f.value for f in typed(extract(EN, ("c", "hi there"), ("a", text)), "voucher_granted")] == granted


def test_an_unknown_wording_of_a_ticket_is_read_by_what_is_under_way_or_done(extract: Extract) -> None:
    out = extract(
        EN,
        ("crm", "TAA-5501 opened, Dana Roth (K20001): Kestrel 2S hums"),
        ("crm", "TAA-5501: gasket swapped"),
        ("crm", "TAA-5501: a second unit is being examined"),
    )
    assert [f.value for f in typed(out, "ticket_state")] == ["open", "resolved", "open"]


def test_a_lone_number_beside_a_name_is_the_customers(extract: Extract) -> None:
    out = extract(("crm", "罗丹（K20001）：秦苗"), ("erp", "K20001 罗丹：云雀S2，AA-100234，99元"))
    assert [(f.value, f.subject, f.owner) for f in typed(out, "price")] == [
        ("99 CNY", "order:aa-100234", "person:罗丹"),
    ]  # fmt: skip
