// RUN: ge-opt %s -p ge-stream-refresh --split-input-file --verify-diagnostics | filecheck %s

// Tests that numbers close up in their order over all graphs, that the marks of the chain go, and that a number beyond
// the count stays.
// CHECK: ge.graph @main attributes {ge.stream_num = 2 : i64, ge.main_stream_num = 2 : i64}
ge.graph @main attributes {ge.stream_num = 6 : i64} {
  // CHECK: {ge.name = "a", ge.stream = 1 : i64}
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 5 : i64, ge.cluster = 3 : i64, ge.cluster_stream = 2 : i64} : tensor<2xf32>
  // CHECK: {ge.name = "b", ge.stream = 9 : i64}
  %b = ge.op "Make" () {ge.name = "b", ge.stream = 9 : i64} : tensor<2xf32>
  %if = ge.op "Owner" () subgraphs [@sub] {ge.name = "if"} : tensor<2xf32>
}
ge.graph @sub {
  // CHECK: {ge.name = "c", ge.stream = 0 : i64}
  %c = ge.op "Make" () {ge.name = "c", ge.stream = 2 : i64} : tensor<2xf32>
}

// -----

// Tests that a change of the graph since its structure was noted is seen.
// CHECK: error: nodes, order or edges of @main changed while streams were being assigned
ge.graph @main attributes {ge.structure = 1 : i64} {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
}
