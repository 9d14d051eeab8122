// RUN: ge-opt %s --split-input-file -p ge-canonicalize | filecheck %s

// Tests that a branch on a constant condition is replaced by the nodes of the graph that is taken, that a name which is
// taken gets the node's in front, and that both graphs go.
// CHECK-LABEL: ge.graph @inline
ge.graph @inline {
  // CHECK: [[X:%.+]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %c = ge.constant value dense<true> : tensor<i1> {ge.name = "c"} : tensor<i1>
  // CHECK-NEXT: [[A:%.+]] = ge.op "Relu" ([[X]]) {ge.name = "a"}
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2xf32>
  // CHECK-NEXT: [[B:%.+]] = ge.op "Neg" ([[A]]) {ge.name = "if/a"}
  // CHECK-NEXT: [[C:%.+]] = ge.op "Exp" ([[B]]) {ge.name = "b"} : tensor<2xf32>
  %y = ge.op "If" (%c, %a) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xf32>
  // CHECK-NEXT: ge.net_output ([[C]])
  ge.net_output (%y) {ge.name = "out"}
}
// CHECK-NOT: ge.graph
ge.graph @then {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %a = ge.op "Neg" (%x) {ge.name = "a"} : tensor<2xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b"} : tensor<*xf32>
  ge.net_output (%b) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// Tests that an inner branch whose condition becomes known by inlining the outer one is inlined in the same sweep, and
// that Case counts its graphs.
// CHECK-LABEL: ge.graph @nested
ge.graph @nested {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %c = ge.constant value dense<false> : tensor<i1> {ge.name = "c"} : tensor<i1>
  // CHECK: ge.op "Neg"
  // CHECK-NEXT: ge.net_output
  %y = ge.op "If" (%c, %x) subgraphs [@absent, @outer] {ge.name = "if"} : tensor<2xf32>
  ge.net_output (%y) {ge.name = "out"}
}
// CHECK-NOT: ge.graph
ge.graph @outer {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %one = ge.constant value dense<1> : tensor<i32> {ge.name = "one"} : tensor<i32>
  %y = ge.op "Case" (%one, %x) subgraphs [@zero, @one] {ge.name = "case"} : tensor<2xf32>
  ge.net_output (%y) {ge.name = "out"}
}
ge.graph @zero {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @one {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %y = ge.op "Neg" (%x) {ge.name = "y"} : tensor<2xf32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests that a branch whose graph is not there stays, as does one on a condition that the text leaves out.
// CHECK-LABEL: ge.graph @missing
ge.graph @missing {
  %c = ge.constant value dense<true> : tensor<i1> {ge.name = "c"} : tensor<i1>
  %e = ge.constant value dense_resource<__elided__> : tensor<i1> {ge.name = "e"} : tensor<i1>
  // CHECK: ge.op "If" {{.*}} subgraphs [@nowhere, @nor]
  %y = ge.op "If" (%c) subgraphs [@nowhere, @nor] {ge.name = "y"} : tensor<2xf32>
  // CHECK: ge.op "If" {{.*}} subgraphs [@here, @there]
  %z = ge.op "If" (%e) subgraphs [@here, @there] {ge.name = "z"} : tensor<2xf32>
  ge.net_output (%y, %z) {ge.name = "out"}
}
// CHECK-LABEL: ge.graph @here
ge.graph @here {
}
// CHECK-LABEL: ge.graph @there
ge.graph @there {
}

// -----

// Tests that a branch without reader goes when all its graphs only compute, and stays when one does more.
// CHECK-LABEL: ge.graph @dead
ge.graph @dead {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  // CHECK-NOT: ge.name = "pure"
  %y = ge.op "If" (%c) subgraphs [@p, @q] {ge.name = "pure"} : tensor<2xf32>
  // CHECK: ge.name = "sends"
  %z = ge.op "If" (%c) subgraphs [@r, @s] {ge.name = "sends"} : tensor<2xf32>
  ge.net_output {ge.name = "out"}
}
// CHECK-NOT: @p
ge.graph @p {
  %k = ge.constant value dense<1.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  ge.net_output (%k) {ge.name = "out"}
}
ge.graph @q {
  %k = ge.constant value dense<2.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  ge.net_output (%k) {ge.name = "out"}
}
// CHECK: ge.graph @r
ge.graph @r {
  %k = ge.constant value dense<2.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  ge.net_output (%k) {ge.name = "out"}
}
ge.graph @s {
  %k = ge.constant value dense<2.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  ge.send event_id 0 {ge.name = "s"}
  ge.net_output (%k) {ge.name = "out"}
}
