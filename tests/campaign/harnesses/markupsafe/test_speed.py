"""Benchmarks of markupsafe's extension, by kinds of strings that it has code for."""

import pytest
from markupsafe import _speedups

LETTERS = {"ascii": "x", "latin": "é", "plane": "語", "beyond": "🙂"}
TEXTS = {"plain": "{0}" * 20, "tags": "<{0}{0}&{0}>{0}"}


@pytest.mark.parametrize("length", [4, 100])
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("letter", LETTERS)
def test_escape(benchmark, letter, text, length):
    whole = TEXTS[text].format(LETTERS[letter]) * length
    assert benchmark(_speedups.escape, whole).count("&lt;") == whole.count("<")


@pytest.mark.parametrize("value", [7, 0.5, None], ids=["integer", "float", "none"])
def test_others(benchmark, value):
    benchmark(_speedups.escape, value)


def test_silent(benchmark):
    benchmark(_speedups.escape_silent, None)


def test_soft(benchmark):
    benchmark(_speedups.soft_str, "text")
