// RUN: ge-opt %s --split-input-file -p ge-insert-identity | filecheck %s
// RUN: ge-opt %s --split-input-file -p ge-insert-identity --remarks 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// Tests that of two runs which want one tensor at different places the second gets a copy.
// REMARK: [ge-insert-identity] passed: copied: input 1 of "p" wants its inputs end to end without padding, input 1 of "q"
// CHECK-LABEL: ge.graph @two_runs
ge.graph @two_runs {
  %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<8xf32>
  %c = ge.op "Foo" {ge.name = "c"} : tensor<8xf32>
  // CHECK: ge.concat "PhonyConcat" (%{{.*}}, %[[B:.*]]) {{.*}}ge.name = "p"
  %p = ge.concat "PhonyConcat" (%a, %b) {ge.name = "p", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
  // CHECK-NEXT: %[[I:.*]] = ge.op "Identity" (%[[B]]) {ge.name = "identity_1_q_MemLayoutConflict_0", {{.*}}ge.keep} : tensor<8xf32>
  // CHECK-NEXT: ge.concat "PhonyConcat" (%{{.*}}, %[[I]]) {{.*}}ge.name = "q"
  %q = ge.concat "PhonyConcat" (%c, %b) {ge.name = "q", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
}

// -----

// Tests that a run whose inputs are a part of another's needs no copy: both lie in one piece of memory.
// CHECK-LABEL: ge.graph @part
// CHECK-NOT: Identity
ge.graph @part {
  %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
  %b = ge.op "Foo" {ge.name = "b"} : tensor<8xf32>
  %c = ge.op "Foo" {ge.name = "c"} : tensor<8xf32>
  %p = ge.concat "PhonyConcat" (%a, %b, %c) {ge.name = "p", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<24xf32>
  %q = ge.concat "PhonyConcat" (%b, %c) {ge.name = "q", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
}

// -----

// Tests that a model input that is part of a run is copied, behind the input and for all its readers.
// CHECK-LABEL: ge.graph @model_input
ge.graph @model_input {
  // CHECK: %[[X:.*]] = ge.data
  %x = ge.data index 0 {ge.name = "x"} : tensor<8xf32>
  %a = ge.op "Foo" {ge.name = "a"} : tensor<8xf32>
  // CHECK: %[[I:.*]] = ge.op "Identity" (%[[X]])
  // CHECK-NEXT: ge.op "Foo" (%[[I]]) {ge.name = "b"}
  %b = ge.op "Foo" (%x) {ge.name = "b"} : tensor<8xf32>
  // CHECK-NEXT: ge.concat "PhonyConcat" (%[[I]], %{{.*}})
  %p = ge.concat "PhonyConcat" (%x, %a) {ge.name = "p", ge.no_task, ge.no_padding_continuous_input, ge.output_reuse_input, ge.reuse_input_on_dim_index = 0 : i64} : tensor<16xf32>
}
