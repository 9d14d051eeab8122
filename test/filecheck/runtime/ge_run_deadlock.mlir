// A deadlock is one line with the head of every blocked stream, exit 1.
// RUN: not ge-run %s 2>&1 | filecheck %s --match-full-lines

// CHECK: {{.*}}ge_run_deadlock.mlir: error: deadlock: stream 0: task 0 "first" (event_wait) waits for event 0; stream 1: task 2 (event_wait) waits for event 1

ge_task.model @m streams 2 events 2 arenas {hbm = 64} {
  ge_task.event_wait 0 stream 0 {ge.name = "first"}
  ge_task.event_record 1 stream 0
  ge_task.event_wait 1 stream 1
  ge_task.event_record 0 stream 1
}
