// RUN: ge-opt %s --split-input-file -p ge-canonicalize --remarks 2>/dev/null | filecheck %s
// RUN: ge-opt %s --split-input-file -p 'ge-canonicalize{fold-limit=8}' --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=LIMIT

// Tests that a node whose inputs are constants becomes a constant of its name, and that constants without reader go.
// CHECK-LABEL: ge.graph @add
ge.graph @add {
  // CHECK-NOT: ge.name = "a"
  %a = ge.constant value dense<[1, 2]> : tensor<2xi64> {ge.name = "a"} : tensor<2xi64>
  %b = ge.constant value dense<[10, 20]> : tensor<2xi64> {ge.name = "b"} : tensor<2xi64>
  // CHECK: [[S:%.+]] = ge.constant value dense<[11, 22]> : tensor<2xi64> {ge.name = "s"}
  %s = ge.op "Add" (%a, %b) {ge.name = "s"} : tensor<2xi64>
  // CHECK-NEXT: ge.net_output ([[S]])
  ge.net_output (%s) {ge.name = "out"}
}

// -----

// Tests that a chain folds in one sweep, and that the type comes from the value.
// CHECK-LABEL: ge.graph @chain
ge.graph @chain {
  %a = ge.constant value dense<[1, 2, 3]> : tensor<3xi64> {ge.name = "a"} : tensor<3xi64>
  %n = ge.op "Neg" (%a) {ge.name = "n"} : tensor<*xi64>
  // CHECK: ge.constant value dense<[1, 2, 3]> : tensor<3xi64> {ge.name = "a"}
  // CHECK-NEXT: ge.net_output
  %m = ge.op "Neg" (%n) {ge.name = "m"} : tensor<?xi64>
  ge.net_output (%m) {ge.name = "out"}
}

// -----

// Tests that an output nobody reads gets no constant, and that the others are numbered.
// CHECK-LABEL: ge.graph @split
ge.graph @split {
  %a = ge.constant value dense<[1, 2, 3]> : tensor<3xi64> {ge.name = "a"} : tensor<3xi64>
  // CHECK: ge.constant value dense<1> : tensor<1xi64> {ge.name = "s_0"}
  // CHECK-NEXT: ge.constant value dense<3> : tensor<1xi64> {ge.name = "s_2"}
  %s0, %s1, %s2 = ge.split (%a) split_dim 0 num_split 3 {ge.name = "s"} : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
  // CHECK-NEXT: ge.net_output
  ge.net_output (%s0, %s2) {ge.name = "out"}
}

// -----

// Tests that random operators are not folded, not even with constant inputs, nor merged.
// CHECK-LABEL: ge.graph @random
ge.graph @random {
  // CHECK: ge.op "RandomNormal"
  // CHECK: ge.op "RandomNormal"
  %r = ge.op "RandomNormal" source "ai.onnx::RandomNormal@1" attrs {shape = array<i64: 2>} {ge.name = "r"} : tensor<2xf32>
  %q = ge.op "RandomNormal" source "ai.onnx::RandomNormal@1" attrs {shape = array<i64: 2>} {ge.name = "q"} : tensor<2xf32>
  ge.net_output (%r, %q) {ge.name = "out"}
}

// -----

// Tests that a node that needs bytes that were left out of the text stays.
// CHECK-LABEL: ge.graph @elided
// LIMIT: missed: not folded: the bytes of an input are not in this text
ge.graph @elided {
  %a = ge.constant value dense_resource<__elided__> : tensor<2xf32> {ge.name = "a"} : tensor<2xf32>
  // CHECK: ge.op "Neg"
  %n = ge.op "Neg" (%a) {ge.name = "n"} : tensor<2xf32>
  // The shape of a tensor needs no bytes.
  // CHECK: ge.constant value dense<2> : tensor<1xi64> {ge.name = "s"}
  %s = ge.op "Shape" (%a) attrs {dtype = 9} {ge.name = "s"} : tensor<1xi64>
  ge.net_output (%n, %s) {ge.name = "out"}
}

// -----

// Tests that folding stops at the limit.
// CHECK-LABEL: ge.graph @limit
// LIMIT: missed: not folded: folding would add 28 bytes, the limit is 8
ge.graph @limit {
  %a = ge.constant value dense<1.0> : tensor<1xf32> {ge.name = "a"} : tensor<1xf32>
  %s = ge.constant value dense<[3, 4]> : tensor<2xi64> {ge.name = "shape"} : tensor<2xi64>
  // CHECK: ge.constant {{.*}} : tensor<3x4xf32> {ge.name = "e"}
  %e = ge.op "Expand" (%a, %s) {ge.name = "e"} : tensor<3x4xf32>
  ge.net_output (%e) {ge.name = "out"}
}

// -----

// Tests that a node on a control edge is left in its place.
// CHECK-LABEL: ge.graph @control
ge.graph @control {
  %r = ge.recv event_id 0 {ge.name = "r"} : !ge.control
  %a = ge.constant value dense<1.0> : tensor<1xf32> {ge.name = "a"} : tensor<1xf32>
  // CHECK: ge.op "Neg"
  %n = ge.op "Neg" (%a, %r) {ge.name = "n"} : tensor<1xf32>
  // CHECK: ge.op "Identity"
  %i = ge.op "Identity" (%n, %r) {ge.name = "i"} : tensor<1xf32>
  ge.net_output (%i) {ge.name = "out"}
}
