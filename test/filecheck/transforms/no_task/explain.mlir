// --explain prints every check of one node, those behind the first failure too.
// RUN: ge-opt %s -p ge-concat-no-task --explain=c 2>&1 >/dev/null | filecheck %s
// RUN: ge-opt %s -p ge-concat-no-task --explain=main/good 2>&1 >/dev/null | filecheck %s --check-prefix=GOOD
// RUN: not ge-opt %s -p ge-concat-no-task --explain=a 2>&1 >/dev/null | filecheck %s --check-prefix=NONE

// CHECK: explain.mlir:{{[0-9]+}}:3: explain: [ge-concat-no-task] "c" (ConcatD) missed: tensor_not_32b_aligned
// CHECK-NEXT:   ok      single_op_scene: not in single-operator mode
// CHECK:        FAILED  tensor_not_32b_aligned: input 0: 30 bytes, 0 x 32 + 30
// CHECK:        ok      invalid_producer_type: input 1: made by "b" of type Relu
// CHECK:        FAILED  front_dims_not_one: input 0: joins storage axis 1, in front of it is [3]
// CHECK:        ok      lxfusion_op: the name does not contain "lxslice"
// CHECK-NOT: "good"
// GOOD: explain: [ge-concat-no-task] "good" (ConcatD) passed
// GOOD-NOT: FAILED
// NONE: ge-opt: error: --explain: no pass of the pipeline judged a node 'a'
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<3x5xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<3x5xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<3x5xf16>
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<3x10xf16>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<3x10xf16>
  %good = ge.concat (%d) concat_dim 0 {ge.name = "good"} : tensor<3x10xf16>
}
