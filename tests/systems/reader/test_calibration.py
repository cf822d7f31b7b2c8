from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import memtrial.systems.models.reader as package
from memtrial.systems.base import Evidence, Query
from memtrial.systems.models.reader.candidates import find_candidates
from memtrial.systems.models.reader.need import understand
from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.passages import weigh
from memtrial.systems.models.reader.reading import load_calibration

HERE = Path(package.__file__).parent


def test_every_weight_belongs_to_a_feature_and_every_feature_has_a_weight() -> None:
    query = Query("q", "t", "ann", datetime(2024, 3, 9, tzinfo=UTC), "How much did the kettle cost?")
    item = Evidence("The kettle cost $5.", 1.0, ("m",), "t", timestamp=datetime(2024, 3, 6, tzinfo=UTC), sender="ann")
    need = understand(query)
    features = find_candidates(need, weigh(need, [item]), ReaderParams())[0].features
    reasoned = json.loads((HERE / "reasoned_weights.json").read_text("utf-8"))
    assert set(features) == set(load_calibration()["weights"]) == set(reasoned["weights"])


def test_the_calibration_says_what_it_was_fitted_on() -> None:
    fitted_on = load_calibration()["fitted_on"]
    assert (fitted_on["dataset"], fitted_on["split"]) == ("supportdesk", "train")
    assert fitted_on["fingerprints"]
    assert 0.0 < load_calibration()["abstain_below"] < 1.0


def test_fit_and_check_share_no_seed() -> None:
    fitted_on = load_calibration()["fitted_on"]
    assert not {int(s) for s in fitted_on["fingerprints"]} & set(fitted_on["check_seeds"])
