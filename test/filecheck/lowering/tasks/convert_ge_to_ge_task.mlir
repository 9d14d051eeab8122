// RUN: ge-opt %s -p convert-ge-to-ge-task --split-input-file --verify-diagnostics | filecheck %s
// RUN: ge-opt %s -p 'convert-ge-to-ge-task{fusion-brackets=false}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix=BARE

// Header, buffers with roles, a no-task concat, an absent slot, a view of its own, cross-stream order, the end.
// CHECK-LABEL: ge_task.model @main streams 2 events 1 arenas {hbm = 2048, weight = 512} zero_copy 1536 {
// CHECK-NEXT:    %x = ge_task.buffer hbm at 1024 size 256 input 0 name "x" : tensor<2x64xf16>
// CHECK-NEXT:    [[NO:%.+]] = ge_task.absent
// CHECK-NEXT:    %a = ge_task.buffer hbm at 0 size 256 : tensor<2x64xf16>
// CHECK-NEXT:    %b = ge_task.buffer hbm at 256 size 256 : tensor<2x64xf16>
// CHECK-NEXT:    %c = ge_task.buffer hbm at 0 size 512 : tensor<4x64xf16>
// CHECK-NEXT:    [[VIEW:%.+]] = ge_task.buffer hbm at 0 size 512 : tensor<256xf16>
// CHECK-NEXT:    %d = ge_task.buffer hbm at 1536 size 512 output 1 name "second" : tensor<256xf16>
// CHECK-NEXT:    [[OUT:%.+]] = ge_task.buffer hbm at 0 size 512 output 0 name "first" : tensor<4x64xf16, #ge.desc<NCHW>>
// CHECK-NEXT:    ge_task.fusion_start stream 0 op 1 {ge.name = "a"}
// CHECK-NEXT:    ge_task.kernel "Clip"(%x, [[NO]], [[NO]]) -> (%a) engine "AIcoreEngine" kernel_type 2 stream 0 op 1 {ge.name = "a"}
// CHECK-NEXT:    ge_task.hccl "HcomAllReduce"(%x) -> (%b) engine "DNN_HCCL" attrs {reduction = "sum"} stream 1 op 2 {ge.name = "b"}
// CHECK-NEXT:    ge_task.event_record 0 stream 1 op 3 {ge.name = "send"}
// CHECK-NEXT:    ge_task.event_wait 0 stream 0 op 4 {ge.name = "recv"}
// CHECK-NEXT:    ge_task.virtual "ConcatD"(%a, %b) -> (%c) engine "AIcoreEngine" attrs {concat_dim = 0 : i64} op 5 tasks 1 bytes 512 {ge.name = "c"}
// CHECK-NEXT:    ge_task.kernel "Relu"([[VIEW]]) -> (%d) engine "AIcoreEngine" kernel_type 2 stream 0 op 6 {ge.name = "d"}
// CHECK-NEXT:    ge_task.fusion_end stream 0 op 6 {ge.name = "d"}
// CHECK-NEXT:    ge_task.end_graph stream 0 op 7 {ge.name = "out"}
// CHECK-NEXT:  }
// BARE-LABEL: ge_task.model @main
// BARE-NOT:     fusion_
// BARE:         ge_task.end_graph
ge.graph @main attributes {ge.arenas = {hbm = 2048, weight = 512}, ge.zero_copy_size = 1536, ge.stream_num = 2} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 1024>} : tensor<2x64xf16>
  %no = ge.absent
  %a = ge.op "Clip" (%x, %no, %no) {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 0>} : tensor<2x64xf16>
  %b, %b_ctl = ge.op "HcomAllReduce" (%x) attrs {reduction = "sum"} {ge.name = "b", ge.engine = "DNN_HCCL", ge.stream = 1, ge.offsets = array<i64: 256>} : tensor<2x64xf16>, !ge.control
  ge.send (%b_ctl) event_id 0 {ge.name = "send", ge.stream = 1}
  %r = ge.recv event_id 0 {ge.name = "recv", ge.stream = 0} : !ge.control
  %c = ge.concat (%a, %b, %r) concat_dim 0 {ge.name = "c", ge.no_task, ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 0>} : tensor<4x64xf16>
  %d = ge.op "Relu" (%c) {ge.name = "d", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 1536>, ge.arg_attrs = [{type = tensor<256xf16>}]} : tensor<256xf16>
  ge.net_output (%c, %d) {ge.name = "out", ge.stream = 0, ge.output_names = ["first", "second"], ge.arg_attrs = [{type = tensor<4x64xf16, #ge.desc<NCHW>>}, {}]}
}

// -----

// Weights keep their bytes; Identity is a copy, of a weight, of an input and, in two outputs, of one value; Unsqueeze only renames.
// CHECK-LABEL: ge_task.model @copies streams 1 arenas {hbm = 1032, weight = 8} {
// CHECK-NEXT:    %x = ge_task.buffer hbm at 0 size 8 input 0 name "x" : tensor<2xf32>
// CHECK-NEXT:    %w = ge_task.buffer weight at 0 size 8 value dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32> : tensor<2xf32>
// CHECK-NEXT:    %i = ge_task.buffer hbm at 512 size 8 output 0 : tensor<2xf32>
// CHECK-NEXT:    %r = ge_task.buffer hbm at 0 size 8 : tensor<1x2xf32>
// CHECK-NEXT:    %j = ge_task.buffer hbm at 1024 size 8 : tensor<1x2xf32>
// CHECK-NEXT:    [[AGAIN:%.+]] = ge_task.buffer hbm at 512 size 8 output 1 : tensor<2xf32>
// CHECK-NEXT:    [[INPUT:%.+]] = ge_task.buffer hbm at 0 size 8 output 2 : tensor<2xf32>
// CHECK-NEXT:    ge_task.memcpy_async(%w) -> (%i) count 8 type "Identity" stream 0 op 2 {ge.name = "i"}
// CHECK-NEXT:    ge_task.memcpy_async(%r) -> (%j) count 8 type "Identity" stream 0 op 4 {ge.name = "j"}
// CHECK-NEXT:    ge_task.end_graph stream 0 op 5 {ge.name = "out"}
ge.graph @copies {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<2xf32>
  %w = ge.constant value dense<[1.0, 2.0]> : tensor<2xf32> {ge.name = "w", ge.offsets = array<i64: 0>, ge.spaces = ["weight"]} : tensor<2xf32>
  %i = ge.op "Identity" (%w) {ge.name = "i", ge.engine = "DNN_VM_RTS", ge.stream = 0, ge.offsets = array<i64: 512>} : tensor<2xf32>
  %r = ge.op "Unsqueeze" (%x) attrs {axes = array<i64: 0>} {ge.name = "r", ge.engine = "DNN_VM_GE_LOCAL", ge.offsets = array<i64: 0>} : tensor<1x2xf32>
  %j = ge.op "Identity" (%r) {ge.name = "j", ge.engine = "DNN_VM_RTS", ge.stream = 0, ge.offsets = array<i64: 1024>} : tensor<1x2xf32>
  ge.net_output (%i, %i, %x) {ge.name = "out", ge.stream = 0}
}

// -----

// Brackets: one pair a segment and kernel lib; labels and stream switches cut and belong to none; other streams do not.
// CHECK-LABEL: ge_task.model @segments streams 2 labels 1 arenas {hbm = 2048} {
// CHECK:         ge_task.fusion_start stream 0 op 1 {ge.name = "a"}
// CHECK-NEXT:    ge_task.kernel "Relu"{{.*}} stream 0 op 1 {ge.name = "a"}
// CHECK-NEXT:    ge_task.kernel "Abs"{{.*}} kernel_type 6 stream 0 op 2 {ge.name = "cpu"}
// CHECK-NEXT:    ge_task.kernel "Relu"{{.*}} stream 0 op 3 {ge.name = "b"}
// CHECK-NEXT:    ge_task.fusion_end stream 0 op 3 {ge.name = "b"}
// CHECK-NEXT:    ge_task.label_set 0 stream 0 op 4 {ge.name = "label"}
// CHECK-NEXT:    ge_task.fusion_start stream 0 op 5 {ge.name = "c"}
// CHECK-NEXT:    ge_task.kernel "Relu"{{.*}} stream 0 op 5 {ge.name = "c"}
// CHECK-NEXT:    ge_task.fusion_end stream 0 op 5 {ge.name = "c"}
// CHECK-NEXT:    ge_task.stream_label_goto 0 stream 0 op 6 {ge.name = "goto"}
// CHECK-NEXT:    ge_task.fusion_start stream 1 op 7 {ge.name = "d"}
// CHECK-NEXT:    ge_task.kernel "Relu"{{.*}} stream 1 op 7 {ge.name = "d"}
// CHECK-NEXT:    ge_task.fusion_end stream 1 op 7 {ge.name = "d"}
// CHECK-NEXT:    ge_task.end_graph
// BARE-LABEL: ge_task.model @segments
// BARE:         ge_task.kernel "Relu"{{.*}} op 1
// BARE-NEXT:    ge_task.kernel "Abs"
ge.graph @segments {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<128xf32>
  %a = ge.op "Relu" (%x) {ge.name = "a", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 512>} : tensor<128xf32>
  %cpu = ge.op "Abs" (%a) {ge.name = "cpu", ge.engine = "DNN_VM_AICPU_ASCEND", ge.stream = 0, ge.offsets = array<i64: 1024>} : tensor<128xf32>
  %b = ge.op "Relu" (%cpu) {ge.name = "b", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 512>} : tensor<128xf32>
  ge.label_set label_index 0 {ge.name = "label", ge.stream = 0}
  %c = ge.op "Relu" (%b) {ge.name = "c", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 1024>} : tensor<128xf32>
  ge.label_goto label_index 0 {ge.name = "goto", ge.stream = 0}
  %d = ge.op "Relu" (%x) {ge.name = "d", ge.engine = "AIcoreEngine", ge.stream = 1, ge.offsets = array<i64: 1536>} : tensor<128xf32>
  ge.net_output (%c, %d) {ge.name = "out", ge.stream = 0}
}

// -----

// The other kinds of section 1.1. The header counts what the tasks use, or more where the graph says so.
// CHECK-LABEL: ge_task.model @kinds streams 4 events 3 notifies 4 labels 2 arenas {hbm = 4096} {
// CHECK:         ge_task.kernel_ex "Tf"(%x) -> (%tf) workspace ({{%.+}}) engine "DNN_VM_AICPU" stream 0 op 2 {ge.name = "tf"}
// CHECK-NEXT:    ge_task.dvpp "Decode"
// CHECK-NEXT:    ge_task.dsa "DSARandomUniform"
// CHECK-NEXT:    ge_task.custom_kernel "Mine"
// CHECK-NEXT:    ge_task.fusion_start
// CHECK-NEXT:    ge_task.kernel_with_handle "Big"
// CHECK-NEXT:    ge_task.notify_record 3 stream 0 op 7
// CHECK-NEXT:    ge_task.notify_wait 3 stream 1 op 8
// CHECK-NEXT:    ge_task.mem_event_record 5 stream 0 op 9
// CHECK-NEXT:    ge_task.mem_event_wait 5 stream 1 op 10
// CHECK-NEXT:    ge_task.stream_active 1 stream 0 op 11
// CHECK-NEXT:    ge_task.stream_active 2 stream 0 op 11
// CHECK-NEXT:    ge_task.memcpy_async([[FROM:%.+]]) -> ([[TO:%.+]]) count 256 kind 1 type "MemcpyAsync" stream 0 op 12
// CHECK-NEXT:    ge_task.memcpy_addr_async(%x) -> (%adr) count 512 type "MemcpyAddrAsync" stream 0 op 13
// CHECK-NEXT:    ge_task.memcpy_async(%adr) -> (%mg) count 512 type "StreamMerge" stream 0 op 14
// CHECK-NEXT:    ge_task.npu_get_float_status() -> (%st) type "NPUGetFloatStatus" stream 0 op 15
// CHECK-NEXT:    ge_task.npu_clear_float_status() -> () type "NPUClearFloatStatusV2" stream 0 op 16
// CHECK-NEXT:    ge_task.notify_record 0 stream 0 op 17
// CHECK-NEXT:    ge_task.kernel "Mix"{{.*}} stream 0 op 17
// CHECK-NEXT:    ge_task.notify_wait 0 stream 1 op 17
// CHECK-NEXT:    ge_task.vector_kernel "Mix"{{.*}} stream 1 op 17
// CHECK-NEXT:    ge_task.notify_record 1 stream 1 op 17
// CHECK-NEXT:    ge_task.notify_wait 1 stream 0 op 17
// CHECK-NEXT:    ge_task.fusion_end
// CHECK-NEXT:    ge_task.stream_switch(%n, %n) condition 4 data_type 1 true_stream 3 stream 0 op 18
// CHECK-NEXT:    ge_task.stream_switch_n(%n) targets [7, 8] true_streams [1, 2] stream 0 op 19
// CHECK-NEXT:    ge_task.label_set 0 stream 0 op 20
// CHECK-NEXT:    ge_task.label_set 1 stream 0 op 21
// CHECK-NEXT:    ge_task.stream_label_switch_by_index(%k) labels [0, 1] stream 0 op 23
// CHECK-NEXT:    ge_task.model_exit stream 0 op 24
// CHECK-NEXT:    ge_task.end_graph stream 0 op 99
ge.graph @kinds attributes {ge.event_num = 3} {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<128xf32>
  %n = ge.data index 1 {ge.name = "n", ge.offsets = array<i64: 512>} : tensor<1xi64>
  %tf = ge.op "Tf" (%x) {ge.name = "tf", ge.engine = "DNN_VM_AICPU", ge.stream = 0, ge.offsets = array<i64: 1024>, ge.workspace_offsets = array<i64: 3584>, ge.workspace_bytes = array<i64: 512>} : tensor<128xf32>
  %dv = ge.op "Decode" (%x) {ge.name = "dv", ge.engine = "DNN_VM_DVPP", ge.stream = 0, ge.offsets = array<i64: 1536>} : tensor<128xf32>
  %ds = ge.op "DSARandomUniform" (%x) {ge.name = "ds", ge.engine = "DSAEngine", ge.stream = 0, ge.offsets = array<i64: 2048>} : tensor<128xf32>
  %cu = ge.op "Mine" (%x) {ge.name = "cu", ge.engine = "DNN_VM_CUSTOM", ge.stream = 0, ge.offsets = array<i64: 2560>} : tensor<128xf32>
  %big = ge.op "Big" (%x) attrs {_kernel_list_first_name = "big_0"} {ge.name = "big", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 3072>} : tensor<128xf32>
  ge.send_notify notify_id 3 {ge.name = "sn", ge.stream = 0}
  ge.recv_notify notify_id 3 {ge.name = "rn", ge.stream = 1}
  ge.op "SendMem" attrs {event_id = 5} {ge.name = "sm", ge.stream = 0}
  ge.op "RecvMem" attrs {event_id = 5} {ge.name = "rm", ge.stream = 1}
  ge.stream_active active_stream_list [1, 2] {ge.name = "sa", ge.stream = 0}
  %part = ge.op "MemcpyAsync" (%x) attrs {_rt_memcpy_kind = 6} {ge.name = "part", ge.stream = 0, ge.offsets = array<i64: 1024>, ge.res_attrs = [{size = 256}]} : tensor<128xf32>
  %adr = ge.op "MemcpyAddrAsync" (%x) {ge.name = "adr", ge.stream = 0, ge.offsets = array<i64: 1536>} : tensor<128xf32>
  %mg = ge.op "StreamMerge" (%adr, %part) {ge.name = "mg", ge.stream = 0, ge.offsets = array<i64: 2048>} : tensor<128xf32>
  %st = ge.op "NPUGetFloatStatus" {ge.name = "st", ge.stream = 0, ge.offsets = array<i64: 2560>} : tensor<8xf32>
  ge.op "NPUClearFloatStatusV2" {ge.name = "cl", ge.stream = 0}
  %mix = ge.op "Mix" (%x) attrs {notify_id = array<i64: 0, 1>, _attached_stream_id = 1} {ge.name = "mix", ge.engine = "AIcoreEngine", ge.stream = 0, ge.offsets = array<i64: 3072>} : tensor<128xf32>
  ge.stream_switch (%n, %n) active_stream_list [3] switch_condition 4 switch_data_type 1 {ge.name = "sw", ge.stream = 0}
  ge.op "StreamSwitchN" (%n) attrs {_batch_num = 2, _pred_value_0 = array<i64: 7>, _pred_value_1 = array<i64: 8>, active_stream_list = array<i64: 1, 2>} {ge.name = "swn", ge.stream = 0}
  ge.label_set label_index 0 {ge.name = "l0", ge.stream = 0}
  ge.label_set label_index 1 {ge.name = "l1", ge.stream = 0}
  %k = ge.data index 2 {ge.name = "k", ge.offsets = array<i64: 600>} : tensor<1xi32>
  ge.label_switch (%k) label_list [0, 1] {ge.name = "ls", ge.stream = 0}
  ge.op "ModelExit" {ge.name = "exit", ge.stream = 0}
  ge.net_output (%x) {ge.name = "out", ge.id = 99, ge.stream = 0}
}

// -----

// What must be gone by now.
ge.graph @gone {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<128xf32>
  // expected-error @below {{node "s" of type Shape should be gone before task generation: fold or replace it (ge-canonicalize)}}
  %s = ge.op "Shape" (%x) attrs {dtype = 9} {ge.name = "s", ge.engine = "DNN_VM_GE_LOCAL", ge.offsets = array<i64: 512>} : tensor<1xi64>
  ge.net_output (%s) {ge.name = "out", ge.stream = 0}
}

// -----

ge.graph @refused {
  ge.label_set label_index 0 {ge.name = "l", ge.stream = 0}
  // expected-error @below {{node "g" of type LabelGoto has no task: task generation for it is not supported}}
  ge.label_goto "LabelGoto" label_index 0 {ge.name = "g", ge.stream = 0}
}

// -----

ge.graph @unplaced {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<128xf32>
  // expected-error @below {{node "r" of type Relu has no engine: run ge-assign-engines first}}
  %r = ge.op "Relu" (%x) {ge.name = "r", ge.stream = 0, ge.offsets = array<i64: 512>} : tensor<128xf32>
}

// -----

ge.graph @unplanned {
  %x = ge.data index 0 {ge.name = "x", ge.offsets = array<i64: 0>} : tensor<128xf32>
  // expected-error @below {{node "r" of type Relu has no ge.offsets: run ge-plan-memory first}}
  %r = ge.op "Relu" (%x) {ge.name = "r", ge.engine = "AIcoreEngine", ge.stream = 0} : tensor<128xf32>
}
