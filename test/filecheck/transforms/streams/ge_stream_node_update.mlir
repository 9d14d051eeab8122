// RUN: ge-opt %s -p ge-stream-node-update --split-input-file --verify-diagnostics | filecheck %s

// Tests that nodes get the stream of their sub-graph, others lose theirs, and label nodes of a root have none.
ge.graph @main {
  // CHECK: ge.name = "x"} :
  %x = ge.data index 0 {ge.name = "x", ge.stream = 5 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = 2 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64, ge.cluster_stream = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "l"{{.*}}ge.cluster_stream = 2 : i64} :
  %l = ge.op "LabelTarget" (%a) attrs {_rts_label_node = true} {ge.name = "l", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64, ge.cluster_stream = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "v"{{.*}}ge.cluster = 1 : i64} :
  %v = ge.op "View" (%a) {ge.name = "v", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that the output of a While's body runs on stream 0 when the host schedules the While.
ge.graph @main attributes {ge.unknown_shape} {
  %w = ge.op "While" () subgraphs [@cond, @body] {ge.name = "w", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
}
ge.graph @cond {
  // CHECK: ge.net_output {{.*}}ge.stream = 3 : i64
  ge.net_output {ge.name = "cond_out", ge.engine = "DNN_VM_RTS", ge.cluster = 0 : i64, ge.cluster_stream = 3 : i64}
}
ge.graph @body {
  // CHECK: ge.net_output {{.*}}ge.stream = 0 : i64
  ge.net_output {ge.name = "body_out", ge.engine = "DNN_VM_RTS", ge.cluster = 0 : i64, ge.cluster_stream = 3 : i64}
}

// -----

// Tests that a sub-graph whose engine needs a stream must have one.
// CHECK: error: no stream for the sub-graph of node "a" on engine AIcoreEngine
ge.graph @main {
  %a = ge.op "Make" () {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
}
