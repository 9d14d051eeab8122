// Placement of values in a host program (spec/host_execution.md 10.4).
// RUN: ge-opt %s --split-input-file -p 'ge-assign-engines,ge-host-exec,convert-ge-to-ge-task' | filecheck %s

// Tests that one copy serves all readers, whatever their streams, and that it goes on the stream of the first.
// CHECK-LABEL: ge_task.host @shared_copy
// CHECK:      ge_task.host_call "Shape"({{.*}} outs ([[S:%.+]]) op
// CHECK-NEXT: [[C:%.+]] = ge_task.h2d([[S]]) stream 1
// CHECK-NEXT: ge_task.free([[S]])
// CHECK:      ge_task.launch "Neg"([[C]]) {{.*}} stream 1
// CHECK:      ge_task.launch "Abs"([[C]]) {{.*}} stream 0
// CHECK-NEXT: ge_task.free([[C]]) stream 1
// CHECK-NOT:  h2d
ge.graph @shared_copy attributes {ge.unknown_shape} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?x?x?x?x?x?x?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<9xi64>
  %a = ge.op "Neg" (%s) {ge.name = "a", ge.stream = 1 : i64} : tensor<9xi64>
  %b = ge.op "Abs" (%s) {ge.name = "b", ge.stream = 0 : i64} : tensor<9xi64>
  ge.net_output (%a, %b) {ge.name = "out"}
}

// -----

// Tests that the host waits once for a producer, on its stream, however many of its outputs are read on the host; and
// that inputs whose elements a shape function reads are on the host too, next to what the kernel reads.
// CHECK-LABEL: ge_task.host @one_sync
// CHECK:      ge_task.launch "SplitD"({{.*}} outs ([[P:%.+]], [[Q:%.+]]) stream 2
// CHECK:      ge_task.sync stream 2
// CHECK-NEXT: [[PH:%.+]] = ge_task.d2h([[P]]) stream 2
// CHECK:      [[S:%.+]] = ge_task.infer_shape "Expand"([[X:%.+]], [[PH]])
// CHECK-NEXT: [[T:%.+]] = ge_task.tiling "Expand"([[X]], [[PH]]) outs ([[S]])
// CHECK-NEXT: ge_task.free([[PH]])
// CHECK-NEXT: [[A:%.+]] = ge_task.alloc([[S]]) stream 0
// CHECK-NEXT: ge_task.launch "Expand"([[X]], [[P]]) outs ([[A]]) tiling [[T]] stream 0
// CHECK-NEXT: ge_task.free([[P]]) stream 2
// CHECK-NEXT: [[QH:%.+]] = ge_task.d2h([[Q]]) stream 2
// CHECK-NEXT: ge_task.infer_shape "Expand"([[X]], [[QH]])
// CHECK:      ge_task.launch "Expand"([[X]], [[Q]]) {{.*}} stream 0
// CHECK-NOT:  sync
ge.graph @one_sync {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1xf32>
  %n = ge.data index 1 {ge.name = "n"} : tensor<2xi64>
  %p, %q = ge.split "SplitD" (%n) split_dim 0 num_split 2 {ge.name = "p", ge.stream = 2 : i64} : tensor<1xi64>, tensor<1xi64>
  %a = ge.op "Expand" (%x, %p) {ge.name = "a", ge.stream = 0 : i64} : tensor<?xf32>
  %b = ge.op "Expand" (%x, %q) {ge.name = "b", ge.stream = 0 : i64} : tensor<?xf32>
  ge.net_output (%a, %b) {ge.name = "out"}
}

// -----

// Tests that an input that only the host reads is fed there, and that a constant shape costs nothing.
// CHECK-LABEL: ge_task.host @inputs
// CHECK:      ge_task.input 0 name "n" : host tensor<2xi64>
// CHECK-NOT:  ensure
// CHECK:      ge_task.host_call "Mul"
// CHECK:      ge_task.launch "Expand"
// CHECK-NOT:  sync
ge.graph @inputs attributes {ge.unknown_shape} {
  %n = ge.data index 0 attrs {_host_tensor = true} {ge.name = "n"} : tensor<2xi64>
  %k = ge.constant value dense<[3, 1]> : tensor<2xi64> {ge.name = "k"} : tensor<2xi64>
  %m = ge.op "Mul" (%n, %n) {ge.name = "m"} : tensor<2xi64>
  %e = ge.op "Expand" (%k, %k) {ge.name = "e"} : tensor<?x?xi64>
  ge.net_output (%m, %e) {ge.name = "out"}
}
