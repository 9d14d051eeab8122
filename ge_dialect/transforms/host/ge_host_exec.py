"""Pass `ge-host-exec`: computations on tiny tensors move from the device to the host CPU."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ge_dialect.analysis.remarks import emit_remark, remarks_wanted
from ge_dialect.dialects.attrs import UNIT, string
from ge_dialect.dialects.ge.access import ge_type, node_name, set_flag
from ge_dialect.formats.errors import GeError
from ge_dialect.transforms.engines.select import ATTR_ENGINE, ATTR_LIB
from ge_dialect.transforms.host.conditions import Rules
from ge_dialect.transforms.host.enabling import decide
from ge_dialect.transforms.host.search import HostNodes, Role, search
from ge_dialect.transforms.host.sizes import MAX_ELEMENTS
from ge_dialect.transforms.host.support import HOST_NAMES, kernels_of


@dataclass(frozen=True)
class GeHostExec(ModulePass):
    """Move device nodes whose tensors are tiny and whose inputs are all made on the host to the host CPU.

    Expects engines (`ge-assign-engines`) and works on graphs that the host schedules: those of unknown shape. Starting
    at nodes whose results are on the host anyway (Shape and its like, graph inputs with `_host_tensor`, nodes on the
    host CPU) it follows data edges, also into graphs that PartitionedCall, If, Case and While own
    (spec/host_execution.md sections 2 to 8). Guarantees afterwards: each moved node has engine and kernel lib of the
    host CPU and `ge.small_shape_host_cpu`; graph inputs that only host nodes read have
    `ge.host_tensor_as_model_input`; nothing else has changed. A second run finds nothing new, except inside a
    PartitionedCall that the first run's own moves feed.

    Options:
    * `max-elements`: the number of elements of the largest small tensor;
    * `kernels`: operator types with kernels on the host, separated by `|`: these alone (`"Gather|Pack"`), or changes to
      the default table (`"+NonZero|-Mul"`);
    * `absent-inputs`: true lets nodes move of which an optional input is not wired; GE keeps them on the device;
    * `host-store`: false when the store that checks element types is not loaded, so that it is not asked;
    * `level`, `option`, `pass-switch`, `runtime-v2`: whether to run at all, first rule wins: `pass-switch` (`on`, `off`
      or empty: the user's word on HostShapeOptimizationPass), `option` (hostcpu_engine_update_pass; empty: false at
      level O0 and O1, true at O2 and O3), `runtime-v2` (the text of ENABLE_RUNTIME_V2; 0 forbids).

    Remarks: `passed` for each node that moved, `missed` for each that the search reached and left, with the first
    condition that failed. Loops of ONNX are entered like While, but only by values that are the same in each round.

    Raises GeError for an If or While without its graphs and for an option that makes no sense.

    Before and after:

        %s = ge.op "Shape" (%x) {ge.name = "s", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} : tensor<2xi64>
        %g = ge.op "GatherV2" (%s, %k, %k) {ge.name = "g", ge.engine = "AIcoreEngine",
            ge.kernel_lib = "AIcoreEngine"} : tensor<i64>

        %g = ge.op "GatherV2" (%s, %k, %k) {ge.name = "g", ge.engine = "DNN_VM_HOST_CPU",
            ge.kernel_lib = "DNN_VM_HOST_CPU_OP_STORE", ge.small_shape_host_cpu} : tensor<i64>
    """

    name = "ge-host-exec"

    max_elements: int = MAX_ELEMENTS
    kernels: str = ""
    absent_inputs: bool = False
    host_store: bool = True
    level: str = "O3"
    option: str = ""
    pass_switch: str = ""
    runtime_v2: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.max_elements < 0:
            raise GeError(
                f"max-elements is a number of elements, not {self.max_elements}", self.name
            )
        decision = decide(self.level, self.pass_switch, self.option, self.runtime_v2)
        if not decision.runs:
            emit_remark(
                op, self.name, "analysis", f"does not run: {decision.reason}", rule=decision.rule
            )
            return
        kernels = kernels_of(self.kernels, self.host_store)
        rules = Rules(kernels, self.max_elements, self.absent_inputs)
        found = search(op, rules)
        for node, role in found.members.items():
            if role is Role.MOVED:
                move_to_host(node)
        for node in found.model_inputs:
            set_flag(node, "ge.host_tensor_as_model_input")
        if remarks_wanted():
            self._report(found)

    def _report(self, found: HostNodes) -> None:
        for graph, reason in found.skipped:
            emit_remark(
                graph, self.name, "analysis", f"graph left alone: {reason}", condition=reason
            )
        for node, role in found.members.items():
            if role is Role.MOVED:
                said = f"{_called(node)} moved to the host CPU"
                emit_remark(node, self.name, "passed", said, type=ge_type(node))
                if not self.host_store:
                    said = f"{_called(node)}: element types unchecked, the host store is not loaded"
                    emit_remark(node, self.name, "analysis", said, condition="host-store")
        for node, refusal in found.refused.items():
            emit_remark(
                node,
                self.name,
                "missed",
                f"{_called(node)} stays: {refusal.condition}: {refusal.message}",
                condition=refusal.condition,
                slot=refusal.slot,
                type=ge_type(node),
            )
        for node in found.model_inputs:
            said = f"{_called(node)} is fed on the host: every reader is there"
            emit_remark(node, self.name, "passed", said, type=ge_type(node))


def _called(node: Operation) -> str:
    return f'{ge_type(node)} "{node_name(node)}"'


def move_to_host(node: Operation) -> None:
    """Give a node engine and kernel lib of the host CPU and the mark of a small shape (section 7).

    The pair `_lxfusion_*` is spelled `ge.engine` and `ge.kernel_lib` here; where the source wrote it as GE attributes,
    these follow.
    """
    engine, lib = (string(name) for name in HOST_NAMES)
    node.attributes["ge.engine"] = engine
    node.attributes["ge.kernel_lib"] = lib
    node.attributes["ge.small_shape_host_cpu"] = UNIT
    attrs = node.properties.get("attrs")
    if isinstance(attrs, DictionaryAttr) and (ATTR_ENGINE in attrs.data or ATTR_LIB in attrs.data):
        node.properties["attrs"] = DictionaryAttr(
            {**attrs.data, ATTR_ENGINE: engine, ATTR_LIB: lib}
        )
