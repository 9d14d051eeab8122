// RUN: ge-opt %s -p 'ge-pipeline{until=ge-sink-clusters}' | filecheck %s
// RUN: ge-opt %s -p ge-pipeline | filecheck %s --check-prefix=TASKS
// RUN: ge-opt %s -p 'ge-pipeline{partition=false}' | filecheck %s --check-prefix=WHOLE
// RUN: ge-opt %s -p ge-pipeline --weights=inline | ge-run - --timeline %t.json | filecheck %s --check-prefix=STEP
// RUN: filecheck %s --check-prefix=TRACE --input-file %t.json

// Tests that the part in front of a node of unknown size becomes a task list, with memory and streams of its own, which
// the host program executes as one step; and that the weights are its own.
// CHECK:     ge.graph @main attributes {ge.dynamic_shape_partitioned}
// CHECK:     ge.op "PartitionedCall" (%x) subgraphs [@main_known_0]
// CHECK:     ge_task.model @main_known_0
// CHECK-NOT: ge.graph

// TASKS:      ge_task.host @main
// TASKS:      [[X:%.+]] = ge_task.ensure_device(%x)
// TASKS-NEXT: [[D:%.+]] = ge_task.execute @main_known_0([[X]]) -> (device tensor<4x4xf32>) stream 0
// TASKS-NEXT: ge_task.free([[X]]) stream 0
// TASKS-NEXT: [[L:%.+]] = ge_task.infer_shape "NonZero"([[D]]) {{.*}} bound
// TASKS-NEXT: ge_task.tiling "NonZero"([[D]]) outs ([[L]])
// TASKS-NEXT: [[B:%.+]] = ge_task.alloc([[L]]) stream 0 : device tensor<?x?xi64>
// TASKS-NEXT: ge_task.launch "NonZero"([[D]]) outs ([[B]])
// TASKS-NEXT: ge_task.free([[D]]) stream 0
// TASKS-NEXT: ge_task.sync stream 0
// TASKS-NEXT: [[S:%.+]] = ge_task.read_shape([[B]]) stream 0
// TASKS-NEXT: [[I:%.+]] = ge_task.view([[B]], [[S]]) {{.*}} : device tensor<2x?xi64>
// TASKS-NEXT: ge_task.free([[B]]) stream 0
// TASKS-NEXT: ge_task.output 0([[I]])
// TASKS:      ge_task.model @main_known_0 {{.*}}arenas {hbm = {{[0-9]+}}, weight = 512} zero_copy 1024
// TASKS:      ge_task.kernel "Mul"
// TASKS:      ge_task.kernel "Relu"

// WHOLE-NOT: ge_task.execute
// WHOLE-NOT: ge_task.model
// WHOLE:     ge_task.launch "Mul"

// The read-back of NonZero's size is a synchronisation and a copy; so is the output.
// STEP: tasks         8: 5 kernel
// STEP: host          2 launches, 1 h2d, 2 d2h, 1 syncs
// STEP: host idle
// STEP: device execute

// TRACE: "name": "launch", "cat": "flow"

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<4x4xf32>
  %w = ge.constant value dense<2.0> : tensor<f32> {ge.name = "w"} : tensor<f32>
  %a = ge.op "Mul" (%x, %w) {ge.name = "a"} : tensor<4x4xf32>
  %b = ge.op "Exp" (%a) {ge.name = "b"} : tensor<4x4xf32>
  %c = ge.op "Sub" (%b, %w) {ge.name = "c"} : tensor<4x4xf32>
  %d = ge.op "Relu" (%c) {ge.name = "d"} : tensor<4x4xf32>
  %i = ge.op "NonZero" (%d) source "ai.onnx::NonZero@13" {ge.name = "i"} : tensor<2x?xi64>
  ge.net_output (%i) {ge.name = "out", ge.output_names = ["i"]}
}
