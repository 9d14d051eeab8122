// Constants of more than 256 bytes are left out of the text unless they are asked for; the rest parses again.
// RUN: ge-opt %s | filecheck %s
// RUN: ge-opt %s | ge-opt | filecheck %s
// RUN: ge-opt %s --weights=inline | filecheck %s --check-prefix=INLINE
// RUN: ge-opt %s --weights=inline | ge-opt -t 'mlir{weights=inline}' | filecheck %s --check-prefix=INLINE
// RUN: ge-opt %s --verify-roundtrip | filecheck %s

// CHECK: dense<[0, 1, 2, 3]> : tensor<4xi32>
// INLINE: dense<[0, 1, 2, 3]> : tensor<4xi32>
%small = arith.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
// CHECK: dense<7> : tensor<64xi32>
%limit = arith.constant dense<7> : tensor<64xi32>
// CHECK: dense_resource<__elided__> : tensor<65xi32>
// INLINE: dense<9> : tensor<65xi32>
%large = arith.constant dense<9> : tensor<65xi32>
