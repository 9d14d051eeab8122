// RUN: ge-opt %s -p ge-stream-label | filecheck %s

// Tests that a label has one stream in its graph, whatever the engines, and another one in another graph.
// CHECK: ge.graph @main attributes {ge.next_stream = 2 : i64}
ge.graph @main {
  // CHECK: ge.name = "a"{{.*}}ge.cluster_stream = 0 : i64
  %a = ge.op "Make" () attrs {_stream_label = "p"} {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.cluster_stream = 1 : i64
  %b = ge.op "Make" () attrs {_stream_label = "q"} {ge.name = "b", ge.engine = "AIcoreEngine", ge.cluster = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c"{{.*}}ge.cluster_stream = 0 : i64
  %c = ge.op "Make" () attrs {_stream_label = "p"} {ge.name = "c", ge.engine = "DNN_VM_AICPU", ge.cluster = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d"{{.*}}ge.cluster = 3 : i64} :
  %d = ge.op "Owner" () subgraphs [@sub] {ge.name = "d", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 3 : i64} : tensor<2xf32>
}
// Tests that below another graph numbers begin at 1: 0 is the stream of the owner.
// CHECK: ge.graph @sub attributes {ge.next_stream = 2 : i64}
ge.graph @sub {
  // CHECK: ge.cluster_stream = 1 : i64
  %a = ge.op "Make" () attrs {_stream_label = "p"} {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
}
