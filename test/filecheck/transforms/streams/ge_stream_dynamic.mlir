// RUN: ge-opt %s -p ge-stream-dynamic | filecheck %s
// RUN: ge-opt %s -p "ge-stream-dynamic{ac-parallel-enable=1}" | filecheck %s --check-prefix=AC
// RUN: ge-opt %s -p "ge-stream-dynamic{enable=0}" | filecheck %s --check-prefix=OFF
// OFF: ge.graph @main attributes {ge.unknown_shape, ge.stream_num = 1 : i64}

// Tests that strong engines own streams, that AI CPU rides on them unless it may run beside, that what makes data has a
// stream, and that a graph of known shape below is left alone.
// CHECK: ge.engine_streams = {AIcoreEngine = 0 : i64, DNN_HCCL = 1 : i64, DNN_VM_AICPU = 2 : i64}, ge.label_streams = {l = 3 : i64}
ge.graph @main attributes {ge.unknown_shape} {
  // CHECK: ge.name = "next"{{.*}}ge.stream = 2 : i64
  // OFF: ge.name = "next"{{.*}}ge.stream = 0 : i64
  %next = ge.op "GetNext" () {ge.name = "next", ge.engine = "DNN_VM_AICPU", ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "a"{{.*}}ge.stream = 0 : i64
  %a = ge.op "Relu" (%next) {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "where"{{.*}}ge.stream = 0 : i64
  // AC: ge.name = "where"{{.*}}ge.stream = 2 : i64
  %where = ge.op "Cpu" (%a) {ge.name = "where", ge.engine = "DNN_VM_AICPU", ge.cluster = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "h"{{.*}}ge.stream = 1 : i64
  %h = ge.op "HcomAllReduce" (%a) {ge.name = "h", ge.engine = "DNN_HCCL", ge.cluster = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.stream = 0 : i64
  %b = ge.op "Add" (%a, %h) {ge.name = "b", ge.engine = "AIcoreEngine", ge.cluster = 4 : i64} : tensor<2xf32>
  // CHECK: ge.name = "v"{{.*}}ge.stream = 1 : i64
  %v = ge.op "View" (%h) {ge.name = "v", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 5 : i64} : tensor<2xf32>
  // CHECK: ge.name = "l"{{.*}}ge.stream = 3 : i64
  %l = ge.op "Relu" (%b) attrs {_stream_label = "l"} {ge.name = "l", ge.engine = "AIcoreEngine", ge.cluster = 6 : i64} : tensor<2xf32>
  %if = ge.op "Owner" (%b) subgraphs [@known] {ge.name = "if", ge.engine = "DNN_VM_GE_LOCAL", ge.cluster = 7 : i64} : tensor<2xf32>
}
ge.graph @known {
  // CHECK: ge.name = "k", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} :
  %k = ge.op "Make" () {ge.name = "k", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
}
