// RUN: ge-opt %s -p ge-stream-jumps --split-input-file | filecheck %s

// Tests that everything from the first to the last mention of a label comes on the stream of the first node with one,
// and that nothing else moves; nodes without stream stay without.
ge.graph @main {
  // CHECK: ge.name = "before", ge.stream = 1 : i64
  %b = ge.op "Make" () {ge.name = "before", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "head", ge.stream = 0 : i64
  ge.label_set label_index 0 {ge.name = "head", ge.stream = 0 : i64}
  // CHECK: ge.name = "c"}
  %c = ge.constant value dense<1.0> : tensor<2xf32> {ge.name = "c"} : tensor<2xf32>
  // CHECK: ge.name = "a", ge.stream = 0 : i64
  %a = ge.op "HcomAllReduce" (%b) {ge.name = "a", ge.stream = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "back", ge.stream = 0 : i64
  ge.label_goto label_index 0 {ge.name = "back", ge.stream = 2 : i64}
  // CHECK: ge.name = "after", ge.stream = 1 : i64
  %d = ge.op "Relu" (%a) {ge.name = "after", ge.stream = 1 : i64} : tensor<2xf32>
}

// -----

// Tests that stretches with a label in common are one, and others are apart.
ge.graph @main {
  %i = ge.data index 0 {ge.name = "i"} : tensor<i32>
  // CHECK: ge.name = "s", ge.stream = 3 : i64
  ge.label_switch (%i) label_list [0, 1] {ge.name = "s", ge.stream = 3 : i64}
  // CHECK: ge.name = "l0", ge.stream = 3 : i64
  ge.label_set label_index 0 {ge.name = "l0", ge.stream = 2 : i64}
  // CHECK: ge.name = "l1", ge.stream = 3 : i64
  ge.label_set label_index 1 {ge.name = "l1", ge.stream = 1 : i64}
  // CHECK: ge.name = "l2", ge.stream = 0 : i64
  ge.label_set label_index 2 {ge.name = "l2", ge.stream = 0 : i64}
  // CHECK: ge.name = "g2", ge.stream = 0 : i64
  ge.label_goto label_index 2 {ge.name = "g2", ge.stream = 1 : i64}
}
