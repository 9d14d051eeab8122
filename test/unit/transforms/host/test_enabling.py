"""Whether the pass runs at all (spec/host_execution.md section 2.1)."""

from __future__ import annotations

import pytest

from ge_dialect.transforms.host.enabling import decide


@pytest.mark.parametrize(
    ("options", "rule", "runs"),
    [
        ({}, 5, True),
        ({"pass_switch": "on", "level": "O0", "runtime_v2": "0", "option": "false"}, 1, True),
        ({"pass_switch": "off"}, 2, False),
        ({"level": "O0"}, 3, False),
        ({"level": "O1"}, 3, False),
        ({"level": "O2"}, 5, True),
        ({"option": "false"}, 3, False),
        ({"level": "O1", "option": "true"}, 5, True),
        ({"runtime_v2": "0"}, 4, False),
        ({"runtime_v2": "00"}, 4, False),
        ({"runtime_v2": "2"}, 5, True),
        ({"runtime_v2": "no"}, 5, True),  # does not parse, so it is not 0
    ],
)
def test_first_rule_that_decides(options: dict[str, str], rule: int, runs: bool) -> None:
    found = decide(**options)
    assert (found.rule, found.runs) == (rule, runs)
