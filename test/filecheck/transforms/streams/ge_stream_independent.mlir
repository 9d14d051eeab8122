// RUN: ge-opt %s -p ge-stream-independent | filecheck %s

// Tests that each label of an independent engine has its own stream, that the stream of a compiler's label is left for
// it, and that the stream of a user's label is kept.
// CHECK: ge.graph @main attributes {ge.next_stream = 4 : i64}
ge.graph @main attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "a"{{.*}}ge.cluster_stream = 2 : i64
  %a = ge.op "Collective" () {ge.name = "a", ge.engine = "DNN_HCCL", ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.cluster_stream = 3 : i64
  %b = ge.op "Collective" () attrs {_stream_label = "l"} {ge.name = "b", ge.engine = "DNN_HCCL", ge.cluster = 1 : i64, ge.cluster_stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c"{{.*}}ge.cluster_stream = 1 : i64
  %c = ge.op "Collective" () attrs {_stream_label = "u", _user_stream_label = "u"} {ge.name = "c", ge.engine = "DNN_HCCL", ge.cluster = 2 : i64, ge.cluster_stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d"{{.*}}ge.cluster_stream = 2 : i64
  %d = ge.op "Collective" () {ge.name = "d", ge.engine = "DNN_HCCL", ge.cluster = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e"{{.*}}ge.cluster = 4 : i64} :
  %e = ge.op "Make" () {ge.name = "e", ge.engine = "AIcoreEngine", ge.cluster = 4 : i64} : tensor<2xf32>
}
