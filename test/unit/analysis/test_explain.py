"""Chains of checks and who asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.parser import Parser

from ge_dialect.analysis.explain import Explanation, Step, explain, explaining, first_failure
from ge_dialect.program import context

TEXT = """
ge.graph @main {
  %a = ge.op "Relu" {ge.name = "a"} : tensor<2xf16>
}"""
STEPS = (
    Step("first", True, "fine"),
    Step("second", False, "3 of 4", {"count": 3}, input=1),
    Step("third", False, "worse"),
)


def _op() -> Operation:
    module = Parser(context(), TEXT).parse_module()
    return next(op for op in module.walk() if op.name == "ge.op")


def test_nothing_is_worked_out_unless_asked_for() -> None:
    def steps() -> Iterator[Step]:
        raise AssertionError("not asked for")
        yield

    explain(_op(), "p", steps())
    with explaining(Explanation("b")) as explanation:
        explain(_op(), "p", steps())
    assert explanation.chains == []


def test_chain() -> None:
    for name in ("a", "main/a"):
        with explaining(Explanation(name)) as explanation:
            explain(_op(), "ge-some-pass", STEPS)
        (chain,) = explanation.chains
        assert chain.failure is STEPS[1]
        assert chain.render("net.mlir").splitlines() == [
            'node "a": explain: [ge-some-pass] "a" (Relu) missed: second',
            "  ok      first: fine",
            "  FAILED  second: input 1: 3 of 4",
            "  FAILED  third: worse",
        ]
    assert not Explanation("other/a").wants(_op())


def test_first_failure() -> None:
    assert first_failure(STEPS) is STEPS[1]
    assert first_failure(STEPS[:1]) is None
