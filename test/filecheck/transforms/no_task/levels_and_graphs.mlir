// Optimisation levels, and the order of graphs.
// RUN: ge-opt %s --split-input-file --semantics=off -p 'ge-concat-no-task{level=O2}' --remarks 2>&1 | filecheck %s --check-prefix=LOW
// RUN: ge-opt %s --split-input-file --semantics=off -p ge-concat-no-task --remarks -o - 2>&1 | filecheck %s --check-prefix=HIGH
// RUN: ge-opt %s --split-input-file --semantics=off -p 'ge-split-no-task{level=O1}' --remarks 2>&1 | filecheck %s --check-prefix=SPLIT

// Tests that concats belong to O3 and splits to O2, and that each graph of a model is looked at, in order.
// LOW: remark: [ge-concat-no-task] missed: belongs to level O3, not to O2
// LOW-NOT: ge.no_task
// SPLIT: remark: [ge-split-no-task] missed: belongs to level O2, not to O1
// HIGH: remark: [ge-concat-no-task] passed: "outer" of type ConcatV2D makes no task
// HIGH: remark: [ge-concat-no-task] missed: "first": invalid_producer_type: input 0: the way back ends at nobody
// HIGH: remark: [ge-concat-no-task] passed: "second" of type ConcatD makes no task
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %call = ge.op "PartitionedCall" (%x) subgraphs [@inner] {ge.name = "call"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%call) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%call) {ge.name = "b"} : tensor<2x64xf16>
  %outer = ge.concat "ConcatV2D" (%a, %b) concat_dim 0 {ge.name = "outer"} : tensor<4x64xf16>
  %other = ge.concat "ConcatV2" (%a, %b, %x) {ge.name = "other"} : tensor<4x64xf16>
}
ge.graph @inner {
  %formal = ge.data index 0 {ge.name = "formal", ge.parent_node_index = 0 : i64} : tensor<2x64xf16>
  %c = ge.op "Relu" (%formal) {ge.name = "c"} : tensor<2x64xf16>
  %d = ge.op "Relu" (%formal) {ge.name = "d"} : tensor<2x64xf16>
  %first = ge.concat (%formal, %c) concat_dim 0 {ge.name = "first"} : tensor<4x64xf16>
  %second = ge.concat (%c, %d) concat_dim 0 {ge.name = "second"} : tensor<4x64xf16>
}
