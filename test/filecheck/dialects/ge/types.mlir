// RUN: ge-opt %s --split-input-file --verify-roundtrip | filecheck %s
// RUN: ge-opt %s --split-input-file --print-op-generic | ge-opt --split-input-file | filecheck %s

// Tests that descriptors keep every part, in a tensor's encoding and (for an unknown rank) in the slot's dictionary.

// CHECK-LABEL: ge.graph @desc
ge.graph @desc {
  // CHECK-NEXT: tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>
  %a = ge.op "A" : tensor<1x1x8x8x16xf16, #ge.desc<NC1HWC0, origin = NCHW [1, 16, 8, 8]>>
  // CHECK-NEXT: tensor<?x4xf32, #ge.desc<ND, origin = [-1, 4], range = {{\[\[}}1, 8], [4, 4]], origin_range = {{\[\[}}1, -1], [4, 4]], memory = L1, c0 = 16>>
  %b = ge.op "B" : tensor<?x4xf32, #ge.desc<ND, origin = [?, 4], range = [[1, 8], [4, 4]], origin_range = [[1, -1], [4, 4]], memory = L1, c0 = 16>>
  // CHECK-NEXT: {ge.res_attrs = [{desc = #ge.desc<NCHW>}]} : tensor<*xf32>
  %c = ge.op "C" {ge.res_attrs = [{desc = #ge.desc<NCHW>}]} : tensor<*xf32>
  // An input whose own descriptor differs from the type of the value wired to it.
  // CHECK-NEXT: ge.op "D" (%a) {ge.arg_attrs = [{type = tensor<1x16x8x8xf16, #ge.desc<NCHW>>}]} : tensor<1xf16>
  %d = ge.op "D" (%a) {ge.arg_attrs = [{type = tensor<1x16x8x8xf16, #ge.desc<NCHW>>}]} : tensor<1xf16>
}

// -----

// Tests the element types and values that builtin lacks.

// CHECK-LABEL: ge.graph @types
ge.graph @types {
  // CHECK-NEXT: tensor<2x!ge.string>, tensor<!ge.resource>, tensor<!ge.variant>, tensor<*x!ge.undefined>, tensor<4x!ge.hif8>, tensor<4x!ge.complex32>
  %a:6 = ge.op "A" : tensor<2x!ge.string>, tensor<!ge.resource>, tensor<!ge.variant>, tensor<*x!ge.undefined>, tensor<4x!ge.hif8>, tensor<4x!ge.complex32>
  // CHECK-NEXT: !ge.sequence<tensor<?xf32>>, !ge.optional<!ge.sequence<tensor<1xi64>>>, !ge.map<!ge.string, tensor<f32>>
  %b:3 = ge.op "B" : !ge.sequence<tensor<?xf32>>, !ge.optional<!ge.sequence<tensor<1xi64>>>, !ge.map<!ge.string, tensor<f32>>
  // CHECK-NEXT: tensor<1xui8>, tensor<1xf8E4M3FN>, tensor<1xbf16>, tensor<1xi4>, tensor<1xcomplex<f32>>
  %c:5 = ge.op "C" : tensor<1xui8>, tensor<1xf8E4M3FN>, tensor<1xbf16>, tensor<1xi4>, tensor<1xcomplex<f32>>
  // CHECK-NEXT: ge.constant value #ge.external<"w.bin", offset = 512, size = 16> : tensor<4xf32>
  %d = ge.constant value #ge.external<"w.bin", offset = 512, size = 16> : tensor<4xf32>
}
