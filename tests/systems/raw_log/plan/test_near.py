from __future__ import annotations

from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import LogIndex, PlanParams
from memtrial.systems.raw_log.plan.boolean import leaves
from memtrial.systems.raw_log.plan.near import near_words
from memtrial.systems.raw_log.plan.params import ExpansionParams
from memtrial.systems.raw_log.plan.rules import plan_by_rules
from tests.systems.raw_log.plan.people import message, question, view

TEXTS = ["the tent has a torn canvas"] * 4 + ["tent pegs"] * 2 + [f"nothing of note number{n}" for n in range(60)]


def test_what_shares_messages_comes_near_with_a_weight_below_one() -> None:
    found = near_words("tent", view(TEXTS), ExpansionParams())
    assert {word for word, _ in found} == {"torn", "canva"}
    assert all(0 < weight <= 0.3 for _, weight in found)
    assert near_words("tent", view(TEXTS), ExpansionParams(words=1))[0][0] in ("torn", "canva")


def test_pairs_that_are_too_rare_or_words_that_are_everywhere_do_not() -> None:
    assert "peg" not in dict(near_words("tent", view(TEXTS), ExpansionParams()))
    assert "peg" in dict(near_words("tent", view(TEXTS), ExpansionParams(least=2, words=9)))
    everywhere = [f"{text} note" for text in TEXTS]
    assert "note" not in dict(near_words("tent", view(everywhere), ExpansionParams(words=20)))


def test_only_the_window_is_read() -> None:
    class Counting:
        def __init__(self) -> None:
            self.read = 0
            self.inner = view(["tent canvas"] * 300 + TEXTS)

        def terms_at(self, position: int) -> object:
            self.read += 1
            return self.inner.terms_at(position)

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

    counting = Counting()
    near_words("tent", counting, ExpansionParams(window=50))  # type: ignore[arg-type]
    assert counting.read == 50


def test_a_word_that_the_log_lacks_is_looked_for_under_a_close_spelling() -> None:
    log = view(["the technician came", "order kd-2219", "the canvas"])
    assert near_words("technican", log, ExpansionParams()) == [("technician", 0.9)]
    assert near_words("technican", log, ExpansionParams(spelling=False)) == []
    assert near_words("kd-2218", log, ExpansionParams()) == []  # another number is another thing
    assert near_words("qqqq", log, ExpansionParams()) == []


def test_switched_off_and_in_an_empty_log_there_are_none() -> None:
    assert near_words("tent", view(TEXTS), ExpansionParams(on=False)) == []
    assert near_words("tent", view((), tenant="other"), ExpansionParams()) == []


def test_a_plan_holds_near_words_at_their_weights() -> None:
    made = plan_by_rules(question("What is with the tent?"), view(TEXTS), PlanParams())
    (keyword,) = [i for i in made.instructions if i.kind == "keyword"]
    weights = {leaf.text: leaf.weight for leaf in leaves(keyword.tree)}
    assert weights["tent"] == 1.0
    assert 0 < weights["torn"] < 1


def test_a_tenants_view_shows_nothing_of_another() -> None:
    log = Log()
    log.add([message(1, "u1", "tent"), message(2, "u2", "secret", tenant="other", to="u3")])
    index = LogIndex(log)
    mine = index.view("t")
    assert [p.id for p in mine.participants()] == ["u1"]
    assert (
        mine.size(),
        mine.frequency("secret"),
        list(mine.postings("secret", 5)),
        list(mine.words_from("se", 5)),
    ) == (1, 0, [], [])
    assert index.view(None).size() == 2
    assert [p.id for p in index.view("other").participants()] == ["u2", "u3"]
    log.add([message(3, "u5", "tentative")])
    index.add([2])
    assert list(mine.words_from("tent", 9)) == ["tent", "tentat"]
