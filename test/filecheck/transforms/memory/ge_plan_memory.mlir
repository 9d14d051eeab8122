// RUN: ge-opt %s --split-input-file -p 'ge-plan-memory{in-place=false check=true}' | filecheck %s

// Tests the chain: a dead value's bytes are given to the next, the model output and then the inputs lie behind the
// feature map. 64 floats are 256 bytes, stored as 288, one block of 512.
// CHECK-LABEL: ge.graph @chain
// CHECK-SAME: ge.arenas = {hbm = 2048 : i64, weight = 0 : i64}
// CHECK-SAME: ge.zero_copy_size = 1024 : i64, ge.peak_bytes = 1024 : i64, ge.lower_bound_bytes = 1024 : i64, ge.lower_bound_kind = "max live", ge.plain_bound_bytes = 1024 : i64
ge.graph @chain {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 1536>
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets = array<i64: 512>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<64xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 0>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<64xf32>
  // CHECK: ge.name = "c", ge.offsets = array<i64: 512>
  %c = ge.op "Relu" (%b) {ge.name = "c"} : tensor<64xf32>
  // CHECK: ge.name = "d", ge.offsets = array<i64: 1024>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<64xf32>
  ge.net_output (%d) {ge.name = "out"}
}

// -----

// Tests block sizes: 120 floats are 480 bytes, stored as 512, one block; 128 floats are 512 bytes, stored as 544, two.
// CHECK-LABEL: ge.graph @sizes
ge.graph @sizes {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 0>
  %x = ge.data index 0 {ge.name = "x"} : tensor<120xf32>
  // CHECK: ge.name = "y", ge.offsets = array<i64: 512>
  %y = ge.data index 1 {ge.name = "y"} : tensor<128xf32>
  // CHECK: ge.name = "z", ge.offsets = array<i64: 1536>
  %z = ge.data index 2 {ge.name = "z"} : tensor<128xf32>
}

// -----

// Tests the zero-copy tail: outputs in order of the nodes that make them, then inputs by ascending size.
// CHECK-LABEL: ge.graph @tail
ge.graph @tail {
  // CHECK: ge.name = "large", ge.offsets = array<i64: 2048>
  %large = ge.data index 0 {ge.name = "large"} : tensor<256xf32>
  // CHECK: ge.name = "small", ge.offsets = array<i64: 1536>
  %small = ge.data index 1 {ge.name = "small"} : tensor<64xf32>
  // CHECK: ge.name = "p", ge.offsets = array<i64: 0>
  %p = ge.op "Relu" (%small) {ge.name = "p"} : tensor<64xf32>
  // CHECK: ge.name = "q", ge.offsets = array<i64: 512>
  %q = ge.op "Shorten" (%large) {ge.name = "q"} : tensor<128xf32>
  ge.net_output (%q, %p) {ge.name = "out"}
}

// -----

// Tests that a view is its input's memory, that it keeps that alive, and that an output reached through a view is one.
// CHECK-LABEL: ge.graph @views
ge.graph @views {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 1536>
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.offsets = array<i64: 0>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<64xf32>
  // CHECK: ge.name = "v", ge.offsets = array<i64: 0>
  %v = ge.op "Unsqueeze" (%a) attrs {axes = array<i64: 0>} {ge.name = "v"} : tensor<1x64xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 512>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<64xf32>
  // CHECK: ge.name = "c", ge.offsets = array<i64: 1024>
  %c = ge.op "Add" (%v, %b) {ge.name = "c"} : tensor<1x64xf32>
  // CHECK: ge.name = "w", ge.offsets = array<i64: 1024>
  %w = ge.op "Squeeze" (%c) attrs {axis = array<i64: 0>} {ge.name = "w"} : tensor<64xf32>
  // The same type on another engine copies.
  // CHECK: ge.name = "k", {{.*}}ge.offsets = array<i64: 0>
  %k = ge.op "Squeeze" (%c) attrs {axis = array<i64: 0>} {ge.name = "k", ge.kernel_lib = "AIcoreEngine"} : tensor<64xf32>
  ge.net_output (%w) {ge.name = "out"}
}

// -----

// Tests that constants lie in `weight`, and that an output that is an input or a constant stays where that is.
// CHECK-LABEL: ge.graph @weights
// CHECK-SAME: ge.arenas = {hbm = 512 : i64, weight = 1024 : i64}
ge.graph @weights {
  // CHECK: ge.name = "x", ge.offsets = array<i64: 0>}
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // CHECK: ge.name = "k", ge.offsets = array<i64: 0>, ge.spaces = ["weight"]
  %k = ge.constant value dense<1.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  // CHECK: ge.name = "l", ge.offsets = array<i64: 512>, ge.spaces = ["weight"]
  %l = ge.constant value dense<2.0> : tensor<2xf32> {ge.name = "l"} : tensor<2xf32>
  ge.net_output (%x, %k) {ge.name = "out"}
}

// -----

// Tests that an absent output has no memory, that a dead output has some at its own node only, and workspaces.
// CHECK-LABEL: ge.graph @outputs
ge.graph @outputs {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", ge.workspace_bytes = array<i64: 100>, ge.offsets = array<i64: 0, -1, 512>, ge.workspace_offsets = array<i64: 1024>
  %a, %n, %dead = ge.op "Foo" (%x) {ge.name = "a", ge.workspace_bytes = array<i64: 100>} : tensor<64xf32>, none, tensor<64xf32>
  // CHECK: ge.name = "b", ge.offsets = array<i64: 512>
  %b = ge.op "Relu" (%a) {ge.name = "b"} : tensor<64xf32>
  %c = ge.op "Relu" (%b) {ge.name = "c"} : tensor<64xf32>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests two streams: c may not have the bytes of a, which b on the other stream may not have read yet; e may have
// those of c, whose reader is on its own stream.
// CHECK-LABEL: ge.graph @streams
// CHECK-SAME: ge.peak_bytes = 2048 : i64
ge.graph @streams {
  %x = ge.data index 0 {ge.name = "x"} : tensor<64xf32>
  // CHECK: ge.name = "a", {{.*}}ge.offsets = array<i64: 0>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.stream = 0 : i64} : tensor<64xf32>
  // CHECK: ge.name = "b", {{.*}}ge.offsets = array<i64: 512>
  %b = ge.op "Relu" (%a) {ge.name = "b", ge.stream = 1 : i64} : tensor<64xf32>
  // CHECK: ge.name = "c", {{.*}}ge.offsets = array<i64: 1536>
  %c = ge.op "Relu" (%x) {ge.name = "c", ge.stream = 0 : i64} : tensor<64xf32>
  // CHECK: ge.name = "d", {{.*}}ge.offsets = array<i64: 1024>
  %d = ge.op "Relu" (%c) {ge.name = "d", ge.stream = 0 : i64} : tensor<64xf32>
  // CHECK: ge.name = "e", {{.*}}ge.offsets = array<i64: 1536>
  %e = ge.op "Relu" (%d) {ge.name = "e", ge.stream = 0 : i64} : tensor<64xf32>
  %f = ge.op "Add" (%b, %e) {ge.name = "f", ge.stream = 1 : i64} : tensor<64xf32>
  ge.net_output (%f) {ge.name = "out", ge.stream = 1 : i64}
}
