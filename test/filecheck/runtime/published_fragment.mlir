// The fragment of the article on small-shape operators: shapes out of a tensor, back into a Reshape. The counts are
// exact; the times are those of the profile that was calibrated on it: 3 ms before, 10 us after, within 10 %.
//
// RUN: ge-opt %s -p 'ge-pipeline{host-exec=false}' | filecheck %s --check-prefix=BEFORE
// RUN: ge-opt %s -p ge-pipeline | filecheck %s --check-prefix=AFTER
// RUN: ge-opt %s -p 'ge-pipeline{host-exec=false}' -o %t.before.mlir
// RUN: ge-opt %s -p ge-pipeline -o %t.after.mlir
// RUN: ge-run %t.before.mlir --dim x:0=2 --dim x:1=7 --dynamic --profile ascend-2024 | filecheck %s --check-prefix=RUN-BEFORE
// RUN: ge-run %t.after.mlir --dim x:0=2 --dim x:1=7 --dynamic --profile ascend-2024 | filecheck %s --check-prefix=RUN-AFTER

// Shapes are known but for Reshape's, so nothing else is inferred or tiled.
// BEFORE:      host_call "Shape"
// BEFORE-NEXT: h2d
// BEFORE:      alloc() stream 0 : device tensor<i64>
// BEFORE-NEXT: launch "GatherV2"
// BEFORE-NEXT: view{{.*}}"unsqueeze0"
// BEFORE:      launch "GatherV2"
// BEFORE:      view{{.*}}"unsqueeze1"
// BEFORE:      launch "ConcatD"
// BEFORE:      sync stream 0
// BEFORE-NEXT: d2h
// BEFORE:      infer_shape "Reshape"
// BEFORE:      view{{.*}}"reshape"

// AFTER-NOT: launch
// AFTER-NOT: h2d
// AFTER-NOT: d2h
// AFTER-NOT: sync
// AFTER:     alloc() : host tensor<i64>
// AFTER:     host_call "GatherV2"
// AFTER:     host_call "ConcatD"
// AFTER:     infer_shape "Reshape"
// AFTER:     view{{.*}}"reshape"

// RUN-BEFORE: host          3 launches, 1 h2d, 1 d2h, 1 syncs
// RUN-BEFORE: simulated us  {{(2[789]|3[012])[0-9][0-9]\.[0-9]}} (profile ascend-2024)
// RUN-AFTER:  host          0 launches, 0 h2d, 0 d2h, 0 syncs
// RUN-AFTER:  simulated us  {{(9\.[0-9]|10\.[0-9]|11\.0)}} (profile ascend-2024)

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<?x?x4x16xf32>
  %first = ge.constant value dense<0> : tensor<i64> {ge.name = "first"} : tensor<i64>
  %second = ge.constant value dense<1> : tensor<i64> {ge.name = "second"} : tensor<i64>
  %rest = ge.constant value dense<-1> : tensor<1xi64> {ge.name = "rest"} : tensor<1xi64>
  %s = ge.op "Shape" (%x) attrs {dtype = 9 : i64} {ge.name = "shape"} : tensor<4xi64>
  %g0 = ge.op "GatherV2" (%s, %first, %first) {ge.name = "gather0"} : tensor<i64>
  %u0 = ge.op "Unsqueeze" (%g0) attrs {axes = [0]} {ge.name = "unsqueeze0"} : tensor<1xi64>
  %g1 = ge.op "GatherV2" (%s, %second, %first) {ge.name = "gather1"} : tensor<i64>
  %u1 = ge.op "Unsqueeze" (%g1) attrs {axes = [0]} {ge.name = "unsqueeze1"} : tensor<1xi64>
  %c = ge.concat (%u0, %u1, %rest) concat_dim 0 {ge.name = "concat"} : tensor<3xi64>
  %y = ge.op "Reshape" (%x, %c) {ge.name = "reshape"} : tensor<?x?x?xf32>
  ge.net_output (%y) {ge.name = "out", ge.output_names = ["y"]}
}
