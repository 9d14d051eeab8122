// The examples of the reference's documentation down to the task list: concat and split make no task, and addresses show it.
// RUN: ge-opt %s --split-input-file --semantics=off -p ge-assign-engines,ge-mark-phony,ge-concat-no-task,ge-pack-no-task,ge-split-no-task,ge-insert-identity,ge-topo-sort,ge-assign-streams,ge-plan-memory,convert-ge-to-ge-task | filecheck %s
// Tests AllGather -> ConcatD (ND): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_concat_nd
// CHECK: %a = ge_task.buffer hbm at 0 size 2048
// CHECK: %b = ge_task.buffer hbm at 2048 size 2048
// CHECK: %c = ge_task.buffer hbm at 0 size 4096 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%a, %b) -> (%c) {{.*}} tasks 1 bytes 4096 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_concat_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x64xf16>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x64xf16>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x64xf16>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<32x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests AllGather -> Reshape -> ConcatD (ND): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_reshape_concat_nd
// CHECK: %a = ge_task.buffer hbm at 0 size 2048
// CHECK: %b = ge_task.buffer hbm at 2048 size 2048
// CHECK: %c = ge_task.buffer hbm at 0 size 4096 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%r, %b) -> (%c) {{.*}} tasks 1 bytes 4096 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_reshape_concat_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x64xf16>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x64xf16>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x64xf16>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<16x64xf16>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x64xf16>
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<32x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests Split -> Relu x 3 -> Concat (ND): three tasks, each from its part of the input to its part of the output.
// CHECK-LABEL: ge_task.model @split_relu_concat_nd
// CHECK: %x = ge_task.buffer hbm at 1024 size 768 input 0
// CHECK: %s0 = ge_task.buffer hbm at 1024 size 256
// CHECK: %s1 = ge_task.buffer hbm at 1280 size 256
// CHECK: %s2 = ge_task.buffer hbm at 1536 size 256
// CHECK-DAG: %r0 = ge_task.buffer hbm at 0 size 256
// CHECK-DAG: %r1 = ge_task.buffer hbm at 256 size 256
// CHECK-DAG: %r2 = ge_task.buffer hbm at 512 size 256
// CHECK: ge_task.virtual "SplitD"(%x) -> (%s0, %s1, %s2)
// CHECK: ge_task.kernel "Relu"(%s0) -> (%r0)
// CHECK: ge_task.kernel "Relu"(%s1) -> (%r1)
// CHECK: ge_task.kernel "Relu"(%s2) -> (%r2)
// CHECK-NOT: ge_task.kernel "ConcatD"
// CHECK: ge_task.virtual "ConcatD"(%r0, %r1, %r2) -> (%c) {{.*}} tasks 1 bytes 768 {ge.name = "c"}
ge.graph @split_relu_concat_nd {
  %x = ge.data index 0 {ge.name = "x"} : tensor<6x64xf16>
  %s0, %s1, %s2 = ge.split (%x) split_dim 0 num_split 3 {ge.name = "s"} : tensor<2x64xf16>, tensor<2x64xf16>, tensor<2x64xf16>
  %r0 = ge.op "Relu" (%s0) {ge.name = "r0"} : tensor<2x64xf16>
  %r1 = ge.op "Relu" (%s1) {ge.name = "r1"} : tensor<2x64xf16>
  %r2 = ge.op "Relu" (%s2) {ge.name = "r2"} : tensor<2x64xf16>
  %c = ge.concat (%r0, %r1, %r2) concat_dim 0 {ge.name = "c"} : tensor<6x64xf16>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests AllGather -> ConcatD (NCHW): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_concat_nchw
// CHECK: %a = ge_task.buffer hbm at 0 size 8192
// CHECK: %b = ge_task.buffer hbm at 8192 size 8192
// CHECK: %c = ge_task.buffer hbm at 0 size 16384 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%a, %b) -> (%c) {{.*}} tasks 1 bytes 16384 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_concat_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x16x4x4xf16, #ge.desc<NCHW>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x16x4x4xf16, #ge.desc<NCHW>>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<32x16x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests AllGather -> Reshape -> ConcatD (NCHW): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_reshape_concat_nchw
// CHECK: %a = ge_task.buffer hbm at 0 size 8192
// CHECK: %b = ge_task.buffer hbm at 8192 size 8192
// CHECK: %c = ge_task.buffer hbm at 0 size 16384 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%r, %b) -> (%c) {{.*}} tasks 1 bytes 16384 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_reshape_concat_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x16x4x4xf16, #ge.desc<NCHW>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x16x4x4xf16, #ge.desc<NCHW>>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x16x4x4xf16, #ge.desc<NCHW>>
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<32x16x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests Split -> Relu x 3 -> Concat (NCHW): three tasks, each from its part of the input to its part of the output.
// CHECK-LABEL: ge_task.model @split_relu_concat_nchw
// CHECK: %x = ge_task.buffer hbm at 2048 size 1536 input 0
// CHECK: %s0 = ge_task.buffer hbm at 2048 size 512
// CHECK: %s1 = ge_task.buffer hbm at 2560 size 512
// CHECK: %s2 = ge_task.buffer hbm at 3072 size 512
// CHECK-DAG: %r0 = ge_task.buffer hbm at 0 size 512
// CHECK-DAG: %r1 = ge_task.buffer hbm at 512 size 512
// CHECK-DAG: %r2 = ge_task.buffer hbm at 1024 size 512
// CHECK: ge_task.virtual "SplitD"(%x) -> (%s0, %s1, %s2)
// CHECK: ge_task.kernel "Relu"(%s0) -> (%r0)
// CHECK: ge_task.kernel "Relu"(%s1) -> (%r1)
// CHECK: ge_task.kernel "Relu"(%s2) -> (%r2)
// CHECK-NOT: ge_task.kernel "ConcatD"
// CHECK: ge_task.virtual "ConcatD"(%r0, %r1, %r2) -> (%c) {{.*}} tasks 1 bytes 1536 {ge.name = "c"}
ge.graph @split_relu_concat_nchw {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x48x4x4xf16, #ge.desc<NCHW>>
  %s0, %s1, %s2 = ge.split (%x) split_dim 1 num_split 3 {ge.name = "s"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>, tensor<1x16x4x4xf16, #ge.desc<NCHW>>, tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %r0 = ge.op "Relu" (%s0) {ge.name = "r0"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %r1 = ge.op "Relu" (%s1) {ge.name = "r1"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %r2 = ge.op "Relu" (%s2) {ge.name = "r2"} : tensor<1x16x4x4xf16, #ge.desc<NCHW>>
  %c = ge.concat (%r0, %r1, %r2) concat_dim 1 {ge.name = "c"} : tensor<1x48x4x4xf16, #ge.desc<NCHW>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests AllGather -> ConcatD (NC1HWC0): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_concat_nc1hwc0
// CHECK: %a = ge_task.buffer hbm at 0 size 8192
// CHECK: %b = ge_task.buffer hbm at 8192 size 8192
// CHECK: %c = ge_task.buffer hbm at 0 size 16384 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%a, %b) -> (%c) {{.*}} tasks 1 bytes 16384 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_concat_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [2, 16, 4, 4]>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [2, 16, 4, 4]>>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  %c = ge.concat (%a, %b) concat_dim 0 {ge.name = "c"} : tensor<32x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [32, 16, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests AllGather -> Reshape -> ConcatD (NC1HWC0): the gathers write side by side.
// CHECK-LABEL: ge_task.model @gather_reshape_concat_nc1hwc0
// CHECK: %a = ge_task.buffer hbm at 0 size 8192
// CHECK: %b = ge_task.buffer hbm at 8192 size 8192
// CHECK: %c = ge_task.buffer hbm at 0 size 16384 output 0
// CHECK: ge_task.hccl "HcomAllGather"(%x) -> (%a)
// CHECK-NEXT: ge_task.hccl "HcomAllGather"(%y) -> (%b)
// CHECK-NEXT: ge_task.virtual "ConcatD"(%r, %b) -> (%c) {{.*}} tasks 1 bytes 16384 {ge.name = "c"}
// CHECK-NEXT: ge_task.end_graph
ge.graph @gather_reshape_concat_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [2, 16, 4, 4]>>
  %y = ge.data index 1 {ge.name = "y"} : tensor<2x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [2, 16, 4, 4]>>
  %a = ge.op "HcomAllGather" (%x) attrs {rank_size = 8 : i64} {ge.name = "a"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  %r = ge.op "Reshape" (%a) {ge.name = "r"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  %b = ge.op "HcomAllGather" (%y) attrs {rank_size = 8 : i64} {ge.name = "b"} : tensor<16x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [16, 16, 4, 4]>>
  %c = ge.concat (%r, %b) concat_dim 0 {ge.name = "c"} : tensor<32x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [32, 16, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}

// -----

// Tests Split -> Relu x 3 -> Concat (NC1HWC0): three tasks, each from its part of the input to its part of the output.
// CHECK-LABEL: ge_task.model @split_relu_concat_nc1hwc0
// CHECK: %x = ge_task.buffer hbm at 2048 size 1536 input 0
// CHECK: %s0 = ge_task.buffer hbm at 2048 size 512
// CHECK: %s1 = ge_task.buffer hbm at 2560 size 512
// CHECK: %s2 = ge_task.buffer hbm at 3072 size 512
// CHECK-DAG: %r0 = ge_task.buffer hbm at 0 size 512
// CHECK-DAG: %r1 = ge_task.buffer hbm at 512 size 512
// CHECK-DAG: %r2 = ge_task.buffer hbm at 1024 size 512
// CHECK: ge_task.virtual "SplitD"(%x) -> (%s0, %s1, %s2)
// CHECK: ge_task.kernel "Relu"(%s0) -> (%r0)
// CHECK: ge_task.kernel "Relu"(%s1) -> (%r1)
// CHECK: ge_task.kernel "Relu"(%s2) -> (%r2)
// CHECK-NOT: ge_task.kernel "ConcatD"
// CHECK: ge_task.virtual "ConcatD"(%r0, %r1, %r2) -> (%c) {{.*}} tasks 1 bytes 1536 {ge.name = "c"}
ge.graph @split_relu_concat_nc1hwc0 {
  %x = ge.data index 0 {ge.name = "x"} : tensor<1x3x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 48, 4, 4]>>
  %s0, %s1, %s2 = ge.split (%x) split_dim 1 num_split 3 {ge.name = "s"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>, tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>, tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %r0 = ge.op "Relu" (%s0) {ge.name = "r0"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %r1 = ge.op "Relu" (%s1) {ge.name = "r1"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %r2 = ge.op "Relu" (%s2) {ge.name = "r2"} : tensor<1x1x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 4, 4]>>
  %c = ge.concat (%r0, %r1, %r2) concat_dim 1 {ge.name = "c"} : tensor<1x3x4x4x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 48, 4, 4]>>
  ge.net_output (%c) {ge.name = "out"}
}
