"""One stream that does not hold all tasks: huge, or cut, with the same outputs; other models pay nothing."""

from __future__ import annotations

import numpy as np
import pytest
from stream_graphs import chain, module_of
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.access import get_int, graphs
from ge_dialect.dialects.ge_task import ModelOp
from ge_dialect.program import Program, context, make_passes
from ge_dialect.runtime import DeviceOptions
from ge_dialect.tools.resources.count import resources_of
from ge_dialect.transforms.split.ge_split_streams import HUGE_STREAMS
from ge_dialect.transforms.split.queue_entries import PlannedCounts


def run(passes: str, module: ModuleOp) -> ModuleOp:
    for each in make_passes(passes):
        each.apply(context(), module)
    return module


def relus(count: int) -> ModuleOp:
    module = module_of(chain(count))
    text = str(module).replace('"Work"', '"Relu"').replace("tensor<65536xf32>", "tensor<8xf32>")
    from xdsl.parser import Parser

    return Parser(context(), text).parse_module()


BEFORE = "ge-assign-streams,ge-plan-memory"


@pytest.mark.parametrize(
    ("options", "streams", "huge"),
    [("", 1, True), ("{max-huge-tasks=0}", 6, False), ("{max-tasks=9000}", 1, False)],
)
def test_a_chain_of_5000(options: str, streams: int, huge: bool) -> None:
    module = run(f"{BEFORE},ge-sync-single-stream{options}", relus(5000))
    root = graphs(module)[0]
    assert get_int(root, "ge.stream_num") == streams
    assert (HUGE_STREAMS in root.attributes) == huge


def test_pieces_keep_the_limit_and_the_outputs() -> None:
    values = np.linspace(-1, 1, 8, dtype=np.float32)
    made: list[np.ndarray] = []
    for options in ("", "{max-tasks=60 max-huge-tasks=90}"):
        passes = f"{BEFORE},ge-sync-single-stream{options},ge-verify-sync,convert-ge-to-ge-task"
        module = run(passes, relus(300))
        model = next(op for op in module.body.block.ops if isinstance(op, ModelOp))
        assert (model.stream_num.value.data > 3) == bool(options)
        if options:
            (part,) = resources_of(module).parts
            assert max(part.tasks.values()) <= 90
        program = Program(module, DeviceOptions(order="random", seed=5))
        made += program.run([values]).outputs.values()
    assert made[0].tobytes() == made[1].tobytes()


def test_short_models_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: PlannedCounts, op: object) -> dict[int, int]:
        raise AssertionError

    monkeypatch.setattr(PlannedCounts, "generated", refuse)
    run(f"{BEFORE},ge-sync-single-stream", relus(50))
