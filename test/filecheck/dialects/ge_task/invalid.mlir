// RUN: ge-opt %s --verify-diagnostics --split-input-file | filecheck %s

// Only ids below the header's counts exist.
// CHECK: 'ge_task.nop' (task 0, "n") stream 1 is out of range: stream_num is 1
ge_task.model @m streams 1 {
  ge_task.nop stream 1 {ge.name = "n"}
}

// -----

// CHECK: 'ge_task.event_record' (task 1) event 2 is out of range: event_num is 2
ge_task.model @m streams 1 events 2 {
  ge_task.event_record 1 stream 0
  ge_task.event_record 2 stream 0
}

// -----

// CHECK: 'ge_task.notify_wait' (task 0) notify 0 is out of range: notify_num is 0
ge_task.model @m streams 1 {
  ge_task.notify_wait 0 stream 0
}

// -----

// CHECK: 'ge_task.stream_active' (task 0) target stream 3 is out of range: stream_num is 1
ge_task.model @m streams 1 {
  ge_task.stream_active 3 stream 0
}

// -----

// CHECK: 'ge_task.model' huge stream 1 is out of range: stream_num is 1
ge_task.model @m streams 1 huge_streams [1] {
}

// -----

// An event that is waited for is recorded by another stream.
// CHECK: 'ge_task.event_wait' (task 0, "r") event 0 is recorded nowhere
ge_task.model @m streams 1 events 1 {
  ge_task.event_wait 0 stream 0 {ge.name = "r"}
}

// -----

// CHECK: 'ge_task.event_wait' (task 1) event 0 is recorded only on stream 0, where it is waited for
ge_task.model @m streams 1 events 1 {
  ge_task.event_record 0 stream 0
  ge_task.event_wait 0 stream 0
}

// -----

// A label is set once, and a label that is jumped to is set.
// CHECK: 'ge_task.label_set' (task 2) label 0 is set twice, first by task 0
ge_task.model @m streams 1 labels 1 {
  ge_task.label_set 0 stream 0
  ge_task.nop stream 0
  ge_task.label_set 0 stream 0
}

// -----

// CHECK: 'ge_task.stream_label_goto' (task 0) label 1 is set nowhere
ge_task.model @m streams 1 labels 2 {
  ge_task.stream_label_goto 1 stream 0
}

// -----

// Buffers lie inside their arena; a space without an arena has no bytes.
// CHECK: 'ge_task.buffer' buffer %x hbm[8, 24) lies outside arena 'hbm' of 16 bytes
ge_task.model @m streams 1 arenas {hbm = 16} {
  %x = ge_task.buffer hbm at 8 size 16 : tensor<4xf32>
}

// -----

// CHECK: 'ge_task.buffer' buffer %x p2p[0, 16) lies outside arena 'p2p' of 0 bytes
ge_task.model @m streams 1 arenas {hbm = 16} {
  %x = ge_task.buffer p2p at 0 size 16 : tensor<4xf32>
}

// -----

// CHECK: 'ge_task.model' zero_copy_size 17 is more than the 16 bytes of arena 'hbm'
ge_task.model @m streams 1 arenas {hbm = 16} zero_copy 17 {
}

// -----

// CHECK: 'ge_task.buffer' size 15 should be 16, the bytes of tensor<4xf32>
ge_task.model @m streams 1 arenas {hbm = 16} {
  %x = ge_task.buffer hbm at 0 size 15 : tensor<4xf32>
}

// -----

// CHECK: 'ge_task.buffer' offset must be >= 0, got -8
ge_task.model @m streams 1 arenas {hbm = 16} {
  %x = ge_task.buffer hbm at -8 size 16 : tensor<4xf32>
}

// -----

// CHECK: 'ge_task.buffer' value of 8 bytes does not fill the 16 bytes of the buffer
ge_task.model @m streams 1 arenas {weight = 16} {
  %x = ge_task.buffer weight at 0 size 16 value dense<1.0> : tensor<2xf32> : tensor<4xf32>
}

// -----

// CHECK: 'ge_task.memcpy_async' count 9 is more than the 8 bytes of the destination
ge_task.model @m streams 1 arenas {hbm = 64} {
  %x = ge_task.buffer hbm at 0 size 16 : tensor<4xf32>
  %y = ge_task.buffer hbm at 16 size 8 : tensor<2xf32>
  ge_task.memcpy_async(%x) -> (%y) count 9 stream 0
}

// -----

// CHECK: 'ge_task.stream_switch' condition 6 is unknown, it should be 0 to 5
ge_task.model @m streams 1 arenas {hbm = 64} {
  %x = ge_task.buffer hbm at 0 size 4 : tensor<1xi32>
  ge_task.stream_switch(%x, %x) condition 6 true_stream 0 stream 0
}

// -----

// CHECK: 'ge_task.stream_switch_n' 3 target values do not make 2 rows of one length
ge_task.model @m streams 1 arenas {hbm = 64} {
  %x = ge_task.buffer hbm at 0 size 4 : tensor<1xi32>
  ge_task.stream_switch_n(%x) targets [1, 2, 3] true_streams [0, 0] stream 0
}

// -----

// CHECK: 'ge_task.model' holds buffers and tasks, 'builtin.module' is neither
ge_task.model @m streams 1 {
  builtin.module {}
}

// -----

// The step that allocates by itself has results, the other one destinations.
// CHECK: 'ge_task.launch' has both destinations and results; results mean that the step allocates
ge_task.host @h {
  %x = ge_task.input 0 : device tensor<4xf32>
  %y = ge_task.alloc() stream 0 : device tensor<4xf32>
  %z = ge_task.launch "Relu"(%x) outs (%y) -> (device tensor<4xf32>) stream 0
}

// -----

// CHECK: 'ge_task.launch' input 0 is in host memory, a kernel needs device memory
ge_task.host @h {
  %x = ge_task.input 0 : host tensor<4xf32>
  %z = ge_task.launch "Relu"(%x) -> (device tensor<4xf32>) stream 0
}

// -----

// CHECK: 'ge_task.launch' stream 2 is out of range: stream_num is 1
ge_task.host @h {
  %x = ge_task.input 0 : device tensor<4xf32>
  %z = ge_task.launch "Relu"(%x) -> (device tensor<4xf32>) stream 2
}

// -----

// CHECK: 'ge_task.d2h' takes a tensor in device memory, got !ge_task.tensor<tensor<4xf32>, host>
ge_task.host @h {
  %x = ge_task.input 0 : host tensor<4xf32>
  %y = ge_task.d2h(%x) stream 0
}

// -----

// CHECK: 'ge_task.alloc' needs a shape: tensor<?xf32> has unknown dimensions
ge_task.host @h {
  %y = ge_task.alloc() stream 0 : device tensor<?xf32>
}

// -----

// CHECK: 'ge_task.free' takes what 'ge_task.input' gives, which outlives the run
ge_task.host @h {
  %x = ge_task.input 0 : device tensor<4xf32>
  ge_task.free(%x) stream 0
}

// -----

// CHECK: 'ge_task.launch' operand 0 has ended: a 'ge_task.free' is before
ge_task.host @h {
  %x = ge_task.input 0 : host tensor<4xf32>
  %d = ge_task.h2d(%x) stream 0
  ge_task.free(%d) stream 0
  %y = ge_task.launch "Relu"(%d) -> (device tensor<4xf32>) stream 0
}

// -----

// CHECK: 'ge_task.read_shape' needs a tensor
ge_task.host @h {
  ge_task.read_shape() stream 0
}

// -----

// CHECK: 'ge_task.if' condition should be a tensor in host memory, got !ge_task.tensor<tensor<i1>, device>
ge_task.host @h {
  %c = ge_task.input 0 : device tensor<i1>
  ge_task.if %c {
  } else {
  }
}

// -----

// CHECK: 'ge_task.if' branch 1 yields 0 is !ge_task.tensor<tensor<5xf32>, device>, expected !ge_task.tensor<tensor<4xf32>, device>
ge_task.host @h {
  %c = ge_task.input 0 : host tensor<i1>
  %x = ge_task.input 1 : device tensor<4xf32>
  %y = ge_task.input 2 : device tensor<5xf32>
  %z = ge_task.if %c -> (device tensor<4xf32>) {
    ge_task.yield(%x)
  } else {
    ge_task.yield(%y)
  }
}

// -----

// CHECK: 'ge_task.while' cond should yield the condition, got 0 values
ge_task.host @h {
  ge_task.while() cond () {
  } body () {
  }
}

// -----

// CHECK: 'ge_task.wait' event 0 is recorded nowhere
ge_task.host @h streams 2 events 1 {
  ge_task.wait 0 stream 1
}

// -----

// CHECK: 'ge_task.execute' there is no task list @gone beside the program
ge_task.host @h {
  ge_task.execute @gone() stream 0
}

// -----

// CHECK: 'ge_task.execute' @m has 1 inputs, got 0
ge_task.model @m streams 1 arenas {hbm = 16} {
  %x = ge_task.buffer hbm at 0 size 16 input 0 : tensor<4xf32>
}
ge_task.host @h {
  ge_task.execute @m() stream 0
}

// -----

// CHECK: 'ge_task.input' 0 is there twice
ge_task.host @h {
  %x = ge_task.input 0 : host tensor<4xf32>
  %y = ge_task.input 0 : host tensor<4xf32>
}

// -----

// CHECK: value %gone is used before it is defined
ge_task.model @m streams 1 {
  ge_task.kernel "Relu"(%gone) -> () stream 0
}

// -----

// CHECK: 'ge_task.model' stream_num 9223372036854775807 is more than 1048576
ge_task.model @m streams 9223372036854775807 {
}

// -----

// CHECK: 'ge_task.host' stream_num 4294967296 is more than 1048576
ge_task.host @h streams 4294967296 {
}
