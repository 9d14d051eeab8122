// RUN: ge-opt %s -p ge-default-streams | filecheck %s

// Tests that what has no stream goes to stream 0 and that there is a stream in any case.
// CHECK: ge.graph @main attributes {ge.stream_num = 2 : i64}
ge.graph @main {
  // CHECK: ge.name = "x", ge.stream = 0 : i64}
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 1 : i64}
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
}
