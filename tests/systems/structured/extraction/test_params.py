import pytest
from pydantic import TypeAdapter, ValidationError

from memtrial.systems.structured.extraction import AnyExtractionParams, ExtractionParams, ModelExtractionParams

ADAPTER: TypeAdapter[ExtractionParams | ModelExtractionParams] = TypeAdapter(AnyExtractionParams)


def test_a_model_alone_means_a_model() -> None:
    assert isinstance(ADAPTER.validate_python({}), ExtractionParams)
    assert isinstance(ADAPTER.validate_python({"model": "m"}), ModelExtractionParams)
    assert isinstance(
        ADAPTER.validate_python({**ExtractionParams().model_dump(), "kind": "model"}), ModelExtractionParams
    )


@pytest.mark.parametrize(
    "wrong",
    [{"statements": "some"}, {"max_chars": 3}, {"kind": "magic"}, {"kind": "keyless", "model": "m"}, {"typo": 1}],
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(wrong)
