// A host-scheduled program: what the host does, counted and timed.
// RUN: ge-run %s | filecheck %s

// CHECK:      tasks         1: 1 kernel
// CHECK-NEXT: host steps    1 host_call, 1 branch
// CHECK-NEXT: host          1 launches, 1 h2d, 1 d2h, 1 syncs, 32 bytes moved
// CHECK:      peak bytes    32, feature map 32 (lower bound unknown), 4 allocations, 1 from the cache
// CHECK:      output y: float32 [4]

ge_task.host @m streams 1 {
  %x = ge_task.input 0 name "x" : device tensor<4xf32>
  %zero = ge_task.const dense<0> : tensor<i64> : host tensor<i64>
  %never = ge_task.host_call "Less"(%zero, %zero) -> (host tensor<i1>)
  %y = ge_task.if %never -> (device tensor<4xf32>) {
    ge_task.yield(%x)
  } else {
    %n = ge_task.launch "Neg"(%x) -> (device tensor<4xf32>) stream 0
    ge_task.yield(%n)
  }
  ge_task.sync stream 0
  %h = ge_task.d2h(%y) stream 0
  ge_task.output 0(%h) name "y"
}
