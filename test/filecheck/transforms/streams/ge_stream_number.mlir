// RUN: ge-opt %s -p ge-stream-number --split-input-file | filecheck %s

// Tests that each graph's own streams come behind those of the graphs before it, and 0 becomes the owner's, through
// several graphs.
// CHECK: ge.graph @main attributes {ge.stream_num = 4 : i64}
ge.graph @main attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "a", ge.stream = 0 : i64
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "if", ge.stream = 1 : i64
  %if = ge.op "Owner" (%a) subgraphs [@outer] {ge.name = "if", ge.stream = 1 : i64} : tensor<2xf32>
}
// CHECK: ge.graph @outer {
ge.graph @outer attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "b", ge.stream = 2 : i64
  %b = ge.op "Make" () {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "inner_if", ge.stream = 1 : i64
  %if = ge.op "Owner" (%b) subgraphs [@inner] {ge.name = "inner_if", ge.stream = 0 : i64} : tensor<2xf32>
}
ge.graph @inner attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "c", ge.stream = 1 : i64
  %c = ge.op "Make" () {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 3 : i64
  %d = ge.op "Relu" (%c) {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e"} :
  %e = ge.op "View" (%c) {ge.name = "e"} : tensor<2xf32>
}

// -----

// Tests that below a graph that the host schedules 0 is the model's first stream, and an owner without stream counts
// as one with a stream of its own.
// CHECK: ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 3 : i64}
ge.graph @main attributes {ge.next_stream = 1 : i64, ge.unknown_shape} {
  %if = ge.op "Owner" () subgraphs [@known] {ge.name = "if", ge.stream = 0 : i64} : tensor<2xf32>
}
ge.graph @known attributes {ge.next_stream = 2 : i64} {
  // CHECK: ge.name = "a", ge.stream = 0 : i64
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64
  %b = ge.op "Make" () {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  %if = ge.op "Owner" () subgraphs [@lost] {ge.name = "if2"} : tensor<2xf32>
}
ge.graph @lost {
  // CHECK: ge.name = "c", ge.stream = 2 : i64
  %c = ge.op "Make" () {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
}
