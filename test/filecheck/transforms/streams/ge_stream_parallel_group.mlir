// RUN: ge-opt %s -p ge-stream-parallel-group --split-input-file --verify-diagnostics | filecheck %s

// Tests that a group has a new stream for each old one, and that the group -1 follows the only data input if that has a
// stream.
// CHECK: ge.graph @main attributes {ge.next_stream = 5 : i64}
ge.graph @main attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "x"} :
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 2 : i64
  %a = ge.op "Relu" (%x) attrs {_parallel_group = "g"} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 4 : i64
  %b = ge.op "Relu" (%x) attrs {_parallel_group = "g"} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 2 : i64
  %c = ge.op "Relu" (%a) attrs {_parallel_group = "-1"} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 3 : i64
  %d = ge.op "Relu" (%x) attrs {_parallel_group = "-1"} {ge.name = "d", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e", ge.stream = 0 : i64
  %e = ge.op "Relu" (%x) attrs {_parallel_group = "g", _user_stream_label = "u"} {ge.name = "e", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "f"} :
  %f = ge.op "Relu" (%x) attrs {_parallel_group = "g"} {ge.name = "f"} : tensor<2xf32>
}

// -----

// Tests that the name of a group is a string.
// CHECK: error: node "a" has a _parallel_group that is no string: 3
ge.graph @main {
  %a = ge.op "Make" () attrs {_parallel_group = 3} {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
}
