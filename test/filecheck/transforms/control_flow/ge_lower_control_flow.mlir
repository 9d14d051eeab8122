// RUN: ge-opt %s -p ge-lower-control-flow --split-input-file | filecheck %s

// Tests an If: the switch hands the values through, both branches leave their result in one memory, the last falls
// through to the way out.
// CHECK-LABEL: ge.graph @branch
// CHECK: %[[I:.*]] = ge.op "Cast" (%c) attrs {dst_type = 3 : i64} {ge.name = "if/Cast"} : tensor<i32>
// CHECK-NEXT: %[[X:.*]], %[[Y:.*]] = ge.label_switch (%[[I]], %x, %y) label_list [1, 0]
// CHECK-SAME: ge.res_attrs = [{reuse_input = 1 : i64}, {reuse_input = 2 : i64}]
// CHECK-NEXT: ge.label_set label_index 0
// CHECK-NEXT: %[[A:.*]] = ge.op "Add" (%[[X]], %[[Y]]) {ge.name = "a"}
// CHECK-NEXT: %[[R0:.*]] = ge.op "Identity" (%[[A]]) {{.*}}ge.keep
// CHECK-NEXT: ge.label_goto label_index 2
// CHECK-NEXT: ge.label_set label_index 1
// CHECK-NEXT: %[[B:.*]] = ge.op "Mul" (%[[X]], %[[X]]) {ge.name = "if/a"}
// CHECK-NEXT: %[[R1:.*]] = ge.op "Identity" (%[[B]], %[[R0]]) {{.*}}ge.res_attrs = [{reuse_input = 1 : i64}]
// CHECK-NEXT: %r = ge.label_set (%[[R1]]) label_index 2 {{.*}}ge.res_attrs = [{reuse_input = 0 : i64}]
// CHECK-NEXT: ge.net_output (%r)
// CHECK-NOT: ge.graph
ge.graph @branch {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %y = ge.data index 2 {ge.name = "y"} : tensor<2xf32>
  %r = ge.op "If" (%c, %x, %y) subgraphs [@then, @else] {ge.name = "if"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %y = ge.data {ge.name = "y", ge.parent_node_index = 2 : i64} : tensor<2xf32>
  %a = ge.op "Add" (%x, %y) {ge.name = "a"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %a = ge.op "Mul" (%x, %x) {ge.name = "a"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out"}
}

// -----

// Tests that a condition of any type counts by being other than zero, and that engines are given where nodes have them.
// CHECK-LABEL: ge.graph @number
// CHECK: %[[Z:.*]] = ge.constant value dense<0.000000e+00> : tensor<f32> {ge.name = "number/Const", ge.engine = "DNN_VM_GE_LOCAL"
// CHECK: %[[T:.*]] = ge.op "NotEqual" (%c, %[[Z]]) {ge.name = "if/NotEqual", ge.engine = "AIcoreEngine"
// CHECK-NEXT: %[[I:.*]] = ge.op "Cast" (%[[T]])
// CHECK-NEXT: ge.label_switch (%[[I]]) label_list [1, 0] {ge.name = "if/LabelSwitchByIndex", ge.engine = "DNN_VM_RTS"
ge.graph @number {
  %c = ge.data index 0 {ge.name = "c"} : tensor<1xf32>
  %k = ge.constant value dense<1.0> : tensor<2xf32> {ge.name = "k"} : tensor<2xf32>
  %r = ge.op "If" (%c, %k) subgraphs [@then, @else] {ge.name = "if", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xf32>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %a = ge.op "Neg" (%x) {ge.name = "a"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out"}
}

// -----

// Tests a Case: an index that no graph has runs the last one. Control edges lead to the switch and from the way out.
// CHECK-LABEL: ge.graph @case
// CHECK: %b, %[[CTL:.*]] = ge.op "Exp"
// CHECK: %[[LOW:.*]] = ge.op "GreaterEqual" (%i, %{{.*}})
// CHECK-NEXT: %[[HIGH:.*]] = ge.op "Less" (%i, %{{.*}})
// CHECK-NEXT: %[[IN:.*]] = ge.op "LogicalAnd" (%[[LOW]], %[[HIGH]])
// CHECK-NEXT: %[[SEL:.*]] = ge.op "SelectV2" (%[[IN]], %i, %{{.*}}) {{.*}} : tensor<i32>
// CHECK-NEXT: %[[X:.*]] = ge.label_switch (%[[SEL]], %x, %[[CTL]]) label_list [0, 1, 2]
// CHECK: ge.label_set label_index 0
// CHECK: ge.label_goto label_index 3
// CHECK-NEXT: ge.label_set label_index 1
// CHECK: ge.label_goto label_index 3
// CHECK-NEXT: ge.label_set label_index 2
// CHECK-NOT: ge.label_goto
// CHECK: %r, %[[DONE:.*]] = ge.label_set (%{{.*}}) label_index 3
// CHECK-NEXT: ge.op "Relu" (%x, %[[DONE]])
ge.graph @case {
  %i = ge.data index 0 {ge.name = "i"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %b, %before = ge.op "Exp" (%x) {ge.name = "b"} : tensor<2xf32>, !ge.control
  %r, %done = ge.op "Case" (%i, %x, %before) subgraphs [@a, @b, @c] {ge.name = "case"} : tensor<2xf32>, !ge.control
  %d = ge.op "Relu" (%x, %done) {ge.name = "d"} : tensor<2xf32>
  ge.net_output (%r, %d, %b) {ge.name = "out"}
}
ge.graph @a {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %a = ge.op "Neg" (%x) {ge.name = "a"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out"}
}
ge.graph @b {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  %a = ge.op "Abs" (%x) {ge.name = "a"} : tensor<2xf32>
  ge.net_output (%a) {ge.name = "out"}
}
ge.graph @c {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1 : i64} : tensor<2xf32>
  ge.net_output (%x) {ge.name = "out"}
}

// -----

// Tests a While that swaps two states, reads a third input that stays as it is, and gives that back: the ring needs one
// value put aside, the third input no state; the jump back keeps it in use.
// CHECK-LABEL: ge.graph @swap
// CHECK: %[[A0:.*]] = ge.op "Identity" (%a) {ge.name = "w/Identity", ge.keep}
// CHECK-NEXT: %[[B0:.*]] = ge.op "Identity" (%b)
// CHECK-NEXT: %[[A:.*]], %[[B:.*]], %[[L:.*]] = ge.label_set (%[[A0]], %[[B0]], %l) label_index 0
// CHECK-NEXT: %[[GO:.*]] = ge.op "Less" (%[[A]], %[[L]])
// CHECK-NEXT: %[[I:.*]] = ge.op "Cast" (%[[GO]])
// CHECK-NEXT: ge.label_switch (%[[I]]) label_list [2, 1]
// CHECK-NEXT: ge.label_set label_index 1
// CHECK-NEXT: %[[T:.*]] = ge.op "Identity" (%[[B]])
// CHECK-NEXT: %[[B1:.*]] = ge.op "Identity" (%[[A]], %[[B]]) {{.*}}reuse_input = 1
// CHECK-NEXT: %[[A1:.*]] = ge.op "Identity" (%[[T]], %[[A]]) {{.*}}reuse_input = 1
// CHECK-NEXT: ge.label_goto (%[[A1]], %[[B1]], %[[L]]) label_index 0
// CHECK-NEXT: %r, %s = ge.label_set (%[[A1]], %[[B1]]) label_index 2
// CHECK-NEXT: ge.net_output (%r, %s, %l)
ge.graph @swap {
  %a = ge.data index 0 {ge.name = "a"} : tensor<f32>
  %b = ge.data index 1 {ge.name = "b"} : tensor<f32>
  %l = ge.data index 2 {ge.name = "l"} : tensor<f32>
  %r, %s, %t = ge.op "While" (%a, %b, %l) subgraphs [@cond, @body] {ge.name = "w"} : tensor<f32>, tensor<f32>, tensor<f32>
  ge.net_output (%r, %s, %t) {ge.name = "out"}
}
ge.graph @cond {
  %a = ge.data {ge.name = "a", ge.parent_node_index = 0 : i64} : tensor<f32>
  %l = ge.data {ge.name = "l", ge.parent_node_index = 2 : i64} : tensor<f32>
  %c = ge.op "Less" (%a, %l) {ge.name = "c"} : tensor<i1>
  ge.net_output (%c) {ge.name = "out"}
}
ge.graph @body {
  %a = ge.data {ge.name = "a", ge.parent_node_index = 0 : i64} : tensor<f32>
  %b = ge.data {ge.name = "b", ge.parent_node_index = 1 : i64} : tensor<f32>
  %l = ge.data {ge.name = "l", ge.parent_node_index = 2 : i64} : tensor<f32>
  ge.net_output (%b, %a, %l) {ge.name = "out"}
}

// -----

// Tests a Loop of ONNX with a constant trip count: a counter, a carried value, slices collected in place, an outer
// value. No state for a condition that is always true. The counter grows last.
// CHECK-LABEL: ge.graph @loop
// CHECK: %[[V0:.*]] = ge.op "Identity" (%v)
// CHECK-NEXT: %[[S0:.*]] = ge.op "Fill" (%{{.*}}, %{{.*}}) {ge.name = "loop/Fill"} : tensor<3x2xf32>
// CHECK-NEXT: %[[N0:.*]] = ge.op "Identity" (%{{.*}}) {{.*}} : tensor<i64>
// CHECK-NEXT: %[[V:.*]], %[[S:.*]], %[[N:.*]], %[[W:.*]] = ge.label_set (%[[V0]], %[[S0]], %[[N0]], %w) label_index 0
// CHECK-NEXT: %[[GO:.*]] = ge.op "Less" (%[[N]], %m)
// CHECK: ge.label_switch
// CHECK: %[[VN:.*]] = ge.op "Add" (%[[V]], %[[W]])
// CHECK-NEXT: %[[S1:.*]] = ge.op "ScatterUpdate" (%[[S]], %[[N]], %[[VN]]) {{.*}}reuse_input = 0
// CHECK-NEXT: %[[V1:.*]] = ge.op "Identity" (%[[VN]], %[[V]]) {{.*}}reuse_input = 1
// CHECK-NEXT: %[[N1:.*]] = ge.op "Add" (%[[N]], %{{.*}}) {{.*}}reuse_input = 0
// CHECK-NEXT: ge.label_goto (%[[V1]], %[[S1]], %[[N1]], %[[W]]) label_index 0
// CHECK-NEXT: %r, %s, %{{.*}} = ge.label_set (%[[V1]], %[[S1]], %[[N1]]) label_index 2
ge.graph @loop {
  %v = ge.data index 0 {ge.name = "v"} : tensor<2xf32>
  %w = ge.data index 1 {ge.name = "w"} : tensor<2xf32>
  %m = ge.constant value dense<3> : tensor<i64> {ge.name = "m"} : tensor<i64>
  %none = ge.absent
  %r, %s = ge.op "Loop" (%m, %none, %v, %w) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<2xf32>, tensor<3x2xf32>
  ge.net_output (%r, %s) {ge.name = "out"}
}
ge.graph @body {
  %i = ge.data {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %go = ge.data {ge.name = "go", ge.formal = "condition"} : tensor<i1>
  %v = ge.data {ge.name = "v", ge.parent_node_index = 2 : i64} : tensor<2xf32>
  %w = ge.data {ge.name = "w", ge.parent_node_index = 3 : i64, ge.formal = "captured"} : tensor<2xf32>
  %n = ge.op "Add" (%v, %w) {ge.name = "n"} : tensor<2xf32>
  ge.net_output (%go, %n, %n) {ge.name = "out"}
}

// -----

// Tests a Scan that reads from the back along axis 1 and joins from the front along axis 1.
// CHECK-LABEL: ge.graph @scan
// CHECK: %[[X:.*]] = ge.label_set (%{{.*}}, %{{.*}}, %x) label_index 0
// CHECK: %[[AT:.*]] = ge.op "Sub" (%{{.*}}, %[[N:.*]]) {{.*}} : tensor<i64>
// CHECK-NEXT: %[[PART:.*]] = ge.op "GatherV2" (%{{.*}}, %[[AT]], %{{.*}}) {{.*}} : tensor<2xf32>
// CHECK-NEXT: %[[Y:.*]] = ge.op "Relu" (%[[PART]])
// CHECK-NEXT: ge.op "ScatterUpdate" (%{{.*}}, %[[N]], %[[Y]]) {{.*}} : tensor<5x2xf32>
// CHECK: %[[ALL:.*]], %{{.*}} = ge.label_set (%{{.*}}) label_index 2
// CHECK-NEXT: %s = ge.op "TransposeD" (%[[ALL]]) attrs {perm = array<i64: 1, 0>} {{.*}} : tensor<2x5xf32>
ge.graph @scan {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x5xf32>
  %s = ge.op "Scan" (%x) source "ai.onnx::Scan@16" attrs {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: -1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: 1>} subgraphs [@body] {ge.name = "scan"} : tensor<2x5xf32>
  ge.net_output (%s) {ge.name = "out"}
}
ge.graph @body {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<2xf32>
  %y = ge.op "Relu" (%x) {ge.name = "y"} : tensor<2xf32>
  ge.net_output (%y) {ge.name = "out"}
}

// -----

// Tests that labels that are there already keep their numbers, and that calls are spliced in.
// CHECK-LABEL: ge.graph @call
// CHECK: ge.label_set label_index 4
// CHECK: ge.label_switch (%{{.*}}) label_list [6, 5]
// CHECK: ge.label_set label_index 5
ge.graph @call {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  ge.label_set label_index 4 {ge.name = "l"}
  %r = ge.op "PartitionedCall" (%c) subgraphs [@f] {ge.name = "call"} : tensor<i1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @f {
  %c = ge.data {ge.name = "c", ge.parent_node_index = 0 : i64} : tensor<i1>
  %r = ge.op "If" (%c) subgraphs [@then, @else] {ge.name = "if"} : tensor<i1>
  ge.net_output (%r) {ge.name = "out"}
}
ge.graph @then {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  ge.net_output (%x) {ge.name = "out"}
}
ge.graph @else {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 0 : i64} : tensor<i1>
  %a = ge.op "LogicalNot" (%x) {ge.name = "a"} : tensor<i1>
  ge.net_output (%a) {ge.name = "out"}
}
