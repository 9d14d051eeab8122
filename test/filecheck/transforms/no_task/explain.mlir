// --explain prints every check of one node, those behind the first failure too.
// RUN: ge-opt %s -p ge-concat-no-task --explain=c 2>&1 >/dev/null | filecheck %s
// RUN: ge-opt %s -p ge-concat-no-task --explain=main/good 2>&1 >/dev/null | filecheck %s --check-prefix=GOOD
// RUN: ge-opt %s -p 'ge-concat-no-task{mode=aggressive}' --explain=grown 2>&1 >/dev/null | filecheck %s --check-prefix=GROWN
// RUN: ge-opt %s -p 'ge-concat-no-task{mode=aggressive}' --explain=turned 2>&1 >/dev/null | filecheck %s --check-prefix=TURNED
// RUN: not ge-opt %s -p ge-concat-no-task --explain=a 2>&1 >/dev/null | filecheck %s --check-prefix=NONE
// RUN: not ge-opt %s -p ge-concat-no-task --explain=god 2>&1 >/dev/null | filecheck %s --check-prefix=NAME

// CHECK: explain.mlir:{{[0-9]+}}:3: explain: [ge-concat-no-task] "c" (ConcatD) missed: tensor_not_32b_aligned
// CHECK-NEXT:   ok      single_op_scene: not in single-operator mode
// CHECK:        FAILED  tensor_not_32b_aligned: input 0: 30 bytes, 0 x 32 + 30
// CHECK:        ok      invalid_producer_type: input 1: made by "b" of type Relu
// CHECK:        FAILED  front_dims_not_one: input 0: joins storage axis 1, in front of it is [3]
// CHECK:        ok      lxfusion_op: the name does not contain "lxslice"
// CHECK-NOT: "good"
// GOOD: explain: [ge-concat-no-task] "good" (ConcatD) passed
// GOOD-NOT: FAILED
// What a copy mends does not count as failed; what the plan forbids in the end is the last step.
// GROWN: explain: [ge-concat-no-task] "grown" (ConcatD) passed
// GROWN: ok      same_source_anchor: input 1: comes from "e":0, as does input 0 (that input is copied)
// GROWN-NOT: FAILED
// TURNED: explain: [ge-concat-no-task] "turned" (ConcatD) missed: plan_conflict
// TURNED: ok      producer_output_locked
// TURNED-NOT: FAILED
// TURNED: ok      lxfusion_op
// TURNED-NEXT: FAILED  plan_conflict:
// NONE: ge-opt: error: --explain: the node "a" of type Relu is no candidate of any pass of the pipeline that explains
// NAME: ge-opt: error: --explain: there is no node "god"; did you mean "good"?
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3x5xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<3x5xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<3x5xf16>
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<3x10xf16>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<3x10xf16>
  %good = ge.concat (%d) concat_dim 0 {ge.name = "good"} : tensor<3x10xf16>
  %e = ge.op "Abs" (%x) {ge.name = "e"} : tensor<3x5xf16>
  %grown = ge.concat (%e, %e) concat_dim 0 {ge.name = "grown"} : tensor<6x5xf16>
  %f = ge.op "Neg" (%x) {ge.name = "f"} : tensor<3x5xf16>
  %g = ge.op "Exp" (%x) {ge.name = "g"} : tensor<3x5xf16>
  %h = ge.op "Abs" (%x) {ge.name = "h"} : tensor<3x5xf16>
  %once = ge.concat (%f, %g, %h) concat_dim 0 {ge.name = "once"} : tensor<9x5xf16>
  %turned = ge.concat (%h, %g, %f) concat_dim 0 {ge.name = "turned"} : tensor<9x5xf16>
}
