// RUN: ge-opt %s -p 'ge-stream-dynamic-compact{auto="LoadBalance:4"}' | filecheck %s
// RUN: ge-opt %s -p ge-stream-dynamic-compact | filecheck %s --check-prefix=OFF
// OFF: ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 7 : i64}

// Tests that only streams of nodes that are free to be anywhere count, all others being on the main stream.
// CHECK: ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 2 : i64}
ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 7 : i64} {
  // CHECK: ge.name = "x", ge.stream = 0 : i64
  %x = ge.data index 0 {ge.name = "x", ge.stream = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 1 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 6 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 0 : i64
  %b = ge.op "Relu" (%x) {ge.name = "b", ge.stream = 5 : i64} : tensor<2xf32>
  // CHECK: ge.net_output {{.*}}ge.stream = 0 : i64
  ge.net_output (%a) {ge.name = "out", ge.stream = 6 : i64}
}
