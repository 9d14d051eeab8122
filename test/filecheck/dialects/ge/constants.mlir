// RUN: ge-opt %s | ge-opt | filecheck %s

// Tests that a constant's type is written once where it is its value's, and in full where it is not.
// CHECK-LABEL: ge.graph @types
ge.graph @types {
  // CHECK-NEXT: %a = ge.constant value dense<1> : tensor<2xi64> {ge.name = "a"}{{$}}
  %a = ge.constant value dense<1> : tensor<2xi64> {ge.name = "a"} : tensor<2xi64>
  // CHECK-NEXT: %b = ge.constant value dense<1> : tensor<2xi64> {ge.name = "b"}{{$}}
  %b = ge.constant value dense<1> : tensor<2xi64> {ge.name = "b"}
  // CHECK-NEXT: %c = ge.constant value dense_resource<__elided__> : tensor<200xi64> {ge.name = "c"}{{$}}
  %c = ge.constant value dense_resource<__elided__> : tensor<200xi64> {ge.name = "c"}
  // CHECK-NEXT: %d, %t = ge.constant value dense<1> : tensor<2xi64> {ge.name = "d"} : tensor<2xi64>, !ge.control
  %d, %t = ge.constant value dense<1> : tensor<2xi64> {ge.name = "d"} : tensor<2xi64>, !ge.control
  // CHECK-NEXT: %e = ge.constant value #ge.external<"w", offset = 0, size = 16> {ge.name = "e"} : tensor<2xi64>
  %e = ge.constant value #ge.external<"w", offset = 0, size = 16> {ge.name = "e"} : tensor<2xi64>
  // CHECK-NEXT: %f = ge.constant value dense<1> : tensor<1xi64> {ge.name = "f"} : tensor<1xi64, #ge.desc<NCHW>>
  %f = ge.constant value dense<1> : tensor<1xi64> {ge.name = "f"} : tensor<1xi64, #ge.desc<NCHW>>
  // CHECK-NEXT: ge.constant value dense<1> : tensor<2xi64> {ge.name = "g"} : ()
  ge.constant value dense<1> : tensor<2xi64> {ge.name = "g"} : ()
}
