// RUN: ge-opt %s -p ge-assign-engines,ge-assign-streams --split-input-file --verify-diagnostics | filecheck %s
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="LoadBalance:0"}' 2>&1 | filecheck %s --check-prefix=ZERO
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="LoadBalance:65"}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not ge-opt %s -p 'ge-assign-streams{mode=LoadBalance}' 2>&1 | filecheck %s --check-prefix=BARE
// RUN: not ge-opt %s -p 'ge-assign-streams{mode=two}' 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="schedule:0"}' 2>&1 | filecheck %s --check-prefix=SZERO
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="schedule:65"}' 2>&1 | filecheck %s --check-prefix=SMANY
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="schedule:"}' 2>&1 | filecheck %s --check-prefix=SEMPTY
// RUN: not ge-opt %s -p 'ge-assign-streams{mode="schedule:2" auto=cv}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not ge-opt %s -p 'ge-stream-schedule{streams=65}' --split-input-file 2>&1 | filecheck %s --check-prefix=STREAMS
// RUN: not ge-opt %s -p 'ge-assign-engines,ge-assign-streams{mode=schedule device=none}' --split-input-file 2>&1 | filecheck %s --check-prefix=PROFILE
// RUN: not ge-opt %s -p 'ge-assign-engines,ge-assign-streams{mode=dynamic ac-parallel-enable=2}' --split-input-file 2>&1 | filecheck %s --check-prefix=AC

// ZERO: error: option mode cannot be 'LoadBalance:0': the number of streams is from 1 to 64
// MANY: error: option mode cannot be 'LoadBalance:65': the number of streams is from 1 to 64
// BARE: error: option mode cannot be 'LoadBalance': expected LoadBalance:N with N from 1 to 64
// WRONG: option mode cannot be 'two': expected one of single, multi, dynamic, max-concurrency, cv, schedule:N, LoadBalance:N, MainStream:N, WeightedLoadBalance:N
// SZERO: error: option mode cannot be 'schedule:0': the number of streams is from 1 to 64
// SMANY: error: option mode cannot be 'schedule:65': the number of streams is from 1 to 64
// SEMPTY: error: option mode cannot be 'schedule:': the number of streams is from 1 to 64
// STREAMS: error: option streams cannot be '65': the number of streams is from 1 to 64
// TWICE: error: option auto cannot be 'cv': the mode is 'schedule:2' already
// PROFILE: error: no device profile 'none'
// AC: option ac_parallel_enable cannot be '2': expected 0 or 1

// Tests that a stream label and a single stream exclude each other.
// CHECK: ge_assign_streams_errors.mlir:[[# @LINE + 3]]:3: error: ge.enableSingleStream conflicts with stream label 'a' of node "y"
ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %y = ge.op "Relu" (%x) attrs {_stream_label = "a"} {ge.name = "y"} : tensor<2xf32>
}

// -----

// Tests that an automatic mode of the graph and a single stream exclude each other, whatever the mode.
// CHECK: ge_assign_streams_errors.mlir:[[# @LINE + 1]]:1: error: ge.autoMultistreamParallelMode = 'LoadBalance:8' conflicts with ge.enableSingleStream
ge.graph @main attributes {ge.auto_multistream_mode = "LoadBalance:8"} {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  %y = ge.op "Relu" (%x) attrs {_stream_label = "a"} {ge.name = "y"} : tensor<2xf32>
}
