"""Arenas, views, constants, copies."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from ge_dialect.dialects.ge.weights import WeightsError, array_of, elements_attr
from ge_dialect.dialects.ge_task import BufferOp, KernelOp, ModelOp
from ge_dialect.runtime import DeviceOptions, Executable, LoadError, TaskError, load
from ge_dialect.runtime.memory import Memory

Loader = Callable[..., Executable]

X = np.array([1, -2, 3, -4], np.float32)


def test_a_wrong_offset_gives_wrong_numbers(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 256} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
      %a = ge_task.buffer hbm at 64 size 16 : tensor<4xf32>
      %late = ge_task.buffer hbm at 68 size 16 : tensor<4xf32>
      %y = ge_task.buffer hbm at 128 size 16 output 0 name "y" : tensor<4xf32>
      ge_task.kernel "Neg"(%x) -> (%a) stream 0
      ge_task.kernel "Neg"(%late) -> (%y) stream 0
    }"""
    found = loaded(text).run([X])["y"]
    np.testing.assert_array_equal(found[:3], X[1:])
    assert found[3:].view(np.uint32)[0] == 0xA5A5A5A5 ^ 0x80000000
    with pytest.raises(
        TaskError, match=r"reads hbm \[68, 84\), of which byte 80 was never written"
    ):
        loaded(text, trap_uninitialised=True).run([X])


def test_views_of_the_same_bytes(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
      %i = ge_task.buffer hbm at 0 size 16 : tensor<2x2xi32>
      %y = ge_task.buffer hbm at 32 size 16 output 0 name "y" : tensor<2x2xi32>
      ge_task.kernel "Abs"(%i) -> (%y) stream 0
    }"""
    np.testing.assert_array_equal(
        loaded(text).run([X])["y"], np.abs(X.view(np.int32)).reshape(2, 2)
    )


def weights_model(value: np.ndarray, writes: bool) -> tuple[ModuleOp, BufferOp]:
    size = value.nbytes
    weight = BufferOp.make(elements_attr(value).type, "weight", 0, size, value=elements_attr(value))
    tail = BufferOp.make(elements_attr(value[1:]).type, "weight", 4, size - 4)
    out = BufferOp.make(tail.tensor, "hbm", 0, size - 4, output=0, name="y")
    kernels = [KernelOp.make("Neg", [tail.results[0]], [out.results[0]], stream=0)]
    if writes:
        kernels.insert(0, KernelOp.make("Neg", [weight.results[0]], [weight.results[0]], stream=0))
    arenas = {"hbm": size, "weight": size}
    model = ModelOp.make("m", [weight, tail, out, *kernels], stream_num=1, arenas=arenas)
    return ModuleOp([model]), weight


def test_weights_are_not_copied() -> None:
    value = np.arange(1000, dtype=np.float32)
    value.flags.writeable = False
    module, weight = weights_model(value, writes=False)
    module.verify()
    assert weight.value is not None
    memory = Memory({"weight": value.nbytes}, [weight], frozenset(), 0xA5)
    assert np.shares_memory(memory.view(weight), array_of(weight.value))
    assert not memory.view(weight).flags.writeable
    np.testing.assert_array_equal(load(module).run([])["y"], -value[1:])


def test_written_weights_are_the_devices_own() -> None:
    value = np.arange(1000, dtype=np.float32)
    value.flags.writeable = False
    module, _ = weights_model(value, writes=True)
    executable = load(module)
    np.testing.assert_array_equal(executable.run([])["y"], value[1:])
    np.testing.assert_array_equal(executable.run([])["y"], -value[1:])  # memory stays between steps
    np.testing.assert_array_equal(value, np.arange(1000))


def test_weights_left_out_of_the_text(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64, weight = 64} {
      %w = ge_task.buffer weight at 0 size 16 name "w" value dense_resource<__elided__> : tensor<4xf32> : tensor<4xf32>
      %y = ge_task.buffer hbm at 0 size 16 output 0 : tensor<4xf32>
      ge_task.kernel "Neg"(%w) -> (%y) stream 0
    }"""
    with pytest.raises(WeightsError, match='the bytes of "w" were left out'):
        loaded(text)


def test_outside_the_arena() -> None:
    buffer = BufferOp.make(elements_attr(X).type, "hbm", 60, 16, name="late")
    with pytest.raises(
        LoadError, match=r"buffer %late hbm\[60, 76\) lies outside arena 'hbm' of 64 bytes"
    ):
        Memory({"hbm": 64}, [buffer], frozenset(), 0)


@pytest.mark.parametrize(
    ("element", "dtype", "width"),
    [("bf16", ml_dtypes.bfloat16, 2), ("i1", np.bool_, 1), ("f8E4M3FN", ml_dtypes.float8_e4m3fn, 1),
     ("i4", ml_dtypes.int4, 1), ("i64", np.int64, 8), ("f16", np.float16, 2)],
)  # fmt: skip
def test_element_types(loaded: Loader, element: str, dtype: type, width: int) -> None:
    text = f"""
    ge_task.model @m streams 1 arenas {{hbm = 64}} {{
      %x = ge_task.buffer hbm at 0 size {4 * width} input 0 : tensor<4x{element}>
      %y = ge_task.buffer hbm at 32 size {4 * width} output 0 : tensor<4x{element}>
      ge_task.memcpy_async(%x) -> (%y) count {4 * width} stream 0
    }}"""
    given = np.array([0, 1, 0, 1]).astype(dtype)
    executable = loaded(text)
    found = executable.run([given])["output0"]
    assert found.dtype == given.dtype
    np.testing.assert_array_equal(found, given)
    assert str(executable.inputs[0]) == f"'input0' {given.dtype} [4]"


def test_overlapping_copy_is_memmove(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
      %to = ge_task.buffer hbm at 4 size 16 output 0 : tensor<4xf32>
      ge_task.memcpy_async(%x) -> (%to) count 16 stream 0
    }"""
    np.testing.assert_array_equal(loaded(text).run([X])["output0"], X)


def test_kernel_whose_output_overlaps_its_input(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<2x2xf32>
      %y = ge_task.buffer hbm at 0 size 16 output 0 : tensor<2x2xf32>
      ge_task.kernel "BatchMatMulV2"(%x, %x) -> (%y) stream 0
    }"""
    square = X.reshape(2, 2)
    np.testing.assert_array_equal(loaded(text).run([square])["output0"], square @ square)


def test_opaque_kernels_depend_on_everything(loaded: Loader) -> None:
    def text(attrs: str) -> str:
        return f"""
        ge_task.model @m streams 1 arenas {{hbm = 64}} {{
          %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
          %y = ge_task.buffer hbm at 16 size 40 output 0 : tensor<10xi32>
          ge_task.kernel "Unheard"(%x) -> (%y) stream 0 attrs {attrs}
        }}"""

    one = loaded(text("{a = 1 : i64}"))
    result = one.run([X])
    first = result["output0"]
    assert result.report.opaque_tasks == 1
    assert one.opaque_types() == ["Unheard"]
    np.testing.assert_array_equal(one.run([X])["output0"], first)
    assert (one.run([X + 1])["output0"] != first).any()
    assert (loaded(text("{a = 2 : i64}")).run([X])["output0"] != first).any()
    with pytest.raises(
        LoadError, match=r"task 0 \(kernel Unheard\): no kernel for operators of the type Unheard"
    ):
        loaded(text("{}"), unknown_kernels="error")


def test_kernel_fault_names_the_task(loaded: Loader) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
      %i = ge_task.buffer hbm at 16 size 8 input 1 : tensor<1xi64>
      %axis = ge_task.buffer hbm at 24 size 8 value dense<0> : tensor<i64> : tensor<i64>
      %y = ge_task.buffer hbm at 32 size 4 output 0 : tensor<1xf32>
      ge_task.kernel "GatherV2"(%x, %i, %axis) -> (%y) stream 0 {ge.name = "pick"}
    }"""
    executable = loaded(text)
    assert executable.run([X, np.array([2])])["output0"] == 3
    with pytest.raises(TaskError, match=r'task 0 "pick" \(kernel GatherV2\)'):
        executable.run([X, np.array([9])])


def test_outputs_are_the_callers() -> None:
    module, _ = weights_model(np.arange(10, dtype=np.float32), writes=True)
    executable = load(module, DeviceOptions())
    first = executable.run([])["y"]
    kept = first.copy()
    executable.run([])
    np.testing.assert_array_equal(first, kept)


def test_kind_of_a_copy_is_held_against_the_places(loaded: Loader) -> None:
    def warnings(kind: str, space: str) -> list[str]:
        text = f"""
        ge_task.model @m streams 1 arenas {{hbm = 64, {space} = 64}} {{
          %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
          %a = ge_task.buffer {space} at 32 size 16 : tensor<4xf32>
          %y = ge_task.buffer hbm at 16 size 16 output 0 : tensor<4xf32>
          ge_task.memcpy_async(%x) -> (%a) count 16 {kind} stream 0
          ge_task.memcpy_async(%a) -> (%y) count 16 kind 8 stream 0
        }}"""
        result = loaded(text).run([X])
        np.testing.assert_array_equal(result["output0"], X)
        return result.report.warnings

    assert warnings("", "p2p_ddr") == []
    assert warnings("kind 2", "host") == []
    assert warnings("kind 7", "host_svm") == []
    assert warnings("kind 4", "host") == []
    (told,) = warnings("", "host")
    assert (
        "kind D2D copies from device to device, the buffers are hbm [0, 16) and host [32, 48)"
        in told
    )
    assert len(warnings("kind 1", "p2p_ddr")) == 1
    assert len(warnings("kind 0", "host")) == 1


def test_memset_zeroes_and_the_variant_of_a_partly_supported_kernel_does_not_run(
    loaded: Loader,
) -> None:
    text = """
    ge_task.model @m streams 1 arenas {hbm = 64} {
      %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
      %y = ge_task.buffer hbm at 16 size 16 output 0 : tensor<4xf32>
      %z = ge_task.buffer hbm at 32 size 16 output 1 : tensor<4xf32>
      ge_task.kernel "MemSet"() -> (%y) kernel_type 2 stream 0
      ge_task.kernel "Neg"(%x) -> (%z) kernel_type 2 stream 0
      ge_task.kernel "Neg"(%z) -> (%z) kernel_type 6 stream 0 payload {partially_supported}
    }"""
    result = loaded(text).run([X])
    np.testing.assert_array_equal(result["output0"], np.zeros(4, np.float32))
    np.testing.assert_array_equal(result["output1"], -X)
