// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// A model whose known part is one task list.
ge_task.model @cluster0 streams 1 arenas {hbm = 64} {
  %x = ge_task.buffer hbm at 0 size 32 input 0 : tensor<8xf32>
  %y = ge_task.buffer hbm at 32 size 32 output 0 : tensor<8xf32>
  ge_task.kernel "Relu"(%x) -> (%y) stream 0 op 1
  ge_task.end_graph stream 0 op 2
}

// Inputs, constants, self-allocating launches, an embedded task list, outputs.
// CHECK-LABEL: ge_task.host @whole streams 2 events 1 {
// GENERIC-LABEL: "ge_task.host"() <{sym_name = "whole", stream_num = 2 : i64, event_num = 1 : i64}> ({
ge_task.host @whole streams 2 events 1 {
  // CHECK-NEXT: %x = ge_task.input 0 name "x" : any tensor<?x4xf32>
  // GENERIC-NEXT: %x = "ge_task.input"() <{index = 0 : i64, name = "x"}> : () -> !ge_task.tensor<tensor<?x4xf32>, any>
  %x = ge_task.input 0 name "x" : any tensor<?x4xf32>
  // CHECK-NEXT: %w = ge_task.const dense<1.000000e+00> : tensor<4x4xf32> name "w" : device tensor<4x4xf32>
  %w = ge_task.const dense<1.0> : tensor<4x4xf32> name "w" : device tensor<4x4xf32>
  // CHECK-NEXT: %v = ge_task.variable "counter" value dense<0> : tensor<1xi64> {ge.name = "v"} : host tensor<1xi64>
  %v = ge_task.variable "counter" value dense<0> : tensor<1xi64> {ge.name = "v"} : host tensor<1xi64>
  // CHECK-NEXT: %no = ge_task.absent
  %no = ge_task.absent
  // CHECK-NEXT: %d = ge_task.ensure_device(%x)
  // GENERIC: %d = "ge_task.ensure_device"(%x) : (!ge_task.tensor<tensor<?x4xf32>, any>) -> !ge_task.tensor<tensor<?x4xf32>, device>
  %d = ge_task.ensure_device(%x)
  // CHECK-NEXT: %y = ge_task.launch "BatchMatMulV2"(%d, %w, %no) -> (device tensor<?x4xf32>) stream 0 op 3 engine "AIcoreEngine" attrs {adj_x1 = false} {ge.name = "y"}
  %y = ge_task.launch "BatchMatMulV2"(%d, %w, %no) -> (device tensor<?x4xf32>) stream 0 op 3 engine "AIcoreEngine" attrs {adj_x1 = false} {ge.name = "y"}
  // CHECK-NEXT: ge_task.record 0 stream 0
  ge_task.record 0 stream 0
  // CHECK-NEXT: ge_task.wait 0 stream 1
  ge_task.wait 0 stream 1
  // CHECK-NEXT: %u, %k = ge_task.launch "Unique"(%y) -> (device tensor<?xf32>, device tensor<?xi64>) stream 1 source "ai.onnx::Unique@11"
  %u, %k = ge_task.launch "Unique"(%y) -> (device tensor<?xf32>, device tensor<?xi64>) stream 1 source "ai.onnx::Unique@11"
  // CHECK-NEXT: %shape = ge_task.host_call "Shape"(%u) -> (host tensor<1xi64>) op 5
  %shape = ge_task.host_call "Shape"(%u) -> (host tensor<1xi64>) op 5
  // CHECK-NEXT: ge_task.host_call "Assign"(%shape) outs (%v)
  ge_task.host_call "Assign"(%shape) outs (%v)
  // CHECK-NEXT: %z = ge_task.execute @cluster0(%u) -> (device tensor<8xf32>) stream 1 op 6
  %z = ge_task.execute @cluster0(%u) -> (device tensor<8xf32>) stream 1 op 6
  // CHECK-NEXT: %seq = ge_task.host_call "SequenceConstruct"(%shape) -> (!ge_task.object<i64>)
  %seq = ge_task.host_call "SequenceConstruct"(%shape) -> (!ge_task.object<i64>)
  // CHECK-NEXT: ge_task.output 0(%z) name "z"
  ge_task.output 0(%z) name "z"
  // CHECK-NEXT: ge_task.output 1(%seq)
  ge_task.output 1(%seq)
}

// The same kind of node with every step on its own: shapes, tiling, storage, launch, copies.
// CHECK-LABEL: ge_task.host @destination streams 1 events 0 {
ge_task.host @destination {
  %x = ge_task.input 0 : host tensor<?x4xf32>
  // CHECK: %d = ge_task.h2d(%x) stream 0
  %d = ge_task.h2d(%x) stream 0
  // CHECK-NEXT: %sx = ge_task.shape_of(%d)
  // GENERIC: %sx = "ge_task.shape_of"(%d) : (!ge_task.tensor<tensor<?x4xf32>, device>) -> !ge_task.shape<2>
  %sx = ge_task.shape_of(%d)
  // CHECK-NEXT: %sc = ge_task.shape_const [2, 3]
  %sc = ge_task.shape_const [2, 3]
  // CHECK-NEXT: %s = ge_task.infer_shape "NonZero"(%sx) -> (!ge_task.shape<2>) op 1
  %s = ge_task.infer_shape "NonZero"(%sx) -> (!ge_task.shape<2>) op 1
  // CHECK-NEXT: %t, %ws = ge_task.tiling "NonZero"(%d) -> (!ge_task.tiling, !ge_task.shape<1>) op 1
  %t, %ws = ge_task.tiling "NonZero"(%d) -> (!ge_task.tiling, !ge_task.shape<1>) op 1
  // CHECK-NEXT: %work = ge_task.alloc(%ws) stream 0 : device tensor<?xui8>
  %work = ge_task.alloc(%ws) stream 0 : device tensor<?xui8>
  // CHECK-NEXT: %out = ge_task.alloc(%s) stream 0 : device tensor<2x?xi64>
  %out = ge_task.alloc(%s) stream 0 : device tensor<2x?xi64>
  // CHECK-NEXT: ge_task.launch "NonZero"(%d) outs (%out) workspace (%work) tiling %t stream 0 op 1
  ge_task.launch "NonZero"(%d) outs (%out) workspace (%work) tiling %t stream 0 op 1
  // CHECK-NEXT: ge_task.free(%work) stream 0
  ge_task.free(%work) stream 0
  // CHECK-NEXT: ge_task.sync stream 0
  ge_task.sync stream 0
  // CHECK-NEXT: %real = ge_task.read_shape(%out)
  %real = ge_task.read_shape(%out)
  // CHECK-NEXT: %view = ge_task.view(%out, %real) : device tensor<2x?xi64>
  %view = ge_task.view(%out, %real) : device tensor<2x?xi64>
  // CHECK-NEXT: %h = ge_task.d2h(%view) stream 0
  %h = ge_task.d2h(%view) stream 0
  // CHECK-NEXT: %hh = ge_task.ensure_host(%h)
  %hh = ge_task.ensure_host(%h)
  ge_task.output 0(%hh)
}

// Two outputs of unknown size: their bounds, one read for both; and what may turn out to be empty.
// CHECK-LABEL: ge_task.host @sizes
ge_task.host @sizes {
  %x = ge_task.input 0 : device tensor<?xf32>
  // CHECK: %s, %n = ge_task.infer_shape "Unique"(%x) -> (!ge_task.shape<1>, !ge_task.shape<1>) op 1 source "ai.onnx::Unique@11" bound
  // GENERIC: "ge_task.infer_shape"(%x) <{{{.*}}bound
  %s, %n = ge_task.infer_shape "Unique"(%x) -> (!ge_task.shape<1>, !ge_task.shape<1>) op 1 source "ai.onnx::Unique@11" bound
  // CHECK-NEXT: %t = ge_task.tiling "Unique"(%x) outs (%s, %n) -> (!ge_task.tiling) op 1
  %t = ge_task.tiling "Unique"(%x) outs (%s, %n) -> (!ge_task.tiling) op 1
  %y = ge_task.alloc(%s) stream 0 : device tensor<?xf32>
  %i = ge_task.alloc(%n) stream 0 : device tensor<?xi64>
  ge_task.launch "Unique"(%x) outs (%y, %i) tiling %t stream 0 op 1 source "ai.onnx::Unique@11"
  ge_task.sync stream 0
  // CHECK: %ys, %is = ge_task.read_shape(%y, %i) stream 0
  %ys, %is = ge_task.read_shape(%y, %i) stream 0
  // CHECK-NEXT: %e = ge_task.infer_shape "Neg"(%ys) -> (!ge_task.shape<1>)
  %e = ge_task.infer_shape "Neg"(%ys) -> (!ge_task.shape<1>)
  // CHECK-NEXT: %u = ge_task.tiling "Neg"(%ys) outs (%e) -> (!ge_task.tiling) may_be_empty
  %u = ge_task.tiling "Neg"(%ys) outs (%e) -> (!ge_task.tiling) may_be_empty
  %z = ge_task.alloc(%e) stream 0 : device tensor<?xf32>
  // CHECK: ge_task.launch "Neg"(%y) outs (%z) tiling %u stream 0 may_be_empty
  ge_task.launch "Neg"(%y) outs (%z) tiling %u stream 0 may_be_empty
  // CHECK-NEXT: ge_task.free(%y) stream 0
  ge_task.free(%y) stream 0
  ge_task.output 0(%z)
}

// Branches: the types of the results hold for both of them.
// CHECK-LABEL: ge_task.host @branches
ge_task.host @branches {
  %c = ge_task.input 0 : host tensor<i1>
  %i = ge_task.input 1 : host tensor<i32>
  %x = ge_task.input 2 : device tensor<4xf32>
  // CHECK: %r = ge_task.if %c -> (device tensor<?xf32>) {
  // CHECK-NEXT: %a = ge_task.launch "Relu"(%x) -> (device tensor<4xf32>) stream 0
  // CHECK-NEXT: ge_task.yield(%a)
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ge_task.yield(%x)
  // CHECK-NEXT: }
  %r = ge_task.if %c -> (device tensor<?xf32>) {
    %a = ge_task.launch "Relu"(%x) -> (device tensor<4xf32>) stream 0
    ge_task.yield(%a)
  } else {
    ge_task.yield(%x)
  }
  // CHECK-NEXT: ge_task.if %c {
  // CHECK-NEXT: ge_task.sync stream 0
  // CHECK-NEXT: ge_task.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ge_task.yield
  // CHECK-NEXT: }
  ge_task.if %c {
    ge_task.sync stream 0
  } else {
  }
  // CHECK-NEXT: %q = ge_task.case %i -> (device tensor<?xf32>) {
  // CHECK-NEXT: ge_task.yield(%x)
  // CHECK-NEXT: } {
  // CHECK-NEXT: ge_task.yield(%r)
  // CHECK-NEXT: }
  %q = ge_task.case %i -> (device tensor<?xf32>) {
    ge_task.yield(%x)
  } {
    ge_task.yield(%r)
  }
  ge_task.output 0(%q)
}

// A loop of ONNX: iteration number, condition and one value are carried, one scan output is collected.
// CHECK-LABEL: ge_task.host @loop
ge_task.host @loop {
  %max = ge_task.input 0 : host tensor<i64>
  %go = ge_task.input 1 : host tensor<i1>
  %x = ge_task.input 2 : device tensor<4xf32>
  %zero = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
  %one = ge_task.const dense<1> : tensor<i64> : host tensor<i64>
  // CHECK: %list = ge_task.list_new : !ge_task.list<tensor<?xf32>>
  %list = ge_task.list_new : !ge_task.list<tensor<?xf32>>
  // CHECK-NEXT: %n, %c, %v = ge_task.while(%zero, %go, %x) -> (host tensor<i64>, host tensor<i1>, device tensor<?xf32>) cond (%n0, %c0, %v0) {
  // GENERIC: %n, %c, %v = "ge_task.while"(%zero, %go, %x) ({
  // GENERIC-NEXT: ^bb{{[0-9]+}}(%n0: !ge_task.tensor<tensor<i64>, host>, %c0: !ge_task.tensor<tensor<i1>, host>, %v0: !ge_task.tensor<tensor<?xf32>, device>):
  %n, %c, %v = ge_task.while(%zero, %go, %x) -> (host tensor<i64>, host tensor<i1>, device tensor<?xf32>) cond (%n0, %c0, %v0) {
    %less = ge_task.host_call "Less"(%n0, %max) -> (host tensor<i1>)
    %both = ge_task.host_call "LogicalAnd"(%less, %c0) -> (host tensor<i1>)
    // CHECK: ge_task.yield(%both)
    ge_task.yield(%both)
  // CHECK-NEXT: } body (%n1, %c1, %v1) {
  } body (%n1, %c1, %v1) {
    %v2 = ge_task.launch "Exp"(%v1) -> (device tensor<?xf32>) stream 0
    // CHECK: ge_task.list_append(%list, %v2)
    ge_task.list_append(%list, %v2)
    %n2 = ge_task.host_call "Add"(%n1, %one) -> (host tensor<i64>)
    // CHECK: ge_task.yield(%n2, %c1, %v2)
    ge_task.yield(%n2, %c1, %v2)
  }
  // CHECK: %scan = ge_task.list_stack(%list) axis 0 reverse : device tensor<?x?xf32>
  %scan = ge_task.list_stack(%list) axis 0 reverse : device tensor<?x?xf32>
  ge_task.output 0(%v)
  ge_task.output 1(%scan)
}
