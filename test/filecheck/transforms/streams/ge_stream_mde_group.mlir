// RUN: ge-opt %s -p ge-stream-mde-group | filecheck %s

// Tests that each value of NewStreamId on each stream takes a number, fresh nodes counting as stream 0, and that nodes
// of parallel groups are left out.
// CHECK: ge.graph @main attributes {ge.next_stream = 5 : i64}
ge.graph @main attributes {ge.next_stream = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 2 : i64
  %a = ge.op "Relu" (%x) attrs {NewStreamId = 7} {ge.name = "a"} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 4 : i64
  %b = ge.op "Relu" (%x) attrs {NewStreamId = 7} {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 3 : i64
  %c = ge.op "Relu" (%x) attrs {NewStreamId = 1} {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d"} :
  %d = ge.op "Relu" (%x) attrs {NewStreamId = 7, _parallel_group = "g"} {ge.name = "d"} : tensor<2xf32>
}
