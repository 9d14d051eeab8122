// Axes and strides that a slice goes without are written out, so that host execution can move it.
// RUN: ge-opt %s -p ge-canonicalize | filecheck %s
// RUN: ge-opt %s -p ge-canonicalize,ge-assign-engines,ge-host-exec | filecheck %s --check-prefix=MOVED

// CHECK:      [[AXES:%.+]] = ge.constant value dense<0> : tensor<1xi64>
// CHECK:      [[ONES:%.+]] = ge.constant value dense<1> : tensor<1xi64>
// CHECK:      ge.op "StridedSliceV2" (%s, %b, %e, [[AXES]], [[ONES]])
// CHECK:      ge.op "StridedSliceV2" (%s, %b, %e, %a, [[ONES]])
// CHECK:      ge.op "StridedSliceV2" (%x, %u, %u, %none, %none)

// MOVED:      "StridedSliceV2" {{.*}}ge.name = "both", ge.engine = "DNN_VM_HOST_CPU"
// MOVED:      "StridedSliceV2" {{.*}}ge.name = "one", ge.engine = "DNN_VM_HOST_CPU"
// MOVED:      "StridedSliceV2" {{.*}}ge.name = "unknown", ge.engine = "AIcoreEngine"
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %u = ge.data index 1 {ge.name = "u"} : tensor<?xi64>
  %none = ge.absent
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %b = ge.constant value dense<0> : tensor<1xi64> {ge.name = "b"} : tensor<1xi64>
  %e = ge.constant value dense<1> : tensor<1xi64> {ge.name = "e"} : tensor<1xi64>
  %a = ge.constant value dense<-1> : tensor<1xi64> {ge.name = "a"} : tensor<1xi64>
  %p = ge.op "StridedSliceV2" (%s, %b, %e, %none, %none) {ge.name = "both"} : tensor<1xi64>
  %q = ge.op "StridedSliceV2" (%s, %b, %e, %a, %none) {ge.name = "one"} : tensor<1xi64>
  %r = ge.op "StridedSliceV2" (%x, %u, %u, %none, %none) {ge.name = "unknown"} : tensor<?x?xf32>
  ge.net_output (%p, %q, %r) {ge.name = "out"}
}
