// RUN: ge-opt %s --remarks --semantics=off -p ge-assign-engines,ge-host-exec 2>&1 >/dev/null | filecheck %s
// RUN: ge-opt %s --remarks --semantics=off -p 'ge-assign-engines,ge-host-exec{max-elements=16 kernels="+Sigmoid|-Mul"}' 2>&1 >/dev/null | filecheck %s --check-prefix=MORE
// RUN: ge-opt %s --remarks --semantics=off -p 'ge-assign-engines,ge-host-exec{pass-switch="off"}' 2>&1 >/dev/null | filecheck %s --check-prefix=OFF

// OFF: [ge-host-exec] analysis: does not run: the pass switch HostShapeOptimizationPass is off
// OFF-NOT: ge-host-exec

// Tests the remark on each node that the search reaches: moved, or the first condition that fails.
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %none = ge.absent
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  %b = ge.op "Expand" (%a, %s) {ge.name = "b"} : tensor<3x5xi64>
  %c = ge.op "Tile" (%s, %s) {ge.name = "c"} : tensor<?x?xi64, #ge.desc<ND, range = [[1, 3], [1, 3]]>>
  %d = ge.op "StridedSliceV2" (%s, %s, %s, %none, %none) {ge.name = "d"} : tensor<1xi64>
  %e = ge.op "Add" (%s, %x) {ge.name = "e"} : tensor<2xi64>
  %dev = ge.op "Conv2D" (%x) {ge.name = "dev"} : tensor<2xi64>
  %f = ge.op "Add" (%s, %dev) {ge.name = "f"} : tensor<2xi64>
  %g = ge.op "Sigmoid" (%s) {ge.name = "g"} : tensor<2xi64>
  %h = ge.op "Add" (%s, %s) {ge.name = "h"} : tensor<2xcomplex<f32>>
  %i = ge.op "RandomUniform" (%s) {ge.name = "i"} : tensor<2xf32>
  %j = ge.op "Add" (%s, %s) {ge.name = "j", ge.engine = "VectorEngine", ge.kernel_lib = "VectorEngine"} : tensor<2xi64>
  ge.net_output (%b) {ge.name = "out"}
}
// CHECK-DAG: passed: Mul "a" moved to the host CPU
// CHECK-DAG: missed: Expand "b" stays: output-small: output 0 has the shape [3, 5], not up to 8 elements
// CHECK-DAG: missed: Tile "c" stays: output-small: output 0 has the shape [?, ?] bounded by [3, 3], not up to 8 elements
// CHECK-DAG: missed: StridedSliceV2 "d" stays: input-desc: input 3 is absent and has no descriptor
// CHECK-DAG: missed: Add "e" stays: input-small: input 1 has the shape [?, ?], not up to 8 elements
// CHECK-DAG: missed: Add "f" stays: input-on-host: input 1 is made on the device
// CHECK-DAG: missed: Sigmoid "g" stays: host-kernel: the host CPU has no kernel for Sigmoid
// CHECK-DAG: missed: Add "h" stays: host-support: output 0 has elements of type COMPLEX64, which the host CPU's kernel for Add lacks
// CHECK-DAG: missed: RandomUniform "i" stays: black-list: RandomUniform never moves to the host
// CHECK-DAG: missed: Add "j" stays: kernel-lib: the kernel lib VectorEngine is not given up
// MORE-DAG: missed: Mul "a" stays: host-kernel
// MORE-DAG: passed: Sigmoid "g" moved to the host CPU
// MORE-DAG: passed: Tile "c" moved to the host CPU
