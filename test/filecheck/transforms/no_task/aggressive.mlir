// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-concat-no-task{mode=aggressive},ge-split-no-task{mode=aggressive}' | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-concat-no-task{mode=aggressive}' --remarks=no-task 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Tests that a concat may take what another has taken, where the one run begins as the other does.
// CHECK-LABEL: ge.graph @growing
// REMARK: "c1" of type ConcatD makes no task
// REMARK: "c2" of type ConcatD makes no task
ge.graph @growing {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x8xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x8xf32>
  %b = ge.op "Neg" (%x) {ge.name = "b"} : tensor<2x8xf32>
  // CHECK: ge.name = "c1", {{.*}}ge.no_task
  %c1 = ge.concat (%a, %b) concat_dim 0 {ge.name = "c1"} : tensor<4x8xf32>
  %d = ge.op "Abs" (%c1) {ge.name = "d"} : tensor<4x8xf32>
  // CHECK: ge.name = "c2", {{.*}}ge.no_task
  %c2 = ge.concat (%a, %b, %d) concat_dim 0 {ge.name = "c2"} : tensor<8x8xf32>
  ge.net_output (%c2) {ge.name = "out"}
}

// -----

// Tests a constant among the inputs: it is copied, the rest is not.
// CHECK-LABEL: ge.graph @constant
// REMARK: "c" of type ConcatD makes no task, with a copy of one input, proven by a plan in spite of invalid_producer_type
ge.graph @constant {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x8xf32>
  %k = ge.constant value dense<1.0> : tensor<2x8xf32> {ge.name = "k"} : tensor<2x8xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x8xf32>
  // CHECK: ge.op "Identity" (%k) {ge.name = "identity_0_c_NoTask"
  // CHECK-NEXT: ge.concat (%{{.*}}, %a) concat_dim 0 {ge.name = "c", {{.*}}ge.no_task
  %c = ge.concat (%k, %a) concat_dim 0 {ge.name = "c"} : tensor<4x8xf32>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests a model input: it lies in the run.
// CHECK-LABEL: ge.graph @input
ge.graph @input {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x8xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x8xf32>
  // CHECK: ge.name = "c", {{.*}}ge.no_task, {{.*}}ge.proven_run
  %c = ge.concat (%x, %a) concat_dim 0 {ge.name = "c"} : tensor<4x8xf32>
  %p = ge.op "Neg" (%c) {ge.name = "p"} : tensor<4x8xf32>
  ge.net_output (%p) {ge.name = "out"}
}

// -----

// Tests an axis that is not the outermost: no plan can help.
// CHECK-LABEL: ge.graph @inner_axis
// REMARK: missed: "c": front_dims_not_one: input 0: joins storage axis 1, in front of it is [2]
ge.graph @inner_axis {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x8xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x8xf32>
  %b = ge.op "Neg" (%x) {ge.name = "b"} : tensor<2x8xf32>
  // CHECK: ge.name = "c"
  // CHECK-NOT: ge.no_task
  %c = ge.concat (%a, %b) concat_dim 1 {ge.name = "c"} : tensor<2x16xf32>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that a run which contradicts an earlier one twice keeps its task.
// CHECK-LABEL: ge.graph @contradiction
// REMARK: "c1" of type ConcatD makes no task
ge.graph @contradiction {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x8xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x8xf32>
  %b = ge.op "Neg" (%x) {ge.name = "b"} : tensor<2x8xf32>
  %d = ge.op "Abs" (%x) {ge.name = "d"} : tensor<2x8xf32>
  // CHECK: ge.name = "c1", {{.*}}ge.no_task
  %c1 = ge.concat (%a, %b, %d) concat_dim 0 {ge.name = "c1"} : tensor<6x8xf32>
  // CHECK: ge.name = "c2", ge.engine
  // CHECK-NOT: ge.no_task
  %c2 = ge.concat (%d, %b, %a) concat_dim 0 {ge.name = "c2"} : tensor<6x8xf32>
  %p = ge.op "Add" (%c1, %c2) {ge.name = "p"} : tensor<6x8xf32>
  ge.net_output (%p) {ge.name = "out"}
}
