// RUN: ge-opt %s -p convert-ge-to-ge-task --split-input-file --verify-diagnostics | filecheck %s

// What looks at shapes only copies nothing; a view is where its input is; a constant is loaded where it is needed; one wait and one copy serve both readers.
// CHECK-LABEL: ge_task.host @placement streams 1 events 0 {
// CHECK-NEXT:  %x = ge_task.input 0 name "x" : any tensor<?x4xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.const dense<2.000000e+00> : tensor<4xf32> : device tensor<4xf32>
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.const dense<2.000000e+00> : tensor<4xf32> : host tensor<4xf32>
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.infer_shape "Mul"([[V2]], [[V0]]) -> (!ge_task.shape<2>) op 2 engine "AIcoreEngine" {ge.name = "y"}
// CHECK-NEXT:  [[V4:%[0-9]+]] = ge_task.tiling "Mul"([[V2]], [[V0]]) outs ([[V3]]) -> (!ge_task.tiling) op 2 engine "AIcoreEngine" may_be_empty {ge.name = "y"}
// CHECK-NEXT:  %y = ge_task.alloc([[V3]]) stream 0 : device tensor<?x4xf32>
// CHECK-NEXT:  ge_task.launch "Mul"([[V2]], [[V0]]) outs (%y) tiling [[V4]] stream 0 op 2 engine "AIcoreEngine" may_be_empty {ge.name = "y"}
// CHECK-NEXT:  ge_task.free([[V2]]) stream 0
// CHECK-NEXT:  %s = ge_task.alloc() : host tensor<2xi64>
// CHECK-NEXT:  ge_task.host_call "Shape"(%y) outs (%s) op 3 engine "DNN_VM_GE_LOCAL" attrs {dtype = 9 : i64} {ge.name = "s"}
// CHECK-NEXT:  %m = ge_task.alloc() : host tensor<2xi64>
// CHECK-NEXT:  ge_task.host_call "Add"(%s, %s) outs (%m) op 4 engine "DNN_VM_HOST_CPU" {ge.name = "m"}
// CHECK-NEXT:  [[V5:%[0-9]+]] = ge_task.infer_shape "Reshape"(%y, %s) -> (!ge_task.shape<2>) op 5 engine "DNN_VM_GE_LOCAL" {ge.name = "r"}
// CHECK-NEXT:  ge_task.free(%s)
// CHECK-NEXT:  %r = ge_task.view(%y, [[V5]]) {ge.name = "r"} : device tensor<?x?xf32>
// CHECK-NEXT:  ge_task.sync stream 0
// CHECK-NEXT:  [[V6:%[0-9]+]] = ge_task.d2h(%r) stream 0
// CHECK-NEXT:  ge_task.free(%r) stream 0
// CHECK-NEXT:  [[V7:%[0-9]+]] = ge_task.infer_shape "Mul"([[V6]], [[V1]]) -> (!ge_task.shape<2>) op 7 engine "DNN_VM_HOST_CPU" {ge.name = "h"}
// CHECK-NEXT:  %h = ge_task.alloc([[V7]]) : host tensor<?x?xf32>
// CHECK-NEXT:  ge_task.host_call "Mul"([[V6]], [[V1]]) outs (%h) op 7 engine "DNN_VM_HOST_CPU" {ge.name = "h"}
// CHECK-NEXT:  [[V8:%[0-9]+]] = ge_task.infer_shape "Mul"([[V6]], %h) -> (!ge_task.shape<2>) op 8 engine "DNN_VM_HOST_CPU" {ge.name = "g"}
// CHECK-NEXT:  %g = ge_task.alloc([[V8]]) : host tensor<?x?xf32>
// CHECK-NEXT:  ge_task.host_call "Mul"([[V6]], %h) outs (%g) op 8 engine "DNN_VM_HOST_CPU" {ge.name = "g"}
// CHECK-NEXT:  ge_task.free([[V6]])
// CHECK-NEXT:  ge_task.free(%h)
// CHECK-NEXT:  ge_task.output 0(%g) name "g"
// CHECK-NEXT:  ge_task.output 1(%m) name "m"
// CHECK-NEXT:  ge_task.output 2(%y) name "y"
// CHECK-NEXT:  }
ge.graph @placement {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x4xf32>
  %w = ge.constant value dense<2.0> : tensor<4xf32> {ge.name = "w"} : tensor<4xf32>
  %y = ge.op "Mul" (%x, %w) {ge.name = "y", ge.engine = "AIcoreEngine", ge.stream = 0} : tensor<?x4xf32>
  %s = ge.op "Shape" (%y) attrs {dtype = 9} {ge.name = "s", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<2xi64>
  %m = ge.op "Add" (%s, %s) {ge.name = "m", ge.engine = "DNN_VM_HOST_CPU"} : tensor<2xi64>
  %r = ge.op "Reshape" (%y, %s) {ge.name = "r", ge.engine = "DNN_VM_GE_LOCAL"} : tensor<?x?xf32>
  %i = ge.op "Identity" (%r) {ge.name = "i", ge.engine = "DNN_VM_RTS"} : tensor<?x?xf32>
  %h = ge.op "Mul" (%i, %w) {ge.name = "h", ge.engine = "DNN_VM_HOST_CPU"} : tensor<?x?xf32>
  %g = ge.op "Mul" (%i, %h) {ge.name = "g", ge.engine = "DNN_VM_HOST_CPU"} : tensor<?x?xf32>
  ge.net_output (%g, %m, %y) {ge.name = "out", ge.output_names = ["g", "m", "y"]}
}

// -----

// An If whose branches give different shapes; only the branch that reads the input brings it to the device.
// CHECK-LABEL: ge_task.host @if streams 1 events 0 {
// CHECK-NEXT:  %c = ge_task.input 0 name "c" : any tensor<i1>
// CHECK-NEXT:  %x = ge_task.input 1 name "x" : any tensor<2xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.const dense<1.000000e+00> : tensor<3xf32> : device tensor<3xf32>
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.ensure_host(%c)
// CHECK-NEXT:  %r = ge_task.if [[V1]] -> (device tensor<?xf32>) attributes {ge.name = "choose"} {
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  %t = ge_task.alloc() stream 0 : device tensor<2xf32>
// CHECK-NEXT:  ge_task.launch "Neg"([[V2]]) outs (%t) stream 0 op 4 engine "AIcoreEngine" {ge.name = "t"}
// CHECK-NEXT:  ge_task.free([[V2]]) stream 0
// CHECK-NEXT:  ge_task.yield(%t)
// CHECK-NEXT:  } else {
// CHECK-NEXT:  ge_task.yield([[V0]])
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_task.free([[V1]])
// CHECK-NEXT:  ge_task.output 0(%r) name "r"
// CHECK-NEXT:  }
ge.graph @if {
  %c = ge.data index 0 {ge.name = "c"} : tensor<i1>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %r = ge.op "If" (%c, %x) subgraphs [@then, @else] {ge.name = "choose"} : tensor<*xf32>
  ge.net_output (%r) {ge.name = "out", ge.output_names = ["r"]}
}
ge.graph @then {
  %x = ge.data index 0 {ge.name = "x", ge.parent_node_index = 1} : tensor<2xf32>
  %t = ge.op "Neg" (%x) {ge.name = "t", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%t) {ge.name = "then_out"}
}
ge.graph @else {
  %w = ge.constant value dense<1.0> : tensor<3xf32> {ge.name = "w"} : tensor<3xf32>
  ge.net_output (%w) {ge.name = "else_out"}
}

// -----

// A Loop: counter and condition on the host, what the body uses from outside is brought to the device once, in front.
// CHECK-LABEL: ge_task.host @loop streams 1 events 0 {
// CHECK-NEXT:  %m = ge_task.input 0 name "m" : any tensor<i64>
// CHECK-NEXT:  %v0 = ge_task.input 1 name "v0" : any tensor<2xf32>
// CHECK-NEXT:  %x = ge_task.input 2 name "x" : any tensor<2xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.absent
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.const dense<true> : tensor<i1> : host tensor<i1>
// CHECK-NEXT:  [[V4:%[0-9]+]] = ge_task.list_new : !ge_task.list<tensor<2xf32>>
// CHECK-NEXT:  [[V5:%[0-9]+]] = ge_task.ensure_host(%m)
// CHECK-NEXT:  [[V6:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  [[V7:%[0-9]+]] = ge_task.ensure_device(%v0)
// CHECK-NEXT:  [[V8:%[0-9]+]], [[V9:%[0-9]+]], %v = ge_task.while([[V2]], [[V3]], [[V7]]) -> (host tensor<i64>, host tensor<i1>, device tensor<2xf32>) attributes {ge.name = "loop"} cond ([[V10:%[0-9]+]], [[V11:%[0-9]+]], [[V12:%[0-9]+]]) {
// CHECK-NEXT:  ge_task.free([[V12]]) stream 0
// CHECK-NEXT:  [[V13:%[0-9]+]] = ge_task.alloc() : host tensor<i1>
// CHECK-NEXT:  ge_task.host_call "Less"([[V10]], [[V5]]) outs ([[V13]]) {ge.name = "loop"}
// CHECK-NEXT:  ge_task.free([[V10]])
// CHECK-NEXT:  [[V14:%[0-9]+]] = ge_task.alloc() : host tensor<i1>
// CHECK-NEXT:  ge_task.host_call "LogicalAnd"([[V11]], [[V13]]) outs ([[V14]]) {ge.name = "loop"}
// CHECK-NEXT:  ge_task.free([[V11]])
// CHECK-NEXT:  ge_task.free([[V13]])
// CHECK-NEXT:  ge_task.yield([[V14]])
// CHECK-NEXT:  } body ([[V15:%[0-9]+]], [[V16:%[0-9]+]], [[V17:%[0-9]+]]) {
// CHECK-NEXT:  %n = ge_task.alloc() stream 0 : device tensor<2xf32>
// CHECK-NEXT:  ge_task.launch "Add"([[V17]], [[V6]]) outs (%n) stream 0 op 8 engine "AIcoreEngine" {ge.name = "n"}
// CHECK-NEXT:  ge_task.list_append([[V4]], [[V17]])
// CHECK-NEXT:  ge_task.free([[V17]]) stream 0
// CHECK-NEXT:  [[V18:%[0-9]+]] = ge_task.alloc() : host tensor<i64>
// CHECK-NEXT:  ge_task.host_call "Add"([[V15]], [[V1]]) outs ([[V18]]) {ge.name = "loop"}
// CHECK-NEXT:  ge_task.free([[V15]])
// CHECK-NEXT:  ge_task.yield([[V18]], [[V16]], %n)
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_task.free([[V5]])
// CHECK-NEXT:  ge_task.free([[V6]]) stream 0
// CHECK-NEXT:  ge_task.free([[V7]]) stream 0
// CHECK-NEXT:  ge_task.free([[V8]])
// CHECK-NEXT:  ge_task.free([[V9]])
// CHECK-NEXT:  %rows = ge_task.list_stack([[V4]]) axis 0 : device tensor<?x2xf32>
// CHECK-NEXT:  ge_task.output 0(%v) name "v"
// CHECK-NEXT:  ge_task.output 1(%rows) name "rows"
// CHECK-NEXT:  }
ge.graph @loop {
  %m = ge.data index 0 {ge.name = "m"} : tensor<i64>
  %v0 = ge.data index 1 {ge.name = "v0"} : tensor<2xf32>
  %x = ge.data index 2 {ge.name = "x"} : tensor<2xf32>
  %no = ge.absent
  %v, %rows = ge.op "Loop" (%m, %no, %v0, %x) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "loop"} : tensor<2xf32>, tensor<?x2xf32>
  ge.net_output (%v, %rows) {ge.name = "out", ge.output_names = ["v", "rows"]}
}
ge.graph @body {
  %i = ge.data index 0 {ge.name = "i", ge.formal = "iteration"} : tensor<i64>
  %c = ge.data index 1 {ge.name = "c", ge.formal = "condition"} : tensor<i1>
  %v = ge.data index 2 {ge.name = "v", ge.parent_node_index = 2} : tensor<2xf32>
  %x = ge.data index 3 {ge.name = "x", ge.parent_node_index = 3, ge.formal = "captured"} : tensor<2xf32>
  %n = ge.op "Add" (%v, %x) {ge.name = "n", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%c, %n, %v) {ge.name = "body_out"}
}

// -----

// A Scan that reads its input backwards along axis 1 and puts its output together backwards along the last axis.
// CHECK-LABEL: ge_task.host @scan streams 1 events 0 {
// CHECK-NEXT:  %s0 = ge_task.input 0 name "s0" : any tensor<2xf32>
// CHECK-NEXT:  %xs = ge_task.input 1 name "xs" : any tensor<2x?xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.const dense<1> : tensor<i64> : device tensor<i64>
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.alloc() : host tensor<1xi64>
// CHECK-NEXT:  ge_task.host_call "Shape"(%xs) outs ([[V3]]) attrs {dtype = 9 : i64, start = 1 : i64, end = 2 : i64} {ge.name = "scan"}
// CHECK-NEXT:  [[V4:%[0-9]+]] = ge_task.alloc() : host tensor<i64>
// CHECK-NEXT:  ge_task.host_call "Squeeze"([[V3]]) outs ([[V4]]) attrs {axis = array<i64: 0>} {ge.name = "scan"}
// CHECK-NEXT:  ge_task.free([[V3]])
// CHECK-NEXT:  [[V5:%[0-9]+]] = ge_task.list_new : !ge_task.list<tensor<2xf32>>
// CHECK-NEXT:  [[V6:%[0-9]+]] = ge_task.alloc() : host tensor<i64>
// CHECK-NEXT:  ge_task.host_call "Sub"([[V4]], [[V0]]) outs ([[V6]]) {ge.name = "scan"}
// CHECK-NEXT:  [[V7:%[0-9]+]] = ge_task.ensure_device(%xs)
// CHECK-NEXT:  [[V8:%[0-9]+]] = ge_task.ensure_device(%s0)
// CHECK-NEXT:  [[V9:%[0-9]+]], %s = ge_task.while([[V2]], [[V8]]) -> (host tensor<i64>, device tensor<2xf32>) attributes {ge.name = "scan"} cond ([[V10:%[0-9]+]], [[V11:%[0-9]+]]) {
// CHECK-NEXT:  ge_task.free([[V11]]) stream 0
// CHECK-NEXT:  [[V12:%[0-9]+]] = ge_task.alloc() : host tensor<i1>
// CHECK-NEXT:  ge_task.host_call "Less"([[V10]], [[V4]]) outs ([[V12]]) {ge.name = "scan"}
// CHECK-NEXT:  ge_task.free([[V10]])
// CHECK-NEXT:  ge_task.yield([[V12]])
// CHECK-NEXT:  } body ([[V13:%[0-9]+]], [[V14:%[0-9]+]]) {
// CHECK-NEXT:  [[V15:%[0-9]+]] = ge_task.alloc() : host tensor<i64>
// CHECK-NEXT:  ge_task.host_call "Sub"([[V6]], [[V13]]) outs ([[V15]]) {ge.name = "scan"}
// CHECK-NEXT:  [[V16:%[0-9]+]] = ge_task.h2d([[V15]]) stream 0
// CHECK-NEXT:  ge_task.free([[V15]])
// CHECK-NEXT:  [[V17:%[0-9]+]] = ge_task.infer_shape "GatherV2"([[V7]], [[V16]], [[V0]]) -> (!ge_task.shape<1>) {ge.name = "scan"}
// CHECK-NEXT:  [[V18:%[0-9]+]] = ge_task.tiling "GatherV2"([[V7]], [[V16]], [[V0]]) outs ([[V17]]) -> (!ge_task.tiling) {ge.name = "scan"}
// CHECK-NEXT:  [[V19:%[0-9]+]] = ge_task.alloc([[V17]]) stream 0 : device tensor<2xf32>
// CHECK-NEXT:  ge_task.launch "GatherV2"([[V7]], [[V16]], [[V1]]) outs ([[V19]]) tiling [[V18]] stream 0 {ge.name = "scan"}
// CHECK-NEXT:  ge_task.free([[V16]]) stream 0
// CHECK-NEXT:  %n = ge_task.alloc() stream 0 : device tensor<2xf32>
// CHECK-NEXT:  ge_task.launch "Add"([[V14]], [[V19]]) outs (%n) stream 0 op 5 engine "AIcoreEngine" {ge.name = "n"}
// CHECK-NEXT:  ge_task.free([[V14]]) stream 0
// CHECK-NEXT:  ge_task.list_append([[V5]], [[V19]])
// CHECK-NEXT:  ge_task.free([[V19]]) stream 0
// CHECK-NEXT:  [[V20:%[0-9]+]] = ge_task.alloc() : host tensor<i64>
// CHECK-NEXT:  ge_task.host_call "Add"([[V13]], [[V0]]) outs ([[V20]]) {ge.name = "scan"}
// CHECK-NEXT:  ge_task.free([[V13]])
// CHECK-NEXT:  ge_task.yield([[V20]], %n)
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_task.free([[V4]])
// CHECK-NEXT:  ge_task.free([[V6]])
// CHECK-NEXT:  ge_task.free([[V7]]) stream 0
// CHECK-NEXT:  ge_task.free([[V8]]) stream 0
// CHECK-NEXT:  ge_task.free([[V9]])
// CHECK-NEXT:  %ys = ge_task.list_stack([[V5]]) axis 1 reverse : device tensor<2x?xf32>
// CHECK-NEXT:  ge_task.output 0(%s) name "s"
// CHECK-NEXT:  ge_task.output 1(%ys) name "ys"
// CHECK-NEXT:  }
ge.graph @scan {
  %s0 = ge.data index 0 {ge.name = "s0"} : tensor<2xf32>
  %xs = ge.data index 1 {ge.name = "xs"} : tensor<2x?xf32>
  %s, %ys = ge.op "Scan" (%s0, %xs) source "ai.onnx::Scan@16" attrs {num_scan_inputs = 1, scan_input_axes = array<i64: 1>, scan_input_directions = array<i64: 1>, scan_output_axes = array<i64: -1>, scan_output_directions = array<i64: 1>} subgraphs [@body] {ge.name = "scan"} : tensor<2xf32>, tensor<2x?xf32>
  ge.net_output (%s, %ys) {ge.name = "out", ge.output_names = ["s", "ys"]}
}
ge.graph @body {
  %s = ge.data index 0 {ge.name = "s", ge.parent_node_index = 0} : tensor<2xf32>
  %x = ge.data index 1 {ge.name = "x", ge.parent_node_index = 1} : tensor<2xf32>
  %n = ge.op "Add" (%s, %x) {ge.name = "n", ge.engine = "AIcoreEngine"} : tensor<2xf32>
  ge.net_output (%n, %x) {ge.name = "body_out"}
}

// -----

// GE's own control flow. The condition of a While is carried on the device, so every turn waits for it.
// CHECK-LABEL: ge_task.host @ge_control_flow streams 1 events 0 {
// CHECK-NEXT:  %k = ge_task.input 0 name "k" : any tensor<i32>
// CHECK-NEXT:  %x = ge_task.input 1 name "x" : any tensor<?xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.const dense<1> : tensor<i32> : device tensor<i32>
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.ensure_host(%k)
// CHECK-NEXT:  %a = ge_task.case [[V1]] -> (device tensor<?xf32>) attributes {ge.name = "case"} {
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.infer_shape "Neg"([[V2]]) -> (!ge_task.shape<1>) op 4 {ge.name = "neg"}
// CHECK-NEXT:  [[V4:%[0-9]+]] = ge_task.tiling "Neg"([[V2]]) outs ([[V3]]) -> (!ge_task.tiling) op 4 may_be_empty {ge.name = "neg"}
// CHECK-NEXT:  %y = ge_task.alloc([[V3]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Neg"([[V2]]) outs (%y) tiling [[V4]] stream 0 op 4 may_be_empty {ge.name = "neg"}
// CHECK-NEXT:  ge_task.free([[V2]]) stream 0
// CHECK-NEXT:  ge_task.yield(%y)
// CHECK-NEXT:  } {
// CHECK-NEXT:  [[V5:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  [[V6:%[0-9]+]] = ge_task.infer_shape "Abs"([[V5]]) -> (!ge_task.shape<1>) op 7 {ge.name = "abs"}
// CHECK-NEXT:  [[V7:%[0-9]+]] = ge_task.tiling "Abs"([[V5]]) outs ([[V6]]) -> (!ge_task.tiling) op 7 may_be_empty {ge.name = "abs"}
// CHECK-NEXT:  %y_1 = ge_task.alloc([[V6]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Abs"([[V5]]) outs (%y_1) tiling [[V7]] stream 0 op 7 may_be_empty {ge.name = "abs"}
// CHECK-NEXT:  ge_task.free([[V5]]) stream 0
// CHECK-NEXT:  ge_task.yield(%y_1)
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_task.free([[V1]])
// CHECK-NEXT:  [[V8:%[0-9]+]] = ge_task.infer_shape "Relu"(%a) -> (!ge_task.shape<1>) op 11 {ge.name = "relu"}
// CHECK-NEXT:  [[V9:%[0-9]+]] = ge_task.tiling "Relu"(%a) outs ([[V8]]) -> (!ge_task.tiling) op 11 may_be_empty {ge.name = "relu"}
// CHECK-NEXT:  %y_2 = ge_task.alloc([[V8]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Relu"(%a) outs (%y_2) tiling [[V9]] stream 0 op 11 may_be_empty {ge.name = "relu"}
// CHECK-NEXT:  ge_task.free(%a) stream 0
// CHECK-NEXT:  [[V10:%[0-9]+]] = ge_task.ensure_device(%k)
// CHECK-NEXT:  [[V11:%[0-9]+]], [[V12:%[0-9]+]] = ge_task.while([[V10]], %y_2) -> (device tensor<i32>, device tensor<?xf32>) attributes {ge.name = "while"} cond ([[V13:%[0-9]+]], [[V14:%[0-9]+]]) {
// CHECK-NEXT:  ge_task.free([[V14]]) stream 0
// CHECK-NEXT:  ge_task.sync stream 0
// CHECK-NEXT:  [[V15:%[0-9]+]] = ge_task.d2h([[V13]]) stream 0
// CHECK-NEXT:  ge_task.free([[V13]]) stream 0
// CHECK-NEXT:  ge_task.yield([[V15]])
// CHECK-NEXT:  } body ([[V16:%[0-9]+]], [[V17:%[0-9]+]]) {
// CHECK-NEXT:  %less = ge_task.alloc() stream 0 : device tensor<i32>
// CHECK-NEXT:  ge_task.launch "Sub"([[V16]], [[V0]]) outs (%less) stream 0 op 19 {ge.name = "less"}
// CHECK-NEXT:  ge_task.free([[V16]]) stream 0
// CHECK-NEXT:  [[V18:%[0-9]+]] = ge_task.infer_shape "Neg"([[V17]]) -> (!ge_task.shape<1>) op 20 {ge.name = "y"}
// CHECK-NEXT:  [[V19:%[0-9]+]] = ge_task.tiling "Neg"([[V17]]) outs ([[V18]]) -> (!ge_task.tiling) op 20 may_be_empty {ge.name = "y"}
// CHECK-NEXT:  %y_3 = ge_task.alloc([[V18]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Neg"([[V17]]) outs (%y_3) tiling [[V19]] stream 0 op 20 may_be_empty {ge.name = "y"}
// CHECK-NEXT:  ge_task.free([[V17]]) stream 0
// CHECK-NEXT:  ge_task.yield(%less, %y_3)
// CHECK-NEXT:  }
// CHECK-NEXT:  ge_task.free(%y_2) stream 0
// CHECK-NEXT:  ge_task.free([[V10]]) stream 0
// CHECK-NEXT:  ge_task.free([[V11]]) stream 0
// CHECK-NEXT:  ge_task.output 0([[V12]]) name "c"
// CHECK-NEXT:  }
ge.graph @ge_control_flow {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<?xf32>
  %a = ge.op "Case" (%k, %x) subgraphs [@neg, @abs] {ge.name = "case"} : tensor<?xf32>
  %b = ge.op "PartitionedCall" (%a) subgraphs [@called] {ge.name = "call"} : tensor<?xf32>
  %n, %c = ge.op "While" (%k, %b) subgraphs [@cond, @body] {ge.name = "while"} : tensor<i32>, tensor<?xf32>
  ge.net_output (%c) {ge.name = "out", ge.output_names = ["c"]}
}
ge.graph @neg {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1} : tensor<?xf32>
  %y = ge.op "Neg" (%x) {ge.name = "neg"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "neg_out"}
}
ge.graph @abs {
  %x = ge.data {ge.name = "x", ge.parent_node_index = 1} : tensor<?xf32>
  %y = ge.op "Abs" (%x) {ge.name = "abs"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "abs_out"}
}
ge.graph @called {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  %y = ge.op "Relu" (%x) {ge.name = "relu"} : tensor<?xf32>
  ge.net_output (%y) {ge.name = "called_out"}
}
ge.graph @cond {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  ge.net_output (%k) {ge.name = "cond_out"}
}
ge.graph @body {
  %k = ge.data index 0 {ge.name = "k"} : tensor<i32>
  %x = ge.data index 1 {ge.name = "x"} : tensor<?xf32>
  %one = ge.constant value dense<1> : tensor<i32> {ge.name = "one"} : tensor<i32>
  %less = ge.op "Sub" (%k, %one) {ge.name = "less"} : tensor<i32>
  %y = ge.op "Neg" (%x) {ge.name = "y"} : tensor<?xf32>
  ge.net_output (%less, %y) {ge.name = "body_out"}
}

// -----

// Texts stay on the host, and so does what works on sequences; a tensor goes into a sequence from the host.
// CHECK-LABEL: ge_task.host @host_only streams 1 events 0 {
// CHECK-NEXT:  %t = ge_task.input 0 name "t" : host tensor<?x!ge.string>
// CHECK-NEXT:  %x = ge_task.input 1 name "x" : any tensor<?xf32>
// CHECK-NEXT:  %u = ge_task.host_call "StringNormalizer"(%t) -> (host tensor<?x!ge.string>) op 2 source "ai.onnx::StringNormalizer@10" {ge.name = "u"}
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.infer_shape "Neg"([[V0]]) -> (!ge_task.shape<1>) op 3 {ge.name = "y"}
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.tiling "Neg"([[V0]]) outs ([[V1]]) -> (!ge_task.tiling) op 3 may_be_empty {ge.name = "y"}
// CHECK-NEXT:  %y = ge_task.alloc([[V1]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Neg"([[V0]]) outs (%y) tiling [[V2]] stream 0 op 3 may_be_empty {ge.name = "y"}
// CHECK-NEXT:  ge_task.free([[V0]]) stream 0
// CHECK-NEXT:  ge_task.sync stream 0
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.d2h(%y) stream 0
// CHECK-NEXT:  ge_task.free(%y) stream 0
// CHECK-NEXT:  %q = ge_task.host_call "SequenceConstruct"([[V3]]) -> (!ge_task.object<!ge.sequence<tensor<*xf32>>>) op 4 source "ai.onnx::SequenceConstruct@11" {ge.name = "q"}
// CHECK-NEXT:  ge_task.free([[V3]])
// CHECK-NEXT:  ge_task.output 0(%u) name "u"
// CHECK-NEXT:  ge_task.output 1(%q) name "q"
// CHECK-NEXT:  }
ge.graph @host_only {
  %t = ge.data index 0 {ge.name = "t"} : tensor<?x!ge.string>
  %x = ge.data index 1 {ge.name = "x"} : tensor<?xf32>
  %u = ge.op "StringNormalizer" (%t) source "ai.onnx::StringNormalizer@10" {ge.name = "u"} : tensor<?x!ge.string>
  %y = ge.op "Neg" (%x) {ge.name = "y"} : tensor<?xf32>
  %q = ge.op "SequenceConstruct" (%y) source "ai.onnx::SequenceConstruct@11" {ge.name = "q"} : !ge.sequence<tensor<?xf32>>
  ge.net_output (%u, %q) {ge.name = "out", ge.output_names = ["u", "q"]}
}

// -----

// The nodes of several streams: what the event attributes say becomes steps, Send and Recv nodes make none.
// CHECK-LABEL: ge_task.host @streams streams 2 events 1 {
// CHECK-NEXT:  %x = ge_task.input 0 name "x" : any tensor<?xf32>
// CHECK-NEXT:  [[V0:%[0-9]+]] = ge_task.ensure_device(%x)
// CHECK-NEXT:  ge_task.record 0 stream 0
// CHECK-NEXT:  ge_task.wait 0 stream 1
// CHECK-NEXT:  [[V1:%[0-9]+]] = ge_task.infer_shape "Neg"([[V0]]) -> (!ge_task.shape<1>) op 1 attrs {_send_event_ids = array<i64: 0>} {ge.name = "y"}
// CHECK-NEXT:  [[V2:%[0-9]+]] = ge_task.tiling "Neg"([[V0]]) outs ([[V1]]) -> (!ge_task.tiling) op 1 attrs {_send_event_ids = array<i64: 0>} may_be_empty {ge.name = "y"}
// CHECK-NEXT:  %y = ge_task.alloc([[V1]]) stream 1 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Neg"([[V0]]) outs (%y) tiling [[V2]] stream 1 op 1 attrs {_send_event_ids = array<i64: 0>} may_be_empty {ge.name = "y"}
// CHECK-NEXT:  ge_task.free([[V0]]) stream 0
// CHECK-NEXT:  ge_task.record 0 stream 1
// CHECK-NEXT:  ge_task.wait 0 stream 0
// CHECK-NEXT:  [[V3:%[0-9]+]] = ge_task.infer_shape "Abs"(%y) -> (!ge_task.shape<1>) op 3 attrs {_recv_event_ids = array<i64: 0>} {ge.name = "z"}
// CHECK-NEXT:  [[V4:%[0-9]+]] = ge_task.tiling "Abs"(%y) outs ([[V3]]) -> (!ge_task.tiling) op 3 attrs {_recv_event_ids = array<i64: 0>} may_be_empty {ge.name = "z"}
// CHECK-NEXT:  %z = ge_task.alloc([[V3]]) stream 0 : device tensor<?xf32>
// CHECK-NEXT:  ge_task.launch "Abs"(%y) outs (%z) tiling [[V4]] stream 0 op 3 attrs {_recv_event_ids = array<i64: 0>} may_be_empty {ge.name = "z"}
// CHECK-NEXT:  ge_task.free(%y) stream 1
// CHECK-NEXT:  ge_task.output 0(%z)
// CHECK-NEXT:  }
ge.graph @streams attributes {ge.unknown_shape} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  %y, %c = ge.op "Neg" (%x) attrs {_send_event_ids = array<i64: 0>} {ge.name = "y", ge.stream = 1} : tensor<?xf32>, !ge.control
  ge.send (%c) event_id 0 {ge.name = "send", ge.stream = 1}
  %z = ge.op "Abs" (%y) attrs {_recv_event_ids = array<i64: 0>} {ge.name = "z", ge.stream = 0} : tensor<?xf32>
  ge.net_output (%z) {ge.name = "out"}
}

// -----

ge.graph @refused {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  // expected-error @below {{node "e" of type Enter cannot run in a host-scheduled graph}}
  %e = ge.op "Enter" (%x) {ge.name = "e"} : tensor<?xf32>
  ge.net_output (%e) {ge.name = "out"}
}

// -----

ge.graph @no_body {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?xf32>
  %no = ge.absent
  // expected-error @below {{node "l" of type Loop owns graph @gone, which is not in the module}}
  %v = ge.op "Loop" (%no, %no, %x) source "ai.onnx::Loop@16" subgraphs [@gone] {ge.name = "l"} : tensor<?xf32>
  ge.net_output (%v) {ge.name = "out"}
}

// -----

ge.graph @wrong_count {
  %m = ge.data index 0 {ge.name = "m"} : tensor<i64>
  %x = ge.data index 1 {ge.name = "x"} : tensor<2xf32>
  %no = ge.absent
  // expected-error @below {{node "l" of type Loop carries 1 values and has 2 outputs, its body gives 2}}
  %v, %w = ge.op "Loop" (%m, %no, %x) source "ai.onnx::Loop@16" subgraphs [@body] {ge.name = "l"} : tensor<2xf32>, tensor<2xf32>
  ge.net_output (%v, %w) {ge.name = "out"}
}
ge.graph @body {
  %c = ge.data index 1 {ge.name = "c", ge.formal = "condition"} : tensor<i1>
  %v = ge.data index 2 {ge.name = "v", ge.parent_node_index = 2} : tensor<2xf32>
  ge.net_output (%c, %v) {ge.name = "body_out"}
}
