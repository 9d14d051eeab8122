// RUN: ge-opt %s --split-input-file -p 'convert-ge-to-ge-task{buffer-optimize=l2_optimize fusion-brackets=false}' | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'convert-ge-to-ge-task{fusion-brackets=false}' | filecheck %s --check-prefix=OFF

// Tests that the nodes of a group and stream are issued in a row, at the place and under the name of the first.
// CHECK-LABEL: ge_task.model @main
// OFF-LABEL: ge_task.model @main
ge.graph @main attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 4096>} : tensor<4xf32>
  // CHECK: ge_task.kernel "Relu"(%x) -> (%a) {{.*}}stream 0 op 1 {ge.name = "a"}
  // CHECK-NEXT: ge_task.kernel "Abs"(%x) -> (%c) {{.*}}stream 0 op 3 {ge.name = "a"}
  // CHECK-NEXT: ge_task.kernel "Neg"(%a) -> (%d) {{.*}}stream 0 op 5 {ge.name = "a"}
  // CHECK-NEXT: ge_task.kernel "Exp"(%x) -> (%b) {{.*}}stream 0 op 2 {ge.name = "b"}
  // CHECK-NEXT: ge_task.kernel "Abs"(%x) -> (%other) {{.*}}stream 1 op 4 {ge.name = "other"}
  // OFF: op 1 {ge.name = "a"}
  // OFF-NEXT: op 2 {ge.name = "b"}
  // OFF-NEXT: op 3 {ge.name = "c"}
  // OFF-NEXT: op 4 {ge.name = "other"}
  // OFF-NEXT: op 5 {ge.name = "d"}
  %a = ge.op "Relu" (%x) attrs {_l1_fusion_group_id = 7} {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 0>} : tensor<4xf32>
  %b = ge.op "Exp" (%x) {ge.name = "b", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 512>} : tensor<4xf32>
  %c = ge.op "Abs" (%x) attrs {_l2_fusion_group_id = 7} {ge.name = "c", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 1024>} : tensor<4xf32>
  %other = ge.op "Abs" (%x) attrs {_l1_fusion_group_id = 7} {ge.name = "other", ge.engine = "AIcoreEngine", ge.stream = 1 : i64, ge.offsets = array<i64: 1536>} : tensor<4xf32>
  %d = ge.op "Neg" (%a) attrs {_l1_fusion_group_id = 7} {ge.name = "d", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 2048>} : tensor<4xf32>
  ge.net_output (%d) {ge.name = "out", ge.stream = 0 : i64}
}
