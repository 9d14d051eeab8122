// RUN: ge-opt %s -p 'ge-stream-auto{auto="LoadBalance:4"}' --split-input-file | filecheck %s
// RUN: ge-opt %s -p 'ge-stream-auto{auto="MainStream:4"}' --split-input-file | filecheck %s --check-prefix=MAIN
// RUN: ge-opt %s -p ge-stream-auto --split-input-file | filecheck %s --check-prefix=OFF
// OFF: ge.graph @main attributes {ge.stream_num = 1 : i64}

// Tests that two chains go on two new streams, a label has one more, and nodes without stream stay. A stream is taken
// before the others are counted.
// CHECK: ge.graph @main attributes {ge.stream_num = 5 : i64, ge.custom_streams = "1,2,3,4"}
// MAIN: ge.graph @main attributes {ge.stream_num = 5 : i64, ge.custom_streams = "1,2,3,4"}
ge.graph @main attributes {ge.stream_num = 1 : i64} {
  // CHECK: ge.name = "x"} :
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 1 : i64
  // MAIN: ge.name = "a", ge.stream = 1 : i64
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 1 : i64
  // MAIN: ge.name = "b", ge.stream = 1 : i64
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c", ge.stream = 2 : i64
  // MAIN: ge.name = "c", ge.stream = 2 : i64
  %c = ge.op "Relu" (%x) {ge.name = "c", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "e", ge.stream = 2 : i64
  // MAIN: ge.name = "e", ge.stream = 2 : i64
  %e = ge.op "Relu" (%c) {ge.name = "e", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "l", ge.stream = 3 : i64
  // MAIN: ge.name = "l", ge.stream = 3 : i64
  %l = ge.op "Relu" (%x) attrs {_stream_label = "l"} {ge.name = "l", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "d", ge.stream = 1 : i64
  // MAIN: ge.name = "d", ge.stream = 1 : i64
  %d = ge.op "Relu" (%b) {ge.name = "d", ge.stream = 0 : i64} : tensor<2xf32>
}

// -----

// Tests that the mode of the graph wins over the option.
// CHECK: ge.graph @main attributes {ge.auto_multistream_mode = "cv", ge.stream_num = 1 : i64}
ge.graph @main attributes {ge.auto_multistream_mode = "cv", ge.stream_num = 1 : i64} {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b", ge.stream = 0 : i64
  %b = ge.op "Make" () {ge.name = "b", ge.stream = 0 : i64} : tensor<2xf32>
}
