// A task list on two streams, from the command line.
// RUN: ge-run %s | filecheck %s
// RUN: ge-run %s --json | filecheck %s --check-prefix=JSON
// RUN: ge-run %s --order random --seed 7 --profile bandwidth | filecheck %s --check-prefix=OTHER

// CHECK:      model         {{.*}}ge_run.mlir (@m)
// CHECK-NEXT: tasks         5: 2 kernel, 1 end_graph, 1 event_record, 1 event_wait
// CHECK-NEXT: host          1 launches, 1 h2d, 1 d2h, 1 syncs, 32 bytes moved
// CHECK-NEXT: streams       2, 1 events
// CHECK-NEXT: peak bytes    1536, feature map 512 (lower bound unknown), 2 allocations
// CHECK-NEXT: weight bytes  512
// CHECK-NEXT: simulated us  72.0 (profile default)
// CHECK-NEXT: emulator us   {{[0-9]+}}
// CHECK-NEXT: output y: float32 [4], min {{.*}}, max {{.*}}
// CHECK-NEXT: inputs are random (seed 0); --inputs FILE.npz gives your own

// JSON: "random_inputs_seed": 0
// JSON: "tasks": 5
// JSON: "launches": 1
// JSON: "peak_bytes": 1536
// JSON: "findings": []

// OTHER: (profile bandwidth)

ge_task.model @m streams 2 events 1 arenas {hbm = 1536, weight = 512} zero_copy 1024 {
  %x = ge_task.buffer hbm at 1024 size 16 input 0 name "x" : tensor<4xf32>
  %a = ge_task.buffer hbm at 0 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 512 size 16 output 0 name "y" : tensor<4xf32>
  %w = ge_task.buffer weight at 0 size 16 value dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32> : tensor<4xf32>
  ge_task.kernel "Relu"(%x) -> (%a) stream 0 op 1
  ge_task.event_record 0 stream 0 op 2
  ge_task.event_wait 0 stream 1 op 3
  ge_task.kernel "Add"(%a, %w) -> (%y) stream 1 op 4
  ge_task.end_graph stream 1 op 5
}
