// RUN: ge-opt %s -p ge-stream-dependency --split-input-file | filecheck %s
// RUN: ge-opt %s -p "ge-stream-dependency{memory-priority=true}" --split-input-file | filecheck %s --check-prefix=MEMORY
// RUN: ge-opt %s -p 'ge-stream-dependency{max-parallel="VectorEngine:2"}' --split-input-file | filecheck %s --check-prefix=PARALLEL
// RUN: not ge-opt %s -p 'ge-stream-dependency{max-parallel="VectorEngine"}' --split-input-file 2>&1 | filecheck %s --check-prefix=BAD
// BAD: option max-parallel cannot be 'VectorEngine': 'VectorEngine' is not engine:number

// Tests that an engine that attaches rides on its predecessor, and the engine before it goes on behind it; that it does
// not where the predecessor has a successor of its own engine, unless memory comes first.
ge.graph @main {
  // CHECK: ge.name = "a"{{.*}}ge.cluster_stream = 0 : i64
  %a = ge.op "Make" () {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "cpu"{{.*}}ge.cluster_stream = 0 : i64
  %cpu = ge.op "Cpu" (%a) {ge.name = "cpu", ge.engine = "DNN_VM_AICPU", ge.cluster = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "b"{{.*}}ge.cluster_stream = 0 : i64
  %b = ge.op "Relu" (%cpu) {ge.name = "b", ge.engine = "AIcoreEngine", ge.cluster = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "side"{{.*}}ge.cluster_stream = 1 : i64
  // MEMORY: ge.name = "side"{{.*}}ge.cluster_stream = 0 : i64
  %side = ge.op "Cpu" (%b) {ge.name = "side", ge.engine = "DNN_VM_AICPU", ge.cluster = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "c"{{.*}}ge.cluster_stream = 0 : i64
  %c = ge.op "Relu" (%b) {ge.name = "c", ge.engine = "AIcoreEngine", ge.cluster = 4 : i64} : tensor<2xf32>
  // Tests that a node may be forced on its predecessor.
  // CHECK: ge.name = "forced"{{.*}}ge.cluster_stream = 0 : i64
  %forced = ge.op "Relu" (%b) attrs {_force_attach_stream = true} {ge.name = "forced", ge.engine = "VectorEngine", ge.cluster = 5 : i64} : tensor<2xf32>
}

// -----

// Tests that nobody rides on collectives or labels, that engines get numbers by name, and that sub-graphs of an engine
// are dealt out to as many streams as it may have.
// CHECK: ge.graph @main attributes {ge.next_stream = 4 : i64}
ge.graph @main attributes {ge.next_stream = 1 : i64} {
  // CHECK: ge.name = "h"{{.*}}ge.cluster_stream = 0 : i64
  %h = ge.op "Collective" () {ge.name = "h", ge.engine = "DNN_HCCL", ge.cluster = 0 : i64, ge.cluster_stream = 0 : i64} : tensor<2xf32>
  // CHECK: ge.name = "v1"{{.*}}ge.cluster_stream = 3 : i64
  // PARALLEL: ge.name = "v1"{{.*}}ge.cluster_stream = 3 : i64
  %v1 = ge.op "Make" () {ge.name = "v1", ge.engine = "VectorEngine", ge.cluster = 1 : i64} : tensor<2xf32>
  // CHECK: ge.name = "v2"{{.*}}ge.cluster_stream = 3 : i64
  // PARALLEL: ge.name = "v2"{{.*}}ge.cluster_stream = 4 : i64
  %v2 = ge.op "Make" () {ge.name = "v2", ge.engine = "VectorEngine", ge.cluster = 2 : i64} : tensor<2xf32>
  // CHECK: ge.name = "v3"{{.*}}ge.cluster_stream = 3 : i64
  // PARALLEL: ge.name = "v3"{{.*}}ge.cluster_stream = 3 : i64
  %v3 = ge.op "Make" () {ge.name = "v3", ge.engine = "VectorEngine", ge.cluster = 3 : i64} : tensor<2xf32>
  // CHECK: ge.name = "cpu"{{.*}}ge.cluster_stream = 2 : i64
  %cpu = ge.op "Cpu" (%h) {ge.name = "cpu", ge.engine = "DNN_VM_AICPU", ge.cluster = 4 : i64} : tensor<2xf32>
  // CHECK: ge.name = "core"{{.*}}ge.cluster_stream = 1 : i64
  %core = ge.op "Relu" (%h) {ge.name = "core", ge.engine = "AIcoreEngine", ge.cluster = 5 : i64} : tensor<2xf32>
}

// -----

// Tests that engines of another schedule unit do not share streams.
builtin.module attributes {ge.engine_table = {Other = {scheduler_id = "TS_2", cost = 3 : i64, attach}}} {
  ge.graph @main {
    %a = ge.op "Make" () {ge.name = "a", ge.engine = "AIcoreEngine", ge.cluster = 0 : i64} : tensor<2xf32>
    // CHECK: ge.name = "b"{{.*}}ge.cluster_stream = 1 : i64
    %b = ge.op "Relu" (%a) {ge.name = "b", ge.engine = "Other", ge.cluster = 1 : i64} : tensor<2xf32>
  }
}
