from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.reports.escape import markdown, one_line, visible


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\x1b[31mb", "a⟨U+001B⟩[31mb"),
        ("x\u200by\ufeff", "x⟨U+200B⟩y⟨U+FEFF⟩"),
        ("tag \U000e0041", "tag ⟨U+E0041⟩"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("line\r\nfeed\tand tab", "line\nfeed\tand tab"),
        ("\u2028", "⟨U+2028⟩"),
        ("家 \U0001f468\u200d\U0001f469", "家 \U0001f468\u200d\U0001f469"),
    ],
)
def test_invisible_characters_are_spelt_out(raw: str, shown: str) -> None:
    assert visible(raw) == shown


@given(st.text(st.characters(codec=None)))
def test_visible_text_is_encodable_and_stable(raw: str) -> None:
    shown = visible(raw)
    shown.encode("utf-8")
    assert visible(shown) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a|b", "a\\|b"),
        ("<svg onload=alert(1)>", "&lt;svg onload=alert(1)&gt;"),
        ("[a](javascript:alert(1))", "\\[a\\](javascript:alert(1))"),
        ("https://x.y", "https:\\//x.y"),
        ("www.evil.example", "www\\.evil.example"),
        ("two\nlines", "two lines"),
        ("- item", "\\- item"),
        ("`code` \\ *b*", "\\`code\\` \\\\ \\*b\\*"),
        ("&lt;", "&amp;lt;"),
        ("![x](y) #12 @octocat a@b.c recall@10", "!\\[x\\](y) \\#12 \\@octocat a\\@b.c recall@10"),
    ],
)
def test_markdown_punctuation_loses_its_meaning(raw: str, shown: str) -> None:
    assert markdown(raw) == shown


@given(st.text())
def test_markdown_never_breaks_a_table_cell(raw: str) -> None:
    cell = markdown(raw)
    assert "\n" not in cell
    assert not re.search(r"(?<!\\)(?:\\\\)*\|", cell)
    assert "<" not in cell


def test_one_line_cuts_with_an_ellipsis() -> None:
    assert one_line("a  b\n c", 4) == "a b…"
