// RUN: ge-opt %s -p ge-lower-control-flow --split-input-file --remarks 2>&1 >/dev/null | filecheck %s

// Tests the first failing condition of models that stay with the host.

// CHECK: missed: left to the host: NonZero "z": output 0 of NonZero has an unknown dimension
ge.graph @unknown {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %y = ge.data index 1 {ge.name = "y"} : tensor<4xf32>
  %z = ge.op "NonZero" (%y) source "ai.onnx::NonZero@13" {ge.name = "z"} : tensor<1x?xi64>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<i1>
  ge.net_output (%r, %z) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: the graph is marked ge.unknown_shape
ge.graph @marked attributes {ge.unknown_shape} {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<i1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: If "if": its condition is tensor<2xi1>, not one number
ge.graph @condition {
  %c = ge.data index 0 {ge.name = "c"} : tensor<2xi1>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xi1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<2xi1>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<2xi1>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Loop "loop": it collects outputs, and its trip count is no constant
ge.graph @length {
  %m = ge.data index 0 {ge.name = "m"} : tensor<i64>
  %none = ge.absent
  %s = ge.op "Loop" (%m, %none) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<3xi64>
  ge.net_output (%s) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  ge.net_output (%go, %i) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Loop "loop": it collects outputs, and its condition may end it early
ge.graph @early {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %m = ge.constant value dense<3> : tensor<i64> {ge.name = "m"} : tensor<i64>
  %s = ge.op "Loop" (%m, %c) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<3xi64>
  ge.net_output (%s) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  ge.net_output (%go, %i) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Scan "scan": Scan of opset 8, with its batch, runs on the host only
ge.graph @batched {
  %none = ge.absent
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x3x2xf32>
  %s = ge.op "Scan" (%none, %x) source "ai.onnx::Scan@8" attrs {num_scan_inputs = 1 : i64} subgraphs [@body] {ge.name = "scan"} : tensor<1x3x2xf32>
  ge.net_output (%s) {ge.name = "out"}
}
ge.graph @body {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: For "for": For runs on the host only
ge.graph @operator {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %s = ge.op "For" (%x) subgraphs [@body] {ge.name = "for"} : tensor<2xf32>
  ge.net_output (%s) {ge.name = "out"}
}
ge.graph @body {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: If "if": its graph @else is not there
ge.graph @missing {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<i1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: passed: 1 constructs became 3 labels
ge.graph @done {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<i1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Loop "loop": its trip count is tensor<i32>, expected tensor<i64>
ge.graph @count {
  %m = ge.data index 0 {ge.name = "m"} : tensor<i32>
  %v = ge.data index 1 {ge.name = "v"} : tensor<2xf32>
  %none = ge.absent
  %r = ge.op "Loop" (%m, %none, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @body {
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<2xf32>
  %n = ge.op "Neg" (%v) {ge.name = "n"} : tensor<2xf32>
  ge.net_output (%go, %n) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Loop "loop": the iteration in its body is tensor<f32>, expected tensor<i64>
ge.graph @number {
  %m = ge.data index 0 {ge.name = "m"} : tensor<i64>
  %v = ge.data index 1 {ge.name = "v"} : tensor<f32>
  %none = ge.absent
  %r = ge.op "Loop" (%m, %none, %v) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<f32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<f32>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<f32>
  %n = ge.op "Add" (%v, %i) {ge.name = "n"} : tensor<f32>
  ge.net_output (%go, %n) {ge.name = "out"}
}

// -----

// CHECK: missed: left to the host: Scan "scan": scan_input_axes is 'x', no list of integers
ge.graph @axes {
  %z = ge.data index 0 {ge.name = "z"} : tensor<3x2xf32>
  %t = ge.op "Scan" (%z) source "ai.onnx::Scan@16" attrs {num_scan_inputs = 1 : i64, scan_input_axes = "x"} subgraphs [@body] {ge.name = "scan"} : tensor<3x2xf32>
  ge.net_output (%t) {ge.name = "out"}
}
ge.graph @body {
  %z = ge.data {ge.name = "z", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  %n = ge.op "Neg" (%z) {ge.name = "n"} : tensor<2xf32>
  ge.net_output (%n) {ge.name = "out"}
}
