"""Knowledge from files: every spelling is read, every slip is named."""

import pytest

from dpdag import Knowledge
from dpdag.distributions import read_knowledge


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a], [b, c]]", Knowledge(tiers=[["a"], ["b", "c"]])),
        ("tiers:\n- a\n- [b, c]", Knowledge(tiers=[["a"], ["b", "c"]])),
        ("forbidden: [a -> b, [b, c]]", Knowledge(forbidden=[("a", "b"), ("b", "c")])),
        ("required:\n- no → 1\n", Knowledge(required=[("no", "1")])),
        ('{"required": [["a", "b"]]}', Knowledge(required=[("a", "b")])),
        ("forbidden:\n", Knowledge()),
    ],
)
def test_every_spelling_is_read(tmp_path, text, expected):
    (tmp_path / "known.yaml").write_text(text, encoding="utf-8")
    assert read_knowledge(tmp_path / "known.yaml") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("forbiden: []", "unknown entry 'forbiden'. Did you mean 'forbidden'"),
        ("required: [a]", r"an edge must be 'source -> target' or \[source, target\]; got 'a'"),
        ("tiers: a", "'tiers' must be a list"),
        ("tiers: [[[a]]]", "a tier must be a list of names"),
        ("required: [a -> b, b -> a]", "a → b → a is a cycle"),
        ("a: [", "is not YAML or JSON"),
        ("7", "must hold some of forbidden, required, tiers; got '7'"),
        ("", "must hold some of"),
    ],
)
def test_slips_are_named_in_one_line(tmp_path, text, message):
    (tmp_path / "known.yaml").write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_knowledge(tmp_path / "known.yaml")
    assert "known.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)
