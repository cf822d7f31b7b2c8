from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not, Or, holds, leaves, normal, parse, show, weigh

a, b, c, d = Leaf("alpha"), Leaf("beta"), Leaf("gamma"), Leaf("delta")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("alpha", a),
        ("alpha beta", And((a, b))),
        ("alpha AND beta OR gamma", Or((And((a, b)), c))),
        ("alpha AND (beta OR gamma) NOT delta", And((a, Or((b, c)), Not(d)))),
        ("alpha（beta OR gamma）", And((a, Or((b, c))))),
        ('"alpha beta" OR gamma', Or((Leaf("alpha beta", phrase=True), c))),
        ("“alpha beta”", Leaf("alpha beta", phrase=True)),
        ("「预算表」", Leaf("预算表", phrase=True)),
        ("NOT NOT alpha", a),
        ("alpha AND NOT (beta OR gamma)", And((a, Not(Or((b, c)))))),
        # not well formed
        ("((alpha AND beta", And((a, b))),
        ("alpha)) OR beta", And((a, b))),
        ("AND OR alpha AND", a),
        ("alpha OR OR beta", Or((a, b))),
        ('"alpha beta', Leaf("alpha beta", phrase=True)),
        ("alpha and beta", And((a, b))),  # "and" is a word, and one that no index holds
        # would match everything, or nothing
        ("NOT alpha", None),
        ("NOT (NOT alpha AND NOT beta)", None),
        ("alpha OR NOT beta", a),
        ("NOT alpha NOT beta", None),
        ("the of and", None),
        ("* ? ! ~", None),
        ("", None),
        ("()", None),
        ("NOT", None),
    ],
)
def test_parse(text: str, tree: Node | None) -> None:
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("expression", "text", "wanted"),
    [
        ("tent AND (price OR cost)", "The tents cost 40 euros", True),
        ("tent AND (price OR cost)", "The tent is red", False),
        ("(tent OR boat) NOT red", "a red tent", False),
        ("(tent OR boat) NOT red", "a blue boat", True),
        ('"blue boat"', "the boat is blue", False),
        ('"blue boat"', "a blue boat", True),
        ("帐篷 AND (价格 OR 费用)", "帐篷的费用是多少", True),
        ("帐篷 NOT 红色", "红色的帐篷", False),
    ],
)
def test_holds(expression: str, text: str, wanted: bool) -> None:
    tree = parse(expression)
    assert tree is not None
    assert holds(tree, terms(text)) is wanted


def test_limits_of_depth_and_size() -> None:
    assert parse("(" * 24 + "alpha" + ")" * 24) == a
    assert parse("(" * 5000 + "alpha" + ")" * 5000) is None
    tree = parse(" OR ".join(f"word{n}" for n in range(1000)))
    assert tree is not None
    assert len(list(leaves(tree))) == 64


def test_words_that_are_not_the_questions_own_weigh_less() -> None:
    tree = parse("tent AND (price OR cost) NOT red")
    assert tree is not None
    weighed = weigh(tree, frozenset({"tent", "price"}), 0.5)
    assert {leaf.text: leaf.weight for leaf in leaves(weighed)} == {"tent": 1.0, "price": 1.0, "cost": 0.5}


WORDS = st.sampled_from(["alpha", "beta", "gamma", "the", "退货", "地址", "x-1", "…", ""])
LEAVES = st.builds(Leaf, WORDS, phrase=st.booleans())
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner, max_size=4).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=4).map(tuple)),
        st.builds(Not, inner),
    ),
    max_leaves=12,
)
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@given(TREES, TEXTS)
def test_a_normal_tree_only_holds_where_one_of_its_words_stands(tree: Node, text: str) -> None:
    kept = normal(tree)
    if kept is None:
        return
    words = terms(text)
    assert not holds(kept, [])
    if holds(kept, words):
        assert any(set(leaf.terms) <= set(words) for leaf in leaves(kept))
    assert normal(kept) == kept


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["AND", "OR", "NOT", "(", ")", '"', "“", "「", "（", "alpha", "退货", " ", "-", "*", "\\", ":"]
        ),
        max_size=25,
    ),
    st.text(max_size=10),
)
@example(["NOT", " ", "("], "")
def test_nothing_crashes_the_parser_and_what_it_shows_reads_back(tokens: list[str], more: str) -> None:
    tree = parse("".join(tokens) + more)
    if tree is None:
        return
    assert not holds(tree, [])
    assert not holds(tree, terms("zulu yankee 什么"))
    again = parse(show(tree))
    for text in ("alpha", "退货", "alpha 退货", more):
        assert again is not None
        assert holds(again, terms(text)) == holds(tree, terms(text))
