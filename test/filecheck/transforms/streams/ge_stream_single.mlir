// RUN: ge-opt %s -p ge-stream-single | filecheck %s

// Tests that all sub-graphs share the stream of their graph, which below another one is the owner's (0).
// CHECK: ge.graph @main attributes {ge.next_stream = 1 : i64}
ge.graph @main {
  // CHECK: ge.name = "a"{{.*}}ge.cluster_stream = 0 : i64
  %a = ge.op "Make" () {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d"{{.*}}ge.cluster_stream = 0 : i64
  %d = ge.op "Owner" () subgraphs [@sub] {ge.name = "d", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 1 : i64} : tensor<2xf32>
}
// CHECK: ge.graph @sub {
ge.graph @sub {
  // CHECK: ge.cluster_stream = 0 : i64
  %a = ge.op "Make" () {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
}
