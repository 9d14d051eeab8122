// RUN: ge-opt %s --split-input-file --verify-diagnostics | filecheck %s

ge.graph @f {
  // CHECK: 'ge.op' needs the property 'type', the GE operator type
  %x = ge.op : tensor<1xf32>
}

// -----

ge.graph @f {
  // CHECK: 'ge.concat' cannot have type "Relu", expected one of ConcatD, Concat, ConcatV2, ConcatV2D, PhonyConcat
  %x = ge.concat "Relu" : tensor<1xf32>
}

// -----

ge.graph @f {
  %c = ge.recv event_id 0 : !ge.control
  %x = ge.data index 0 : tensor<1xf32>
  // CHECK: 'ge.op' operand #1 is data behind a control operand; control operands come last
  ge.op "A" (%c, %x)
}

// -----

ge.graph @f {
  // CHECK: 'ge.op' result #0 is a control value but not the last result
  %c, %x = ge.op "A" : !ge.control, tensor<1xf32>
}

// -----

ge.graph @f {
  // CHECK: 'ge.op' source: not an operator of the form domain::op@version: 'Softmax'
  %x = ge.op "Softmax" source "Softmax" : tensor<1xf32>
}

// -----

// CHECK: 'ge.graph' has block arguments; graph inputs are ge.data nodes in its body
"ge.graph"() <{sym_name = "g"}> ({
^bb0(%x: tensor<1xf32>):
}) : () -> ()

// -----

ge.graph @f {
  // CHECK: value %y is used before it is defined; only the generic form may do so
  ge.op "A" (%y)
}

// -----

ge.graph @f {
  // CHECK: unknown key 'shape' in #ge.desc, expected origin, range, origin_range, memory or c0
  %x = ge.op "A" : tensor<1xf32, #ge.desc<ND, shape = [1]>>
}

// -----

ge.graph @f {
  %x = ge.data index 0 : tensor<1xf32>
  %t = ge.token %x : tensor<1xf32>
  // CHECK: 'ge.gate' result type tensor<2xf32> differs from its value's tensor<1xf32>
  %g = ge.gate %x (%t) : tensor<2xf32>
}
