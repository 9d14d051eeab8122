// RUN: ge-opt %s -p ge-assign-engines,ge-assign-streams | filecheck %s

// Tests that nodes of engines with streams go to stream 0, and that inputs, constants and views have none.
// CHECK: ge.graph @main attributes {ge.stream_num = 1 : i64}
ge.graph @main attributes {ge.stream_num = 7 : i64} {
  // CHECK-NEXT: ge.data {{.*}}{ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %x = ge.data index 0 {ge.name = "x", ge.stream = 3 : i64} : tensor<2xf32>
  // CHECK-NEXT: ge.name = "k", ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %k = ge.constant value dense<2> : tensor<1xi64> {ge.name = "k"} : tensor<1xi64>
  // CHECK-NEXT: ge.name = "r", ge.engine = "DNN_VM_GE_LOCAL", ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %r = ge.op "Reshape" (%x, %k) {ge.name = "r"} : tensor<2xf32>
  // CHECK: "Relu" {{.*}}ge.stream = 0 : i64
  %y = ge.op "Relu" (%r) {ge.name = "y", ge.stream = 3 : i64} : tensor<2xf32>
  // CHECK: "HcomAllReduce" {{.*}}ge.stream = 0 : i64
  %h = ge.op "HcomAllReduce" (%y) {ge.name = "h"} : tensor<2xf32>
  // CHECK: ge.net_output {{.*}}ge.stream = 0 : i64
  ge.net_output (%h) {ge.name = "out"}
}
