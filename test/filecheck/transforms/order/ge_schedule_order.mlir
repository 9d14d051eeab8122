// RUN: ge-opt %s -p ge-schedule-order{streams=2} --split-input-file --remarks=schedule-order 2>%t.err | filecheck %s
// RUN: filecheck %s --check-prefix=REMARK --input-file=%t.err
// RUN: not ge-opt %s -p ge-schedule-order{streams=0} --split-input-file 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not ge-opt %s -p ge-schedule-order{device=none} --split-input-file 2>&1 | filecheck %s --check-prefix=NONE
// ZERO: error: option streams cannot be '0': the number of streams is from 1 to 64
// NONE: error: no device profile 'none'

// Tests that the long branch comes first: in the given order both streams would begin with short nodes and the long one
// would run alone in the end.
// REMARK: remark: [ge-schedule-order] passed: {{[0-9]+}} nodes changed their place
// CHECK-LABEL: @main
ge.graph @main {
  // CHECK: ge.name = "x"
  // CHECK-NEXT: ge.name = "long"
  // CHECK-NEXT: ge.name = "s0"
  // CHECK: ge.net_output
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<16777216xf32>
  %0 = ge.op "Relu" (%x) {ge.name = "s0", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  %1 = ge.op "Relu" (%x) {ge.name = "s1", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  %2 = ge.op "Relu" (%x) {ge.name = "s2", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  %3 = ge.op "Relu" (%x) {ge.name = "s3", ge.engine = "AIcoreEngine"} : tensor<16777216xf32>
  %l = ge.op "Work" (%x) {ge.name = "long", ge.engine = "AIcoreEngine"} : tensor<134217728xf32>
  ge.net_output (%0, %1, %2, %3, %l) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}

// -----

// Tests that a graph with labels keeps its order.
// REMARK: remark: [ge-schedule-order] missed: order left as it is: {{.*}}
// CHECK-LABEL: @labels
ge.graph @labels {
  // CHECK: ge.label_set
  // CHECK: ge.name = "a"
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  ge.label_set label_index 0 {ge.name = "l", ge.engine = "DNN_VM_RTS"}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out", ge.engine = "DNN_VM_RTS"}
}
