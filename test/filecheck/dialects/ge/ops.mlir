// RUN: ge-opt %s --semantics=off --split-input-file --verify-roundtrip | filecheck %s
// RUN: ge-opt %s --semantics=off --split-input-file --print-op-generic | ge-opt --semantics=off --split-input-file | filecheck %s
// RUN: ge-opt %s --semantics=off --split-input-file --print-op-generic | filecheck %s --check-prefix=GENERIC

// Tests that a graph with data, control and absent edges keeps its form.

// CHECK-LABEL: ge.graph @main {
// GENERIC: "ge.graph"() <{sym_name = "main"}> ({
ge.graph @main {
  // CHECK-NEXT: %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  // GENERIC-NEXT: %x = "ge.data"() <{index = 0 : i64}> {ge.name = "x"} : () -> tensor<2x64xf16>
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  // CHECK-NEXT: %none = ge.absent
  // GENERIC-NEXT: %none = "ge.absent"() : () -> none
  %none = ge.absent
  // CHECK-NEXT: %a = ge.op "Clip" (%x, %none, %none) source "ai.onnx::Clip@13" {ge.name = "a"} : tensor<2x64xf16>
  // GENERIC-NEXT: %a = "ge.op"(%x, %none, %none) <{type = "Clip", source = "ai.onnx::Clip@13"}> {ge.name = "a"} : (tensor<2x64xf16>, none, none) -> tensor<2x64xf16>
  %a = ge.op "Clip"(%x, %none, %none) source "ai.onnx::Clip@13" {ge.name = "a"} : tensor<2x64xf16>
  // CHECK-NEXT: %b, %ctl = ge.op "HcomAllReduce" (%x) attrs {reduction = "sum", group = "world"} {ge.name = "b"} : tensor<2x64xf16>, !ge.control
  %b, %ctl = ge.op "HcomAllReduce" (%x) attrs {reduction = "sum", group = "world"} {ge.name = "b"} : tensor<2x64xf16>, !ge.control
  // CHECK-NEXT: ge.send (%ctl) event_id 0 {ge.name = "s"}
  // GENERIC: "ge.send"(%ctl) <{event_id = 0 : i64}> {ge.name = "s"} : (!ge.control) -> ()
  ge.send (%ctl) event_id 0 {ge.name = "s"}
  // CHECK-NEXT: %r = ge.recv event_id 0 {ge.name = "r"} : !ge.control
  %r = ge.recv event_id 0 {ge.name = "r"} : !ge.control
  // CHECK-NEXT: %c = ge.concat (%a, %b, %r) concat_dim 0 N 2 {ge.name = "c", ge.no_task} : tensor<4x64xf16>
  %c = ge.concat (%a, %b, %r) concat_dim 0 N 2 {ge.name = "c", ge.no_task} : tensor<4x64xf16>
  // CHECK-NEXT: ge.net_output (%c) {ge.name = "out"}
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests that every dedicated node has a form of its own, and that any arity will do.

// CHECK-LABEL: ge.graph @nodes
ge.graph @nodes {
  // CHECK-NEXT: ge.data "RefData" index 1 : tensor<4xf32>
  %x = ge.data "RefData" index 1 : tensor<4xf32>
  // CHECK-NEXT: ge.constant value dense<[1, 2]> : tensor<2xi64>
  %k = ge.constant value dense<[1, 2]> : tensor<2xi64> : tensor<2xi64>
  // CHECK-NEXT: ge.variable : tensor<4xf32>
  %v = ge.variable : tensor<4xf32>
  // CHECK-NEXT: ge.pack (%x, %v) axis -1 N 2 : tensor<4x2xf32>
  %p = ge.pack (%x, %v) axis -1 N 2 : tensor<4x2xf32>
  // CHECK-NEXT: %s, %s_1 = ge.split "SplitVD" (%x) split_dim 0 num_split 2 size_splits [1, 3] : tensor<1xf32>, tensor<3xf32>
  %s:2 = ge.split "SplitVD" (%x) split_dim 0 num_split 2 size_splits [1, 3] : tensor<1xf32>, tensor<3xf32>
  // CHECK-NEXT: ge.concat "PhonyConcat" (%s, %s_1) concat_dim [0]
  ge.concat "PhonyConcat" (%s, %s#1) concat_dim [0]
  // CHECK-NEXT: ge.send_notify notify_id 3
  ge.send_notify notify_id 3
  // CHECK-NEXT: ge.recv_notify notify_id 3
  ge.recv_notify notify_id 3
  // CHECK-NEXT: ge.stream_active active_stream_list [1, 2]
  ge.stream_active active_stream_list [1, 2]
  // CHECK-NEXT: ge.stream_switch (%x, %v) active_stream_list [1] switch_condition 4 switch_data_type 1
  ge.stream_switch (%x, %v) active_stream_list [1] switch_condition 4 switch_data_type 1
  // CHECK-NEXT: ge.label_set label_index 7
  ge.label_set label_index 7
  // CHECK-NEXT: ge.label_goto label_index 7
  ge.label_goto label_index 7
  // CHECK-NEXT: ge.label_switch (%k) label_list [7, 8]
  ge.label_switch (%k) label_list [7, 8]
  // CHECK-NEXT: ge.op "Relu" : tensor<1xf32>
  %noinput = ge.op "Relu" : tensor<1xf32>
  // CHECK-NEXT: %t = ge.token %v : tensor<4xf32>
  %t = ge.token %v : tensor<4xf32>
  // CHECK-NEXT: %g = ge.gate %v (%t) : tensor<4xf32>
  %g = ge.gate %v (%t) : tensor<4xf32>
}

// -----

// Tests that sub-graphs are named by their owner, and that a missing one is legal.

// CHECK-LABEL: ge.graph @root attributes {ge.unknown_shape} {
ge.graph @root attributes {ge.unknown_shape} {
  %c = ge.data index 0 : tensor<i1>
  // CHECK: ge.op "If" (%c) subgraphs [@then, @elsewhere] {ge.name = "if"} : tensor<*xf32>
  %y = ge.op "If" (%c) subgraphs [@then, @elsewhere] {ge.name = "if"} : tensor<*xf32>
}
// CHECK: ge.graph @then {
// CHECK-NEXT: }
ge.graph @then {
}

// -----

// Tests that a name that is not ASCII survives, as do strings with such elements.

// CHECK-LABEL: ge.graph @names
ge.graph @names {
  // CHECK-NEXT: {ge.name = "\E5\B7\AB/conv"}
  %x = ge.data index 0 {ge.name = "\E5\B7\AB/conv"} : tensor<1xf32>
  // CHECK-NEXT: #ge.strings<["a", "\C3\A4"] : tensor<2x!ge.string>>
  %s = ge.constant value #ge.strings<["a", "\C3\A4"] : tensor<2x!ge.string>> : tensor<2x!ge.string>
}
