// RUN: ge-opt %s -p ge-stream-skipped-engine | filecheck %s

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  // Tests that a view of an input leaves its stream, and so does a view of that one.
  // CHECK: ge.name = "v"{{.*}}ge.cluster = 0 : i64} :
  %v = ge.op "View" (%x) {ge.name = "v", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 0 : i64, ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "w"{{.*}}ge.cluster = 0 : i64} :
  %w = ge.op "View" (%v) {ge.name = "w", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 0 : i64, ge.stream = 0 : i64} : tensor<2xf32>
  // Tests that a node that owns graphs keeps its stream.
  // CHECK: ge.name = "if"{{.*}}ge.stream = 0 : i64
  %if = ge.op "Owner" (%v) subgraphs [@gone] {ge.name = "if", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 1 : i64, ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = 1 : i64
  %a = ge.op "Relu" (%w) {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 2 : i64, ge.stream = 1 : i64} : tensor<2xf32>
  // Tests that a view between nodes of one stream joins it.
  // CHECK: ge.name = "m"{{.*}}ge.stream = 1 : i64
  %m = ge.op "View" (%a) {ge.name = "m", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 3 : i64, ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.stream = 1 : i64
  %b = ge.op "Relu" (%m) {ge.name = "b", ge.engine = "AIcoreEngine", ge.cluster = 2 : i64, ge.stream = 1 : i64} : tensor<2xf32>
  // Tests that one that nobody reads stays, and so does one with a label.
  // CHECK: ge.name = "end"{{.*}}ge.stream = 0 : i64
  %end = ge.op "View" (%b) {ge.name = "end", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 4 : i64, ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "l"{{.*}}ge.stream = 0 : i64
  %l = ge.op "View" (%x) attrs {_stream_label = "l"} {ge.name = "l", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 5 : i64, ge.stream = 0 : i64} : tensor<2xf32>
}
