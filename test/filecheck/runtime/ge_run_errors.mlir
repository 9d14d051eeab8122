// A race that the checker proves fails the run.
// RUN: not ge-run %s 2>&1 | filecheck %s

// CHECK: error: {{.*}}writes hbm [0, 16), which a task on stream 0 may not have read yet [hazard]
// CHECK: ge_run_errors.mlir: error: the checker found 1 errors, the first: task 1 (kernel, stream 1) writes hbm [0, 16)

ge_task.model @m streams 2 arenas {hbm = 64} {
  %x = ge_task.buffer hbm at 0 size 16 input 0 name "x" : tensor<4xf32>
  %y = ge_task.buffer hbm at 32 size 16 output 0 name "y" : tensor<4xf32>
  ge_task.kernel "Neg"(%x) -> (%y) stream 0
  ge_task.kernel "Abs"(%x) -> (%x) stream 1
}
