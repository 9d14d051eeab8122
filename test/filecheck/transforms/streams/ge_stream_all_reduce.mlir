// RUN: ge-opt %s -p "ge-stream-all-reduce{hcom-parallel=true}" | filecheck %s
// RUN: ge-opt %s -p ge-stream-all-reduce | filecheck %s --check-prefix=OFF
// OFF: ge.graph @main attributes {ge.next_stream = 3 : i64}

// Tests that what follows a fused all-reduce moves, stream by stream, that all-reduces stay, and that without fusion
// nothing happens.
// CHECK: ge.graph @main attributes {ge.next_stream = 5 : i64}
ge.graph @main attributes {ge.next_stream = 3 : i64} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "h", ge.stream = 0 : i64
  %h = ge.op "HcomAllReduce" (%x) attrs {fusion = 1} {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 3 : i64
  %a = ge.op "Relu" (%h) {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "other", ge.stream = 1 : i64
  %other = ge.op "Relu" (%a) attrs {_stream_label = "l"} {ge.name = "other", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "g", ge.stream = 0 : i64
  %g = ge.op "HcomAllReduce" (%a) {ge.name = "g", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 3 : i64
  %b = ge.op "Relu" (%g) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "beside", ge.stream = 1 : i64
  %beside = ge.op "Make" () {ge.name = "beside", ge.stream = 1 : i64} : tensor<2xf32>
}
