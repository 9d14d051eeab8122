// What ge-pack-no-task does otherwise than ge-concat-no-task: a node that it refuses, and one that it lets pass.
// Types are made up where a check asks for what operators never give, hence --semantics=off.
// RUN: ge-opt %s --split-input-file --verify-diagnostics --semantics=off -p ge-pack-no-task | filecheck %s

// Tests that an input which is locked by another pack rules the node out.
// CHECK-LABEL: ge.graph @pack_front_missed
ge.graph @pack_front_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  %d = ge.op "Relu" (%x) {ge.name = "d"} : tensor<2x64xf16>
  // expected-remark @+1 {{makes no task}}
  %first = ge.pack (%a, %b) axis 0 {ge.name = "first"} : tensor<2x2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": producer_output_locked: input 0: "b":0 is locked}}
  %c = ge.pack (%b, %d) axis 0 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that a new axis in front is contiguous, and that the lock of concats does not count.
// CHECK-LABEL: ge.graph @pack_front_passed
ge.graph @pack_front_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.res_attrs = [{concat_reusable = false}]} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.pack (%a, %b) axis 0 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that an input in an internal format rules the node out, even with axis 0.
// CHECK-LABEL: ge.graph @pack_format_missed
ge.graph @pack_format_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x2x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 32, 4, 4]>>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": pack_internal_format: input 0: stored as NC1HWC0}}
  %c = ge.pack (%a, %b) axis 0 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that FRACTAL_NZ does not.
// CHECK-LABEL: ge.graph @pack_format_passed
ge.graph @pack_format_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 64]>>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [32, 64]>>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.pack (%a, %b) axis 0 {ge.name = "c"} : tensor<2x4x2x16x16xf16, #ge.desc<FRACTAL_NZ, origin = ND [2, 32, 64]>>
}

// -----

// Tests that a negative axis counts from one behind the last.
// CHECK-LABEL: ge.graph @pack_range_missed
ge.graph @pack_range_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": dim_out_of_range: input 0: axis -1 of origin rank 2}}
  %c = ge.pack (%a, %b) axis -4 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that -3 is axis 0 of a matrix.
// CHECK-LABEL: ge.graph @pack_range_passed
ge.graph @pack_range_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.pack (%a, %b) axis -3 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that a new axis behind everything interleaves the inputs.
// CHECK-LABEL: ge.graph @pack_tail_missed
ge.graph @pack_tail_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": pack_tail_axis_interleaves: input 0: the new axis is behind [2, 64]}}
  %c = ge.pack (%a, %b) axis 2 {ge.name = "c"} : tensor<2x64x2xf16>
}

// -----

// Tests that it does not for an input of one element.
// CHECK-LABEL: ge.graph @pack_tail_passed
ge.graph @pack_tail_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x1xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x1xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.pack (%a) axis 2 {ge.name = "c"} : tensor<1x1x1xf16>
}

// -----

// Tests that a new axis in between is judged like a concat along it.
// CHECK-LABEL: ge.graph @pack_between_missed
ge.graph @pack_between_missed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<2x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<2x64xf16>
  // CHECK: {ge.name = "c"}
  // expected-remark @+1 {{missed: "c": front_dims_not_one: input 0: joins storage axis 1, in front of it is [2]}}
  %c = ge.pack (%a, %b) axis 1 {ge.name = "c"} : tensor<2x2x64xf16>
}

// -----

// Tests that it is free behind an axis of length 1.
// CHECK-LABEL: ge.graph @pack_between_passed
ge.graph @pack_between_passed {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x64xf16>
  %a = ge.op "Relu" (%x) {ge.name = "a"} : tensor<1x64xf16>
  %b = ge.op "Relu" (%x) {ge.name = "b"} : tensor<1x64xf16>
  // CHECK: ge.name = "c"{{.*}}ge.no_task
  // expected-remark @+1 {{makes no task}}
  %c = ge.pack (%a, %b) axis 1 {ge.name = "c"} : tensor<1x2x64xf16>
}
