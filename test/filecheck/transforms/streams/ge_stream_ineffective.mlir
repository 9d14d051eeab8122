// RUN: ge-opt %s -p ge-stream-ineffective --split-input-file | filecheck %s

// Tests that a collective between two nodes next to each other on another stream moves to it.
ge.graph @main {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "h", ge.stream = 1 : i64
  %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%h) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that it stays when the other stream has work meanwhile.
ge.graph @main {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "h", ge.stream = 0 : i64
  %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
  %c = ge.op "Relu" (%a) {ge.name = "c", ge.stream = 1 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%h) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that nothing moves to a stream with a label, and no node with a label moves.
ge.graph @main {
  %a = ge.op "Make" () attrs {_stream_label = "l"} {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "h", ge.stream = 0 : i64
  %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
  %b = ge.op "Relu" (%h) {ge.name = "b", ge.stream = 1 : i64} : tensor<2xf32>
  %c = ge.op "Make" () {ge.name = "c", ge.stream = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "k", ge.stream = 2 : i64
  %k = ge.op "Relu" (%c) attrs {_user_stream_label = "u"} {ge.name = "k", ge.stream = 2 : i64} : tensor<2xf32>
  %d = ge.op "Relu" (%k) {ge.name = "d", ge.stream = 3 : i64} : tensor<2xf32>
}

// -----

// Tests that of two streams that would do the last counts, and that the next node sees the move.
ge.graph @main {
  %a = ge.op "Make" () {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  %b = ge.op "Make" () {ge.name = "b", ge.stream = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "h", ge.stream = 2 : i64
  %h = ge.op "HcomAllReduce" (%a, %b) {ge.name = "h", ge.stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "k", ge.stream = 2 : i64
  %k = ge.op "Cpu" (%h) {ge.name = "k", ge.stream = 3 : i64} : tensor<2xf32>
  %c = ge.op "Relu" (%h, %k) {ge.name = "c", ge.stream = 2 : i64} : tensor<2xf32>
  %d = ge.op "Relu" (%h) {ge.name = "d", ge.stream = 1 : i64} : tensor<2xf32>
}
