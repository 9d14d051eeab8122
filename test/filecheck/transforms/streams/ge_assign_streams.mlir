// RUN: ge-opt %s -p ge-assign-engines,ge-assign-streams --split-input-file | filecheck %s --check-prefix=SINGLE
// RUN: ge-opt %s -p "ge-assign-engines,ge-assign-streams{mode=multi}" --split-input-file | filecheck %s --check-prefix=MULTI

// Tests that one stream carries all nodes with work, and what reads only inputs without work has none; that with many,
// the collective has its own, the output of the graph cannot ride on it, and numbers have no gaps.
// SINGLE: ge.graph @main attributes {ge.stream_num = 1 : i64, ge.main_stream_num = 1 : i64}
// MULTI: ge.graph @main attributes {ge.stream_num = 3 : i64, ge.main_stream_num = 3 : i64}
ge.graph @main attributes {ge.stream_num = 7 : i64} {
  // SINGLE-NEXT: ge.data {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  // MULTI-NEXT: ge.data {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %x = ge.data index 0 {ge.name = "x", ge.stream = 3 : i64} : tensor<2xf32>
  %k = ge.constant value dense<2> : tensor<1xi64> {ge.name = "k"} : tensor<1xi64>
  // SINGLE: "Reshape" {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  // MULTI: "Reshape" {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %r = ge.op "Reshape" (%x, %k) {ge.name = "r"} : tensor<2xf32>
  // SINGLE: "Relu" {{.*}}ge.kernel_lib = "AIcoreEngine", ge.stream = 0 : i64}
  // MULTI: "Relu" {{.*}}ge.kernel_lib = "AIcoreEngine", ge.stream = 1 : i64}
  %y = ge.op "Relu" (%r) {ge.name = "y", ge.stream = 3 : i64} : tensor<2xf32>
  // SINGLE: "HcomAllReduce" {{.*}}ge.stream = 0 : i64
  // MULTI: "HcomAllReduce" {{.*}}ge.stream = 0 : i64
  %h = ge.op "HcomAllReduce" (%y) {ge.name = "h"} : tensor<2xf32>
  // SINGLE: "Reshape" {{.*}}ge.stream = 0 : i64
  // MULTI: "Reshape" {{.*}}ge.stream = 2 : i64
  %v = ge.op "Reshape" (%h, %k) {ge.name = "v"} : tensor<2xf32>
  // SINGLE: ge.net_output {{.*}}ge.stream = 0 : i64
  // MULTI: ge.net_output {{.*}}ge.stream = 2 : i64
  ge.net_output (%v) {ge.name = "out"}
}

// -----

// Tests that a graph below another one runs on the stream of the node that owns it, and what its other engines need is
// numbered behind the streams of the root.
// MULTI: ge.graph @main attributes {ge.stream_num = 2 : i64
ge.graph @main {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  // MULTI: "Relu" {{.*}}ge.stream = 0 : i64
  %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2xf32>
  // MULTI: "If" {{.*}}ge.stream = 0 : i64
  %z = ge.op "If" (%c, %y) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xf32>
  // MULTI: ge.net_output {{.*}}ge.stream = 0 : i64
  ge.net_output (%z) {ge.name = "out"}
}
// MULTI: ge.graph @then
ge.graph @then {
  // MULTI-NEXT: ge.data {{.*}}ge.kernel_lib = "DNN_VM_GE_LOCAL_OP_STORE"} :
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  // MULTI-NEXT: "Relu" {{.*}}ge.stream = 0 : i64
  %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2xf32>
  ge.net_output (%y) {ge.name = "then_out"}
}
// MULTI: ge.graph @else
ge.graph @else {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  // MULTI: "HcomAllReduce" {{.*}}ge.stream = 1 : i64
  %y = ge.op "HcomAllReduce" (%x) {ge.name = "y"} : tensor<2xf32>
  // MULTI-NEXT: ge.net_output {{.*}}ge.stream = 0 : i64
  ge.net_output (%y) {ge.name = "else_out"}
}
