from __future__ import annotations

import pytest

from ge_dialect.tools.expected import Expectation, complaints, read_expectations


@pytest.mark.parametrize(
    ("comment", "line"),
    [
        ("expected-error {{x}}", 12),
        ("expected-error @+2 {{x}}", 14),
        ("expected-error@-1 {{x}}", 11),
        ("expected-error @above {{x}}", 11),
        ("expected-error @below {{x}}", 13),
        ("expected-error @unknown {{x}}", None),
    ],
)
def test_places(comment: str, line: int | None) -> None:
    assert read_expectations(f"a\n// {comment}\nb", line_offset=10) == [
        Expectation("error", line, "x")
    ]


def test_several_on_one_line() -> None:
    found = read_expectations("// expected-error {{a}} expected-remark {{b}}")
    assert found == [Expectation("error", 1, "a"), Expectation("remark", 1, "b")]


def test_each_comment_is_used_up_by_one_diagnostic() -> None:
    wanted = [Expectation("error", 3, "bad")]
    assert not complaints("f", wanted, ["f:3:1: error: a bad thing"])
    assert complaints("f", wanted, ["f:3:1: error: a bad thing", "f:3:9: error: a bad thing"]) == [
        "f:3:9: error: unexpected error: a bad thing"
    ]


@pytest.mark.parametrize(
    "diagnostic",
    ["f:4:1: error: bad", "f:3:1: remark: bad", "f:3:1: error: good", "f: error: bad"],
)
def test_line_kind_and_text_must_fit(diagnostic: str) -> None:
    lines = complaints("f", [Expectation("error", 3, "bad")], [diagnostic])
    assert lines[-1] == 'f:3:1: error: expected error "bad" was not produced'


def test_diagnostics_without_a_line() -> None:
    wanted = [Expectation("error", None, "bad")]
    assert not complaints("f", wanted, ['f: node "conv:1": error: bad'])


def test_remarks_need_not_be_expected() -> None:
    assert not complaints("f", [], ["f:3:1: remark: [p] passed: x"])
