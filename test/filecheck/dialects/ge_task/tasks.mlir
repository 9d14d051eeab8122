// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt %s --print-op-generic | ge-opt | filecheck %s
// RUN: ge-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// The example of two streams: a kernel, a collective, one event between them.
// CHECK-LABEL: ge_task.model @main streams 2 events 1 arenas {hbm = 1536, weight = 0} zero_copy 1536 {
// GENERIC-LABEL: "ge_task.model"() <{sym_name = "main", stream_num = 2 : i64, event_num = 1 : i64, arenas = {hbm = 1536 : i64, weight = 0 : i64}, zero_copy_size = 1536 : i64, notify_num = 0 : i64, label_num = 0 : i64}> ({
ge_task.model @main streams 2 events 1 arenas {hbm = 1536, weight = 0} zero_copy 1536 {
  // CHECK-NEXT: %x = ge_task.buffer hbm at 1024 size 256 input 0 name "x" : tensor<2x64xf16>
  // GENERIC-NEXT: %x = "ge_task.buffer"() <{space = "hbm", offset = 1024 : i64, size = 256 : i64, input = 0 : i64, name = "x"}> : () -> !ge_task.buffer<tensor<2x64xf16>>
  %x = ge_task.buffer hbm at 1024 size 256 input 0 name "x" : tensor<2x64xf16>
  // CHECK-NEXT: %a = ge_task.buffer hbm at 0 size 256 : tensor<2x64xf16>
  %a = ge_task.buffer hbm at 0 size 256 : tensor<2x64xf16>
  %b = ge_task.buffer hbm at 256 size 256 : tensor<2x64xf16>
  // CHECK: %c = ge_task.buffer hbm at 0 size 512 output 0 {ge.name = "c"} : tensor<4x64xf16>
  %c = ge_task.buffer hbm at 0 size 512 output 0 {ge.name = "c"} : tensor<4x64xf16>
  // CHECK-NEXT: %no = ge_task.absent
  %no = ge_task.absent
  // CHECK-NEXT: ge_task.kernel "Clip"(%x, %no, %no) -> (%a) engine "AIcoreEngine" stream 0 op 1 {ge.name = "a"}
  // GENERIC: "ge_task.kernel"(%x, %no, %no, %a) <{type = "Clip", operandSegmentSizes = array<i32: 3, 1, 0>, stream = 0 : i64, op_index = 1 : i64, engine = "AIcoreEngine"}> {ge.name = "a"} : (!ge_task.buffer<tensor<2x64xf16>>, none, none, !ge_task.buffer<tensor<2x64xf16>>) -> ()
  ge_task.kernel "Clip"(%x, %no, %no) -> (%a) stream 0 op 1 engine "AIcoreEngine" {ge.name = "a"}
  // CHECK-NEXT: ge_task.hccl "HcomAllReduce"(%x) -> (%b) attrs {reduction = "sum", group = "world"} stream 1 op 2
  ge_task.hccl "HcomAllReduce"(%x) -> (%b) attrs {reduction = "sum", group = "world"} stream 1 op 2
  // CHECK-NEXT: ge_task.event_record 0 stream 1 op 3 {ge.name = "main_Send_0"}
  // GENERIC: "ge_task.event_record"() <{event = 0 : i64, stream = 1 : i64, op_index = 3 : i64}> {ge.name = "main_Send_0"} : () -> ()
  ge_task.event_record 0 stream 1 op 3 {ge.name = "main_Send_0"}
  // CHECK-NEXT: ge_task.event_wait 0 stream 0 op 4
  ge_task.event_wait 0 stream 0 op 4
  // CHECK-NEXT: ge_task.end_graph stream 0 op 6
  ge_task.end_graph stream 0 op 6
}

// Every kind of task once, with all parts of its text.
// CHECK-LABEL: ge_task.model @kinds streams 3 events 2 notifies 2 labels 2 arenas {hbm = 128, weight = 8} huge_streams [1] notify_types [0, 1] header {core_type = "AiCore"} attributes {ge.note = "all"} {
ge_task.model @kinds streams 3 events 2 notifies 2 labels 2 arenas {hbm = 128, weight = 8} huge_streams [1] notify_types [0, 1] header {core_type = "AiCore"} attributes {ge.note = "all"} {
  // CHECK: %w = ge_task.buffer weight at 0 size 8 value dense<[1, 2]> : tensor<2xi32> : tensor<2xi32>
  %w = ge_task.buffer weight at 0 size 8 value dense<[1, 2]> : tensor<2xi32> : tensor<2xi32>
  %x = ge_task.buffer hbm at 0 size 8 : tensor<2xi32>
  %y = ge_task.buffer hbm at 32 size 8 : tensor<2xi32>
  %s = ge_task.buffer hbm at 64 size 16 : tensor<16xui8>
  // CHECK: ge_task.kernel "Add"(%w, %x) -> (%y) workspace (%s) source "ai.onnx::Add@14" kernel_type 2 block_dim 8 stream 0 op 0 sqe_num 2 payload {so_name = "a.so"}
  ge_task.kernel "Add"(%w, %x) -> (%y) workspace (%s) source "ai.onnx::Add@14" kernel_type 2 block_dim 8 stream 0 op 0 sqe_num 2 payload {so_name = "a.so"}
  // CHECK-NEXT: ge_task.event_record 0 stream 0
  ge_task.event_record 0 stream 0
  // CHECK-NEXT: ge_task.event_wait 0 stream 1
  ge_task.event_wait 0 stream 1
  // CHECK-NEXT: ge_task.fusion_start stream 0
  ge_task.fusion_start stream 0
  // CHECK-NEXT: ge_task.fusion_end stream 0
  ge_task.fusion_end stream 0
  // CHECK-NEXT: ge_task.kernel_ex "Abs"(%x) -> (%y) stream 0
  ge_task.kernel_ex "Abs"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.hccl "HcomSend"(%x) -> () stream 0
  ge_task.hccl "HcomSend"(%x) -> () stream 0
  // CHECK-NEXT: ge_task.stream_switch(%x, %y) condition 5 data_type 1 true_stream 2 stream 0 op 9
  ge_task.stream_switch(%x, %y) condition 5 data_type 1 true_stream 2 stream 0 op 9
  // CHECK-NEXT: ge_task.stream_active 1 stream 0
  ge_task.stream_active 1 stream 0
  // CHECK-NEXT: ge_task.label_set 0 stream 0
  ge_task.label_set 0 stream 0
  // CHECK-NEXT: ge_task.label_switch(%x) labels [0, 1] stream 0
  ge_task.label_switch(%x) labels [0, 1] stream 0
  // CHECK-NEXT: ge_task.label_goto 1 stream 0
  ge_task.label_goto 1 stream 0
  // CHECK-NEXT: ge_task.profiler_trace 4 notify stream 0 op 3
  ge_task.profiler_trace 4 notify stream 0 op 3
  // CHECK-NEXT: ge_task.memcpy_async(%x) -> (%y) count 8 kind 3 dst_max 8 type "Identity" stream 0
  ge_task.memcpy_async(%x) -> (%y) count 8 kind 3 dst_max 8 type "Identity" stream 0
  // CHECK-NEXT: ge_task.notify_record 0 stream 0
  ge_task.notify_record 0 stream 0
  // CHECK-NEXT: ge_task.notify_wait 4294967295 stream 0
  ge_task.notify_wait 4294967295 stream 0
  // CHECK-NEXT: ge_task.reduce_async(%x) -> (%y) count 8 stream 0
  ge_task.reduce_async(%x) -> (%y) count 8 stream 0
  // CHECK-NEXT: ge_task.rdma_send(%x) -> () stream 0
  ge_task.rdma_send(%x) -> () stream 0
  // CHECK-NEXT: ge_task.event_reset 0 stream 0
  ge_task.event_reset 0 stream 0
  // CHECK-NEXT: ge_task.stream_switch_n(%x) targets [1, 2, 3, 4] true_streams [1, 2] data_type 0 stream 0
  ge_task.stream_switch_n(%x) targets [1, 2, 3, 4] true_streams [1, 2] data_type 0 stream 0
  // CHECK-NEXT: ge_task.rdma_db_send() -> () stream 0
  ge_task.rdma_db_send() -> () stream 0
  // CHECK-NEXT: ge_task.memcpy_addr_async(%x) -> (%y) workspace (%s) count 8 stream 0
  ge_task.memcpy_addr_async(%x) -> (%y) workspace (%s) count 8 stream 0
  // CHECK-NEXT: ge_task.stream_label_switch_by_index(%x) labels [1] stream 0
  ge_task.stream_label_switch_by_index(%x) labels [1] stream 0
  // CHECK-NEXT: ge_task.stream_label_goto 1 stream 0
  ge_task.stream_label_goto 1 stream 0
  // CHECK-NEXT: ge_task.label_set 1 stream 0
  ge_task.label_set 1 stream 0
  // CHECK-NEXT: ge_task.model_exit stream 2
  ge_task.model_exit stream 2
  // CHECK-NEXT: ge_task.kernel_with_handle "Add"(%x, %x) -> (%y) stream 0
  ge_task.kernel_with_handle "Add"(%x, %x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.profiler_trace_ex 2 stream 0
  ge_task.profiler_trace_ex 2 stream 0
  // CHECK-NEXT: ge_task.ffts "P"() -> () stream 0
  ge_task.ffts "P"() -> () stream 0
  // CHECK-NEXT: ge_task.ffts_plus "P"() -> () stream 0
  ge_task.ffts_plus "P"() -> () stream 0
  // CHECK-NEXT: ge_task.dsa "DSARandomUniform"() -> (%y) stream 0
  ge_task.dsa "DSARandomUniform"() -> (%y) stream 0
  // CHECK-NEXT: ge_task.cmo(%x) -> () type "Cmo" attrs {kind = 1 : i64} stream 0
  ge_task.cmo(%x) -> () type "Cmo" attrs {kind = 1 : i64} stream 0
  // CHECK-NEXT: ge_task.barrier() -> () stream 0
  ge_task.barrier() -> () stream 0
  // CHECK-NEXT: ge_task.npu_get_float_status() -> (%y) stream 0
  ge_task.npu_get_float_status() -> (%y) stream 0
  // CHECK-NEXT: ge_task.npu_clear_float_status() -> () stream 0
  ge_task.npu_clear_float_status() -> () stream 0
  // CHECK-NEXT: ge_task.dvpp "DecodeJpeg"(%x) -> (%y) stream 0
  ge_task.dvpp "DecodeJpeg"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.npu_get_debug_float_status() -> (%y) stream 0
  ge_task.npu_get_debug_float_status() -> (%y) stream 0
  // CHECK-NEXT: ge_task.npu_clear_debug_float_status() -> () stream 0
  ge_task.npu_clear_debug_float_status() -> () stream 0
  // CHECK-NEXT: ge_task.cmo_addr(%x) -> () stream 0
  ge_task.cmo_addr(%x) -> () stream 0
  // CHECK-NEXT: ge_task.vector_kernel "M"(%x) -> (%y) stream 1
  ge_task.vector_kernel "M"(%x) -> (%y) stream 1
  // CHECK-NEXT: ge_task.vector_all_kernel "M"(%x) -> (%y) stream 1
  ge_task.vector_all_kernel "M"(%x) -> (%y) stream 1
  // CHECK-NEXT: ge_task.update() -> () stream 0
  ge_task.update() -> () stream 0
  // CHECK-NEXT: ge_task.nop stream 0
  ge_task.nop stream 0
  // CHECK-NEXT: ge_task.preprocess_kernel "M"(%x) -> (%y) stream 0
  ge_task.preprocess_kernel "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.super_kernel "M"(%x) -> (%y) stream 0
  ge_task.super_kernel "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.mem_event_record 7 stream 0
  ge_task.mem_event_record 7 stream 0
  // CHECK-NEXT: ge_task.mem_event_wait 7 stream 1
  ge_task.mem_event_wait 7 stream 1
  // CHECK-NEXT: ge_task.fusion_kernel "M"(%x) -> (%y) stream 0
  ge_task.fusion_kernel "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.kernel_launch_v2 "M"(%x) -> (%y) stream 0
  ge_task.kernel_launch_v2 "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.ccu_kernel "M"(%x) -> (%y) stream 0
  ge_task.ccu_kernel "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.custom_kernel "M"(%x) -> (%y) stream 0
  ge_task.custom_kernel "M"(%x) -> (%y) stream 0
  // CHECK-NEXT: ge_task.end_graph stream 0
  ge_task.end_graph stream 0
}

// A list with neither buffers nor tasks; counts of 0 are left out, but for the streams.
// CHECK-LABEL: ge_task.model @empty streams 0 {
// CHECK-NEXT: }
ge_task.model @empty {
}
