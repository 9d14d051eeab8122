// REQUIRES: mlir-opt
// RUN: ge-opt %s --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic --verify-each | ge-opt | filecheck %s
// RUN: ge-opt %S/tasks.mlir --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | ge-opt | filecheck %S/interop.mlir --check-prefix=TASKS
// RUN: ge-opt %S/host.mlir --print-op-generic | %mlir-opt --allow-unregistered-dialect --mlir-print-op-generic | ge-opt | filecheck %S/interop.mlir --check-prefix=HOST

// The generic form is MLIR's: a reader that knows nothing of the dialect hands it back unchanged but for value names.
// CHECK: ge_task.model @m streams 2 events 1 arenas {hbm = 64} {
ge_task.model @m streams 2 events 1 arenas {hbm = 64} {
  // CHECK-NEXT: [[X:%.+]] = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
  %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
  // CHECK-NEXT: [[NO:%.+]] = ge_task.absent
  %no = ge_task.absent
  // CHECK-NEXT: ge_task.kernel "Clip"([[X]], [[NO]], [[NO]]) -> ([[X]]) stream 0 op 3 {ge.name = "c"}
  ge_task.kernel "Clip"(%x, %no, %no) -> (%x) stream 0 op 3 {ge.name = "c"}
  // CHECK-NEXT: ge_task.event_record 0 stream 0
  ge_task.event_record 0 stream 0
  // CHECK-NEXT: ge_task.event_wait 0 stream 1
  ge_task.event_wait 0 stream 1
}

// TASKS: ge_task.model @kinds streams 3 events 2 notifies 2 labels 2 arenas {hbm = 128, weight = 8}
// TASKS: ge_task.stream_switch({{%.+}}, {{%.+}}) condition 5 data_type 1 true_stream 2 stream 0 op 9
// TASKS: ge_task.model @empty streams 0

// HOST: ge_task.host @whole streams 2 events 1 {
// HOST: [[D:%.+]] = ge_task.ensure_device({{%.+}})
// HOST: ge_task.host @loop streams 1 events 0 {
// HOST: ge_task.while({{.+}}) -> (host tensor<i64>, host tensor<i1>, device tensor<?xf32>) cond ({{.+}}) {
// HOST: ge_task.list_stack({{%.+}}) axis 0 reverse : device tensor<?x?xf32>
