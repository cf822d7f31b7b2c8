from pathlib import Path

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Context
from memtrial.systems.structured.extraction import ExtractionParams, Extractor
from tests.systems.structured.extraction.conftest import extract_all, message


def ready(*more: Message) -> Extractor:
    extractor = Extractor(ExtractionParams(), Context(Path(".")))
    lines = [
        message(1, "erp", "SO AA-100234; Lars Jensen (K20001); Nova 10; total €99"),
        message(2, "erp", "SO AA-100241; Lars Jenson (K20002); Nova 10X; total €99"),
        message(3, "c", "any news?", name="Lars Jensen"),
        *more,
    ]
    extract_all(extractor, lines)
    return extractor


def keys(
    extractor: Extractor, text: str, asker: str = "t:c", history: tuple[Turn, ...] = (), tenant: str = "t"
) -> list[str]:
    return [e.key for e in extractor.resolve(text, tenant, asker, history)]


def test_names_codes_numbers_and_possessives() -> None:
    extractor = ready()
    assert keys(extractor, "When does my Nova 10X come?") == ["product:nova 10x", "person:lars jensen"]
    assert keys(extractor, "Where is AA-100241?") == ["order:aa-100241"]
    assert keys(extractor, "What did K20002 order?") == ["person:lars jenson"]
    assert keys(extractor, "When is the Nova 10Y due?") == []


def test_a_slip_of_the_pen_is_read_only_where_one_thing_can_be_meant() -> None:
    extractor = ready(message(4, "erp", "SO AA-100250; Marta Keller (K20003); Tindra 5; total €9"))
    assert keys(extractor, "What did Marta Kelller order?") == ["person:marta keller"]
    assert keys(extractor, "When does the Tindar 5 come?") == ["product:tindra 5"]
    assert keys(extractor, "What did Lars Jensn order?") == []  # either of the twins


def test_a_follow_up_takes_its_thing_from_the_turns_before() -> None:
    history = (Turn("user", "When does my Nova 10 come?"), Turn("assistant", "On 14 May."))
    assert keys(ready(), "and what carrier?", history=history) == ["product:nova 10"]
    assert keys(ready(), "and the Nova 10X?", history=history) == ["product:nova 10x"]


def test_another_tenant_resolves_nothing() -> None:
    assert keys(ready(), "my Nova 10", tenant="other") == []


def test_a_model_number_ends_before_a_label_that_is_written_to_it() -> None:
    extractor = ready(message(4, "erp", "订单AA-100260；林晓(K20004)；流星T5；合计99元"))
    assert "product:流星t5" in keys(extractor, "我登记的流星T5SN多少")
    assert "product:流星t5" not in keys(extractor, "我登记的流星T5S多少")
