// RUN: ge-opt %s -p ge-transfer-stream-labels | filecheck %s

ge.graph @main {
  %x = ge.data index 0 {ge.name = "x"} : tensor<2xf32>
  // Tests that the user's label becomes the label, also over another one.
  // CHECK: "Relu" {{.*}}attrs {_user_stream_label = "u", _stream_label = "u"}
  %a = ge.op "Relu" (%x) attrs {_user_stream_label = "u"} {ge.name = "a"} : tensor<2xf32>
  // CHECK: "Relu" {{.*}}attrs {_user_stream_label = "u", _stream_label = "u"}
  %b = ge.op "Relu" (%x) attrs {_user_stream_label = "u", _stream_label = "i"} {ge.name = "b"} : tensor<2xf32>
  // Tests that with inner parallelism both labels count.
  // CHECK: "Relu" {{.*}}attrs {_user_stream_label = "u_i", _stream_label = "u_i", _enable_inner_parallel = true}
  %c = ge.op "Relu" (%x) attrs {_user_stream_label = "u", _stream_label = "i", _enable_inner_parallel = true} {ge.name = "c"} : tensor<2xf32>
  // Tests that a label of the compiler stays where the user said nothing.
  // CHECK: "Relu" {{.*}}attrs {_stream_label = "i"}
  %d = ge.op "Relu" (%x) attrs {_stream_label = "i"} {ge.name = "d"} : tensor<2xf32>
}
