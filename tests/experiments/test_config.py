from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import (
    Config,
    config_path,
    load_config,
    parse_overrides,
    shipped_configs,
    starter_config,
)
from memtrial.experiments.paths import get_path
from memtrial.experiments.sweep import expand
from memtrial.experiments.yamlfile import parse_document, parse_value

GOOD = """\
data: [handwritten]
systems:
  bm25: {use: bm25, k: 10}
  oracle: {}
"""


def load(tmp_path: Path, text: str, *sets: str) -> Config:
    file = tmp_path / "trial.yaml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, sets)


def shipped(name: str, folder: Path) -> Config:
    needs = {"locomo": ["data"], "lifebench": ["data"], "published_locomo": ["data", "published"]}
    return load_config(name, [f"{label}.path={folder}" for label in needs.get(name, [])])


def labels(config: Config) -> list[tuple[str, str]]:
    return [(s.label, d.label) for s, d in expand(config.vary, config.systems, config.data)]


def test_lists_maps_and_defaults_come_to_the_same(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD)
    assert config.name == "trial"
    assert config.data["handwritten"]["name"] == "handwritten"
    assert config.data["handwritten"]["fraction"] == 1.0
    assert config.systems["bm25"]["k"] == 10
    assert config.systems["bm25"]["k1"] == 1.2
    assert config.systems["oracle"]["use"] == "oracle"
    assert (config.seeds, config.time_limit_s, config.metrics.resamples) == ([0], 60.0, 10_000)
    assert load(tmp_path, "data: [handwritten]\nsystems: [bm25, oracle]\n").systems.keys() == {"bm25", "oracle"}


def test_the_resolved_configuration_loads_to_itself(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD + "vary: {mode: grid, axes: {bm25.k1: [0.9, 1.2]}}\nrepeats: 3\nseed: 5\n")
    again = load(tmp_path, yaml.safe_dump(config.resolved()))
    assert again.resolved() == config.resolved()
    assert again.seeds == [5, 6, 7]


def test_dotted_parameters_are_nested_ones(tmp_path: Path) -> None:
    nested = load(tmp_path, "data: [handwritten]\nsystems: {bm25: {units: {reach: 2, window: 0}}}\n")
    dotted = load(tmp_path, "data: [handwritten]\nsystems: {bm25: {units.reach: 2, units: {window: 0}}}\n")
    assert nested == dotted
    assert nested.systems["bm25"]["units"]["reach"] == 2


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("systems.bm25.k=20", ("systems", "bm25", "k"), 20),
        ("bm25.k=20", ("systems", "bm25", "k"), 20),
        ("bm25.units.window=0", ("systems", "bm25", "units", "window"), 0.0),
        ("data.language=zh", ("data", "handwritten", "language"), "zh"),
        ("data.handwritten.language=zh", ("data", "handwritten", "language"), "zh"),
        ("name=other", ("name",), "other"),
        ("time_limit_s=5", ("time_limit_s",), 5.0),
        ("metrics.resamples=500", ("metrics", "resamples"), 500),
        ("repeats=2", ("seeds",), [0, 1]),
        ("seeds=[4, 2]", ("seeds",), [4, 2]),
        ("systems=[oracle]", ("systems", "oracle", "use"), "oracle"),
    ],
)
def test_overrides(tmp_path: Path, override: str, path: tuple[str, ...], value: Any) -> None:
    found: Any = load(tmp_path, GOOD, override).resolved()
    for part in path:
        found = found[part]
    assert found == value


BAD_K = "must be at least 1"


@pytest.mark.parametrize(
    ("text", "overrides", "sentence"),
    [
        (GOOD, ("bm25.k=0",), f"--set bm25.k: systems.bm25: system 'bm25': parameter 'k' is 0, but {BAD_K}"),
        (
            GOOD,
            ("bm25.context_items=0", "bm25.k=5"),
            f"--set bm25.context_items: systems.bm25: system 'bm25': parameter 'context_items' is 0, but {BAD_K}",
        ),
        (GOOD, ("bm25.k=5", "data.langage=zh"), "--set data.langage: "),
        (GOOD, ("bm25.k=5", "time_limit_s=0"), "--set time_limit_s: time_limit_s is 0, but must be more than 0"),
        # what is wrong in the file stays the file's, whatever is set beside it
        ("data: [handwritten]\nsystems: {bm25: {k: 0}}\n", ("bm25.context_items=5",), "trial.yaml:2: systems.bm25: "),
    ],
)
def test_a_wrong_value_is_blamed_on_where_it_came_from(
    tmp_path: Path, text: str, overrides: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, text, *overrides)
    assert str(caught.value).removeprefix(f"{tmp_path}/").startswith(sentence)
    assert ("trial.yaml" in str(caught.value)) == sentence.startswith("trial.yaml")


def test_data_path_goes_to_every_set_that_takes_one(tmp_path: Path) -> None:
    text = (
        "data: {zh: {name: lifebench, language: zh}, en: {name: lifebench, language: en}, desk: {name: supportdesk}}\n"
    )
    config = load(tmp_path, text + "systems: [bm25]\n", "data.path=/somewhere/lifebench")
    assert {label: spec.get("path") for label, spec in config.data.items()} == {
        "zh": "/somewhere/lifebench",
        "en": "/somewhere/lifebench",
        "desk": None,
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "trial.yaml is empty; a configuration needs at least data: and systems:"),
        ("# nothing but a comment\n", "trial.yaml is empty"),
        ("- bm25\n", "trial.yaml:1: the top level is a list, but must be a mapping"),
        ("bm25\n", "trial.yaml:1: the top level is the single value 'bm25', but must be a mapping"),
        ("data: [handwritten]\n\tsystems: [bm25]\n", "trial.yaml:2: the line is indented with a tab; YAML allows spaces only"),
        ("data: [handwritten\nsystems: [bm25]\n", "trial.yaml:2: this is not valid YAML"),
        ("data: [handwritten]\n---\nsystems: [bm25]\n", "trial.yaml:2: a second document starts here (---)"),
        (GOOD + "data: [locomo]\n", "trial.yaml:5: 'data' is given twice (first on line 1); keep one"),
        ("data: [handwritten]\nsystems:\n  bm25: {k: 1, k: 2}\n", "trial.yaml:3: 'k' is given twice (first on line 3)"),
        (
            "data: [handwritten]\nsystems:\n  true: {use: bm25}\n",
            "trial.yaml:3: YAML reads the key 'true' as a truth value; write it in quotes: 'true'",
        ),
        ("data: {false: {name: handwritten}}\nsystems: [bm25]\n", "trial.yaml:1: YAML reads the key 'false' as a truth value"),
        ("data: {~: {name: handwritten}}\nsystems: [bm25]\n", "trial.yaml:1: YAML reads the key '~' as null"),
        ("data: {? [a] : 1}\nsystems: [bm25]\n", "trial.yaml:1: a list or mapping cannot be a key"),
        ("data: &a {x: *a}\nsystems: [bm25]\n", "trial.yaml:1: an anchor contains itself"),
        ("data: !!python/object:os.system {}\nsystems: [bm25]\n", "python/object:os.system' is not supported"),
        (GOOD + "time_limit_s: .nan\n", "trial.yaml:5: time_limit_s is .nan, but must be a finite number"),
        ("systems: [bm25]\n", "trial.yaml: data is missing; name at least one, for example data: [handwritten]"),
        ("data: [handwritten]\n", "trial.yaml: systems is missing; name at least one"),
        ("data: [handwritten]\nsystems: []\n", "trial.yaml:2: systems is {}, but must be a map by label"),
        ("data: handwritten\nsystems: [bm25]\n", "trial.yaml:1: data is 'handwritten', but must be a map by label"),
        ("data: [handwritten]\nsystems: [{use: bm25}]\n", "systems is a list, so it may hold names only, but has {'use'"),
        ("data: [handwritten]\nsystems: [bm25, bm25]\n", "trial.yaml:2: systems names 'bm25' twice; write a map by label"),
        ("data: [handwriten]\nsystems: [bm25]\n", "trial.yaml:1: data.handwriten: data set: option 'name' is 'handwriten'"),
        ("data: {h: {name: handwritten, langage: zh}}\nsystems: [bm25]\n", "(did you mean 'language'?)"),
        ("data: {h: {name: handwritten, language: fr}}\nsystems: [bm25]\n", "'fr'"),
        ("data: {h: {name: handwritten, fraction: 2}}\nsystems: [bm25]\n", "fraction"),
        ("data: [locomo]\nsystems: [bm25]\n", "give it with --set data.path=PATH"),
        ("data: [handwritten]\nsystems: [bm52]\n", "trial.yaml:2: systems.bm52: unknown system 'bm52' (did you mean 'bm25'?)"),
        ("data: [handwritten]\nsystems: {bm25: 5}\n", "trial.yaml:2: systems.bm25 is 5, but must be a mapping of options"),
        ("data: [handwritten]\nsystems: {bm25: {use: 7}}\n", "systems.bm25.use is 7, but must be the name of a system"),
        ("data: [handwritten]\nsystems:\n  bm25: {kk: 7}\n", "trial.yaml:3: systems.bm25: system 'bm25' has no parameter 'kk'"),
        ("data: [handwritten]\nsystems: {bm25: {k: many}}\n", "parameter 'k' is 'many'"),
        ("data: [handwritten]\nsystems: {bm25: {units.windw: 1}}\n", "(did you mean 'window'?)"),
        (
            "data: [handwritten]\nsystems: {bm25: {units.reach: 1, units: {reach: 2}}}\n",
            "'units.reach' is set twice, once with dots and once nested; keep one",
        ),
        ("data: [handwritten]\nsystems: {'a b': {use: bm25}}\n", "'a b' cannot be a label"),
        ("data: [handwritten]\nsystems: {data: {use: bm25}}\n", "'data' cannot be a label"),
        ("data: [handwritten]\nsystems: {bm25.x: {use: bm25}}\n", "'bm25.x' cannot be a label"),
        (GOOD + "repeat: 2\n", "trial.yaml:5: unknown key 'repeat'; allowed: name, data,"),
        (GOOD + "repeat: 2\n", "(did you mean 'repeats'?)"),
        (GOOD + "repeats: 0\n", "trial.yaml:5: repeats is 0, but must be a whole number from 1 to 100"),
        (GOOD + "repeats: yes\n", "trial.yaml:5: repeats is 'yes', but must be a whole number"),
        (GOOD + "seed: -1\n", "trial.yaml:5: seed is -1, but must be a whole number from 0 to 4294967295"),
        (GOOD + "seeds: [1, 1]\n", "trial.yaml:5: seeds is [1, 1], but must be a list of 1 to 100 different whole numbers"),
        (GOOD + "seeds: [1, 2]\nrepeats: 3\n", "seeds says both which seeds and how many repeats"),
        (GOOD + "time_limit_s: soon\n", "trial.yaml:5: time_limit_s is 'soon', but must be a number"),
        (GOOD + "time_limit_s: 0\n", "trial.yaml:5: time_limit_s is 0, but must be more than 0"),
        (GOOD + "warmup: 1.5\n", "trial.yaml:5: warmup is 1.5, but must be a whole number"),
        (GOOD + "metrics: {resample: 10}\n", "unknown key 'metrics.resample' (value 10); allowed: resamples (did you mean"),
        (GOOD + "metrics: {resamples: 3}\n", "metrics.resamples is 3, but must be at least 100"),
        (GOOD + "name: ../../etc\n", "trial.yaml:5: name is '../../etc', but must be 1 to 80 letters"),
        (GOOD + "vary: 5\n", "trial.yaml:5: vary is 5, but must be a mapping with mode:"),
        (GOOD + "vary: {axes: {}}\n", "vary.mode is nothing; allowed: grid, one_at_a_time, ladder"),
        (GOOD + "vary:\n  - {mode: one-at-a-time, axes: {}}\n", "trial.yaml:6: vary[0].mode is 'one-at-a-time'"),
        (GOOD + "vary:\n  - {mode: one-at-a-time, axes: {}}\n", "(did you mean 'one_at_a_time'?)"),
        (GOOD + "vary: {mode: grid, axes: {}}\n", "vary.axes is {}, but must be a map of at least 1 entry"),
        (GOOD + "vary: {mode: grid, axes: {bm25.k: [5, 20, 5]}}\n", "trial.yaml:5: vary.axes.bm25.k holds 5 twice; give each"),
        (GOOD + "vary: {mode: one_at_a_time, axes: {bm25.k1: [1, 1.0]}}\n", "vary.axes.bm25.k1 holds 1.0 twice"),
        (GOOD + "vary: {mode: grid, axes: {bm25.k: [{a: [1]}, {a: [1]}]}}\n", "twice; give each value once"),
        (GOOD + "vary: {mode: grid, axes: {bm25.k: 5}}\n", "vary.axes.bm25.k is 5, but must be a list of at least one value"),
        (GOOD + "vary: {mode: grid, axes: {bm52.k: [5]}}\n", "'bm52.k' must start with a system's label or data"),
        (GOOD + "vary: {mode: grid, axes: {bm52.k: [5]}}\n", "(did you mean 'bm25'?)"),
        (GOOD + "vary: {mode: grid, axes: {bm25.kk: [5]}}\n", "vary: bm25.kk=5: system 'bm25' has no parameter 'kk'"),
        (GOOD + "vary: {mode: grid, axes: {bm25.k: [0]}}\n", "vary: bm25.k=0: system 'bm25': parameter 'k' is 0"),
        (GOOD + "vary: {mode: grid, axes: {data.fractoin: [0.5]}}\n", "no data set here takes 'fractoin'; allowed after data.:"),
        (GOOD + "vary: {mode: grid, axes: {data.fraction: [0]}}\n", "vary: data.fraction=0:"),
        (GOOD + "vary: {mode: ladder, rungs: [{label: a}]}\n", "vary.rungs[0].set is missing"),
        (GOOD + "vary: {mode: ladder, rungs: [{label: a, sets: {}}]}\n", "vary.rungs[0]"),
        (GOOD + "vary: {mode: ladder, axes: {bm25.k: [5]}}\n", "vary.rungs is missing"),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, text)
    message = str(caught.value)
    assert sentence in message
    assert "\n" not in message and "trial.yaml" in message


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("bm25.k", "--set takes PATH=VALUE, for example bm25.k=20, but got 'bm25.k'"),
        ("=5", "--set takes PATH=VALUE"),
        ("bm52.k=5", "--set bm52.k: there is no 'bm52' here; allowed: bm25, oracle, name,"),
        ("systems.bm52.k=5", "(did you mean 'bm25'?)"),
        ("data.handwriten.language=zh", "did you mean"),
        ("bm25.k=[1", "--set bm25.k: '[1' cannot be read as a value"),
        ("bm25.k=lots", "parameter 'k' is 'lots'"),
        ("bm25.k.x=1", "'k.x' leads through 'k', which is 10 and has nothing below it"),
        ("data.messages=5", "'messages'"),
        ("repeats=0", "repeats is 0"),
    ],
)
def test_wrong_overrides_get_one_sentence(tmp_path: Path, override: str, sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        load(tmp_path, GOOD, override)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no file 'quickstrat' here.*did you mean 'quickstart'"):
        load_config("quickstrat")
    with pytest.raises(UserError, match="is a folder; name a YAML file"):
        load_config(tmp_path)
    (tmp_path / "latin.yaml").write_bytes("data: [é]".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin\.yaml is not UTF-8 text"):
        load_config(tmp_path / "latin.yaml")
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load_config(tmp_path / "bom.yaml").systems.keys() == {"bm25", "oracle"}


def test_yaml_reads_numbers_and_times_as_people_mean_them() -> None:
    value = parse_document("a: 1e-3\nb: 1:30\nc: 2024-01-01\nd: 010\ne: 1_000\nf: -2.5\ng: 1.\nh: '3'\n", "x").value
    assert value == {"a": 0.001, "b": "1:30", "c": "2024-01-01", "d": "010", "e": 1000, "f": -2.5, "g": 1.0, "h": "3"}


def test_anchors_and_merges_work() -> None:
    value = parse_document("x: &x {k: 1, j: 2}\ny: {<<: *x, k: 3}\nz: *x\n", "x").value
    assert value == {"x": {"k": 1, "j": 2}, "y": {"k": 3, "j": 2}, "z": {"k": 1, "j": 2}}


@given(st.text(max_size=80))
def test_any_text_parses_or_says_why(text: str) -> None:
    for parse in (parse_document, parse_value):
        try:
            parse(text, "file.yaml")
        except UserError as error:
            assert "file.yaml" in str(error) and "\n" not in str(error)


def test_parse_overrides_nests() -> None:
    assert parse_overrides(["reader.k=3", "reader.x=true", "a=[1, 2]"]) == {"reader": {"k": 3, "x": True}, "a": [1, 2]}


def test_a_grid_crosses_axes_of_one_system_only(tmp_path: Path) -> None:
    vary = "vary: {mode: grid, axes: {bm25.k1: [0.9, 1.2], bm25.b: [0, 0.75], oracle.captions: [true, false]}}\n"
    assert labels(load(tmp_path, GOOD + vary)) == [
        ("bm25[k1=0.9,b=0]", "handwritten"),
        ("bm25[k1=0.9,b=0.75]", "handwritten"),
        ("bm25[k1=1.2,b=0]", "handwritten"),
        ("bm25[k1=1.2,b=0.75]", "handwritten"),
        ("oracle[captions=true]", "handwritten"),
        ("oracle[captions=false]", "handwritten"),
    ]


def test_one_at_a_time_starts_from_the_base_and_repeats_nothing(tmp_path: Path) -> None:
    config = load(tmp_path, GOOD + "vary: {mode: one_at_a_time, axes: {bm25.k1: [0.9, 1.2], bm25.b: [0]}}\n")
    pairs = expand(config.vary, config.systems, config.data)
    assert [(s.label, s.axes) for s, _ in pairs] == [
        ("bm25", {"bm25.k1": 1.2, "bm25.b": 0.75}),
        ("bm25[k1=0.9]", {"bm25.k1": 0.9, "bm25.b": 0.75}),
        ("bm25[b=0]", {"bm25.k1": 1.2, "bm25.b": 0.0}),
        ("oracle", {}),
    ]


def test_off_is_a_word_and_a_switch_alike(tmp_path: Path) -> None:
    text = (
        GOOD
        + "  search: {use: raw_log, rerank: {kind: off}}\n  off: {use: structured, policy: {enabled: off}, recall: {graph: no}}\n"
    )
    systems = load(tmp_path, text, "off.recall.anchors=off", "off.gates.semantic.kind=off").systems
    assert systems["search"]["rerank"]["kind"] == systems["off"]["recall"]["anchors"] == "off"
    assert systems["off"]["gates"]["semantic"]["kind"] == "off"
    assert (systems["off"]["policy"]["enabled"], systems["off"]["recall"]["graph"]) == (False, False)


def test_a_switch_that_many_mechanisms_have_is_named_with_its_own(tmp_path: Path) -> None:
    text = (
        GOOD
        + "  memory: {use: structured}\nvary: {mode: one_at_a_time, axes: {memory.policy.enabled: [false], memory.gates.cost.kind: ['on']}}\n"
    )
    config = load(tmp_path, text)
    labels = [s.label for s, _ in expand(config.vary, config.systems, config.data)]
    assert labels[2:] == ["memory", "memory[policy.enabled=false]", "memory[cost.kind=on]"]


def test_a_value_may_be_named(tmp_path: Path) -> None:
    axes = "{bm25.units: [{label: no units, value: {session: 0, window: 0}}, {reach: 2}]}"
    config = load(tmp_path, GOOD + f"vary: {{mode: one_at_a_time, axes: {axes}}}\n")
    found = {s.label: s for s, _ in expand(config.vary, config.systems, config.data) if s.system == "bm25"}
    assert list(found) == ["bm25", "bm25[units=no units]", 'bm25[units={"reach":2}]']
    named = found["bm25[units=no units]"]
    assert named.axes == {"bm25.units": "no units"}
    assert (named.params["units"]["session"], named.params["units"]["window"]) == (0, 0)
    assert load(tmp_path, yaml.safe_dump(config.resolved())).resolved() == config.resolved()
    with pytest.raises(UserError, match=r"units gives a value the label 5, but a label must be a text"):
        load(tmp_path, GOOD + "vary: {mode: grid, axes: {bm25.units: [{label: 5, value: {session: 0}}]}}\n")


@pytest.mark.parametrize("name", shipped_configs())
def test_trials_of_shipped_configurations_have_short_labels(name: str, tmp_path: Path) -> None:
    config = shipped(name, tmp_path)
    assert not [label for label, _ in labels(config) if "{" in label or len(label) > 60]


def test_a_ladder_keeps_what_earlier_rungs_set(tmp_path: Path) -> None:
    rungs = "[{label: small, set: {bm25.k: 5}}, {label: plain, set: {bm25.b: 0}}, {label: none, set: {oracle.captions: false}}]"
    config = load(tmp_path, GOOD + f"vary: {{mode: ladder, rungs: {rungs}}}\n")
    found = {
        s.label: (s.params.get("k"), s.params.get("b"), s.params["captions"])
        for s, _ in expand(config.vary, config.systems, config.data)
    }
    assert found == {
        "bm25": (10, 0.75, True),
        "bm25[+small]": (5, 0.75, True),
        "bm25[+plain]": (5, 0.0, True),
        "oracle": (None, None, True),
        "oracle[+none]": (None, None, False),
    }


def test_a_rung_that_resets_what_an_earlier_one_set_is_refused(tmp_path: Path) -> None:
    def with_rungs(*rungs: str) -> Config:
        listed = ", ".join(f"{{label: r{n}, set: {{{rung}}}}}" for n, rung in enumerate(rungs))
        return load(tmp_path, GOOD + f"vary: {{mode: ladder, rungs: [{listed}]}}\n")

    with pytest.raises(UserError, match=r"trial.yaml:5: .*rungs\[1\] \('r1'\) sets 'bm25.units' .*'bm25.units.window'"):
        with_rungs("bm25.units.window: 0", "bm25.units: {session: 0}")
    with pytest.raises(UserError, match=r"would reset 'bm25.units.window', set by rung 'r0'"):
        with_rungs("systems.bm25.units.window: 0", "bm25.k: 5", "bm25.units: {session: 0}")
    config = with_rungs("bm25.units.window: 0.1", "bm25.units: {session: 0, window: 0.2}", "bm25.units.window: 0.3")
    units = [s.params["units"] for s, _ in expand(config.vary, config.systems, config.data) if s.system == "bm25"]
    assert [u["window"] for u in units[1:]] == [0.1, 0.2, 0.3]  # the last path wins though a rung between set the whole
    assert [u["session"] for u in units[1:]] == [units[0]["session"], 0, 0]


def test_an_axis_of_the_data_makes_variants_of_the_data(tmp_path: Path) -> None:
    text = "data: {h: {name: handwritten}, d: {name: supportdesk}}\nsystems: [oracle]\n"
    config = load(tmp_path, text + "vary: {mode: grid, axes: {data.messages: [1000, 2000]}}\n")
    assert labels(config) == [("oracle", "h"), ("oracle", "d[messages=1000]"), ("oracle", "d[messages=2000]")]
    config = load(tmp_path, text + "vary: {mode: one_at_a_time, axes: {data.d.fraction: [0.5]}}\n")
    assert labels(config) == [("oracle", "h"), ("oracle", "d"), ("oracle", "d[fraction=0.5]")]


def test_sweeps_add_up_and_equal_variants_run_once(tmp_path: Path) -> None:
    vary = """vary:
  - {mode: grid, axes: {bm25.k: [10, 20]}}
  - {mode: one_at_a_time, axes: {bm25.k: [20, 30]}}
"""
    assert [s for s, _ in labels(load(tmp_path, GOOD + vary))] == ["bm25[k=10]", "bm25[k=20]", "bm25[k=30]", "oracle"]


@pytest.mark.parametrize("name", ["quickstart", "bench", "locomo", "lifebench"])
def test_shipped_configurations_load(name: str) -> None:
    sets = ["data.path=/some/where"] if name in ("locomo", "lifebench") else []
    config = load_config(name, sets)
    assert config.name == name
    assert config_path(name) == config_path(f"{name}.yaml")
    if name != "quickstart":
        from memtrial.systems.registry import BUILT_IN

        baselines = {name for name, where in BUILT_IN.items() if ".baselines." in where}
        assert baselines <= {entry["use"] for entry in config.systems.values()}


def test_every_architecture_stands_side_by_side() -> None:
    from memtrial.systems.registry import BUILT_IN

    used = [entry["use"] for entry in load_config("architectures").systems.values()]
    assert sorted(used) == sorted(set(BUILT_IN) - {"published"})
    rungs = load_config("write_back").vary[0]
    assert rungs.mode == "ladder" and len(rungs.rungs) == 4


@pytest.mark.parametrize("name", shipped_configs())
def test_every_rung_of_a_shipped_configuration_keeps_what_came_before(name: str, tmp_path: Path) -> None:
    config = shipped(name, tmp_path)
    trials = {s.axes.get("ladder"): s for s, _ in expand(config.vary, config.systems, config.data)}
    for ladder in (sweep for sweep in config.vary if sweep.mode == "ladder"):
        wanted: dict[str, Any] = {}
        for rung in ladder.rungs:
            wanted |= dict(leaf for path, value in rung.set.items() for leaf in leaves(path.partition(".")[2], value))
            assert {path: get_path(trials[rung.label].params, path) for path in wanted} == wanted, rung.label


def leaves(path: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(f"{path}.{key}", inner)]
    return [(path, value)]


def test_write_back_switches_one_thing_after_another() -> None:
    config = load_config("write_back")
    found = [
        s.params["write_back"] for s, _ in expand(config.vary, config.systems, config.data) if s.system == "hybrid"
    ]
    rungs = [params for n, params in enumerate(found) if params not in found[:n]]
    assert [r["enabled"] for r in rungs] == [False, True, True, True, True]
    assert 0 == rungs[2]["min_confidence"] == rungs[4]["min_confidence"] < rungs[1]["min_confidence"]
    assert [r["planted"] for r in rungs] == [0, 0, 0, 0.33, 0.33]
    assert [(r["state"], r["scope"]) for r in rungs[3:]] == [("uncertain", "asker"), ("active", "tenant")]


def test_shipped_names() -> None:
    names = shipped_configs()
    assert names == sorted(names)
    assert {"architectures", "bench", "ladder", "lifebench", "locomo", "quickstart", "write_back"} <= set(names)
    assert "starter" not in names


def test_the_starter_loads_and_what_it_comments_out_is_right(tmp_path: Path) -> None:
    assert load(tmp_path, starter_config()).systems.keys() == {"bm25", "oracle", "no_memory"}
    kept = [line for line in starter_config().splitlines() if not re.match(r"# [A-Z]|#   \w|  # mine", line)]
    text = "\n".join(re.sub(r"^(\s*)# (?=[\w -])", r"\1", line) for line in kept)
    config = load(tmp_path, text)
    assert [s.mode for s in config.vary] == ["grid", "one_at_a_time", "ladder"]
    assert "desk" in config.data and "bm25_small" in config.systems
    assert config.models["read"]["model"] == "gpt-4o-mini"
