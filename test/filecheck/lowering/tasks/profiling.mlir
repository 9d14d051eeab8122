// RUN: ge-opt %s -p 'convert-ge-to-ge-task{profiling=true fp-point=a bp-point=c end-point=d fusion-brackets=false}' | filecheck %s
// RUN: ge-opt %s -p 'convert-ge-to-ge-task{profiling=true fp-point=a end-point=d fusion-brackets=false}' | filecheck %s --check-prefix=NOBP
// RUN: ge-opt %s -p 'convert-ge-to-ge-task{profiling=true fp-point=a bp-point=c fusion-brackets=false}' | filecheck %s --check-prefix=NOEND
// RUN: ge-opt %s -p 'convert-ge-to-ge-task{fp-point=a bp-point=c end-point=d fusion-brackets=false}' | filecheck %s --check-prefix=OFF

// Tests time stamps around the points, collectives and a node that asks for its own.
// CHECK: profiler_trace 2 stream 0 op 1 {ge.name = "a"}
// CHECK-NEXT: kernel "Relu"
// CHECK-NEXT: profiler_trace 10000 stream 1 op 2
// CHECK-NEXT: hccl "HcomAllReduce"
// CHECK-NEXT: profiler_trace 10001 stream 1 op 2
// CHECK-NEXT: kernel "Abs"
// CHECK-NEXT: profiler_trace 3 stream 0 op 3
// CHECK-NEXT: profiler_trace 10002 stream 1 op 4
// CHECK-NEXT: hccl "HcomAllReduce"
// CHECK-NEXT: profiler_trace 4 notify stream 1 op 4 {ge.name = "d"}
// CHECK-NEXT: profiler_trace 10003 stream 1 op 4
// CHECK-NEXT: profiler_trace 2 stream 0 op 5 {ge.name = "e"}
// CHECK-NEXT: kernel "Neg"
// CHECK-NEXT: end_graph

// Without a backward point nothing is stamped before a node that does not ask for it.
// NOBP-NOT: profiler_trace 10000
// NOBP: profiler_trace 10001
// NOBP-NOT: profiler_trace 10002
// NOBP: profiler_trace 4 notify
// NOBP-NEXT: profiler_trace 10003
// NOBP-NEXT: profiler_trace 2 stream 0 op 5 {ge.name = "e"}

// Without an end nothing at all is.
// NOEND-NOT: profiler_trace
// NOEND: kernel "Abs"
// NOEND-NOT: profiler_trace 1
// NOEND: profiler_trace 2 stream 0 op 5 {ge.name = "e"}

// OFF: kernel "Abs"
// OFF-NOT: profiler_trace
ge.graph @main attributes {ge.stream_num = 2 : i64} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 4096>} : tensor<4xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 0>} : tensor<4xf32>
  %b = ge.op "HcomAllReduce" (%x) {ge.name = "b", ge.engine = "DNN_HCCL", ge.stream = 1 : i64, ge.offsets = array<i64: 512>} : tensor<4xf32>
  %c = ge.op "Abs" (%x) {ge.name = "c", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 1024>} : tensor<4xf32>
  %d = ge.op "HcomAllReduce" (%x) {ge.name = "d", ge.engine = "DNN_HCCL", ge.stream = 1 : i64, ge.offsets = array<i64: 1536>} : tensor<4xf32>
  %e = ge.op "Neg" (%a) attrs {_fp_profiling_task = true} {ge.name = "e", ge.engine = "AIcoreEngine", ge.stream = 0 : i64, ge.offsets = array<i64: 2048>} : tensor<4xf32>
  ge.net_output (%e) {ge.name = "out", ge.stream = 0 : i64}
}
