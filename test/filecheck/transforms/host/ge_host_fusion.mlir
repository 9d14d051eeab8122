// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-host-fusion | filecheck %s
// RUN: ge-opt %s --split-input-file -p ge-assign-engines,ge-host-exec,ge-host-fusion,ge-host-fusion | filecheck %s
// RUN: ge-opt %s --split-input-file --remarks -p ge-assign-engines,ge-host-exec,ge-host-fusion 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Tests that two host nodes that read each other become one, which carries both and gives what others read.
// CHECK-LABEL: ge.graph @pair
// REMARK: [ge-host-fusion] passed: 2 host nodes became FusedHostCpu_0: a, b
ge.graph @pair {
  // CHECK: %x = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %k = ge.constant value dense<[2, 3]> : tensor<2xi64> {ge.name = "k"} : tensor<2xi64>
  // CHECK: %s = ge.op "Shape"
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  // CHECK: %b = ge.op "FusedHostCpu" (%s, %k) attrs {opKernelLib = "HOSTCPUKernel", _unknown_shape_type = 1 : i64, _fused_body = [{type = "Mul", inputs = array<i64: -1, -2>, n_outputs = 1 : i64}, {type = "Add", inputs = array<i64: 0, -1>, n_outputs = 1 : i64}], _fused_outputs = array<i64: 1>, _fused_node_names = ["a", "b"], _fused_node_types = ["Mul", "Add"], _fused_output_refs = ["b:0"]} {ge.name = "FusedHostCpu_0", ge.engine = "DNN_VM_HOST_CPU", ge.kernel_lib = "DNN_VM_HOST_CPU_OP_STORE", ge.small_shape_host_cpu} : tensor<2xi64>
  // CHECK-NOT: "Mul" (
  %a = ge.op "Mul" (%s, %k) {ge.name = "a"} : tensor<2xi64>
  %b = ge.op "Add" (%a, %s) {ge.name = "b"} : tensor<2xi64>
  // CHECK: ge.net_output (%b)
  ge.net_output (%b) {ge.name = "out"}
}

// -----

// Tests two ends that have nothing to do with each other: one fused node each, and the head is computed in both.
// CHECK-LABEL: ge.graph @two_ends
ge.graph @two_ends {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  // CHECK: %b = ge.op "FusedHostCpu" (%s) {{.*}}_fused_node_names = ["a", "b"]
  %b = ge.op "Add" (%a, %s) {ge.name = "b"} : tensor<2xi64>
  // CHECK: %c = ge.op "FusedHostCpu" (%s) {{.*}}_fused_node_names = ["a", "c"]
  %c = ge.op "Sub" (%a, %s) {ge.name = "c"} : tensor<2xi64>
  // CHECK: ge.net_output (%b, %c)
  ge.net_output (%b, %c) {ge.name = "out"}
}

// -----

// Tests that nodes stay apart when a node outside reads one and feeds the other: joined they would wait for themselves.
// CHECK-LABEL: ge.graph @cycle
// REMARK: [ge-host-fusion] missed: 2 host nodes from Mul "a" on stay apart: cycle
ge.graph @cycle {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  // CHECK: "Mul"
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  %u = ge.op "Unsqueeze" (%a) attrs {axes = [0]} {ge.name = "u"} : tensor<1x2xi64>
  // CHECK: "Add"
  %b = ge.op "Add" (%a, %u) {ge.name = "b"} : tensor<1x2xi64>
  ge.net_output (%b) {ge.name = "out"}
}

// -----

// Tests that a reader of an output in the middle, which stood in front of the fused node, is put behind it.
// CHECK-LABEL: ge.graph @middle
ge.graph @middle {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  // CHECK: %a, %b = ge.op "FusedHostCpu" {{.*}}_fused_output_refs = ["a:0", "b:0"]
  // CHECK: "Relu" (%a)
  %r = ge.op "Relu" (%a) {ge.name = "r"} : tensor<2xi64>
  %b = ge.op "Add" (%a, %s) {ge.name = "b"} : tensor<2xi64>
  // CHECK: ge.net_output (%r, %b)
  ge.net_output (%r, %b) {ge.name = "out"}
}

// -----

// Tests that an output of unknown shape, a control edge or a graph input in between keeps a node out.
// CHECK-LABEL: ge.graph @apart
ge.graph @apart {
  // CHECK-NOT: FusedHostCpu
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?xf32>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "s"} : tensor<2xi64>
  %a = ge.op "Mul" (%s, %s) {ge.name = "a"} : tensor<2xi64>
  %b = ge.op "Range" (%a, %a, %a) {ge.name = "b"} : tensor<?xi64>
  %c, %ctl = ge.op "Mul" (%s, %s) {ge.name = "c"} : tensor<2xi64>, !ge.control
  %d = ge.op "Add" (%c, %s, %ctl) {ge.name = "d"} : tensor<2xi64>
  ge.net_output (%b, %d) {ge.name = "out"}
}
