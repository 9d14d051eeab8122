"""Tasks that compute: one op a kind, all of the same form.

`ge_task.kernel "Clip"(%x, %no, %no) -> (%a) stream 0 op 1 engine "AIcoreEngine" attrs {...}`
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from ge_dialect.dialects.ge_task.task import KernelTaskOp


@irdl_op_definition
class KernelOp(KernelTaskOp):
    """A kernel: AI Core and vector operators (kernel_type 2), AI CPU operators (6, custom 7)."""

    name = "ge_task.kernel"
    TASK_TYPE: ClassVar[int] = 0


@irdl_op_definition
class KernelExOp(KernelTaskOp):
    """A kernel of the TensorFlow AI CPU library."""

    name = "ge_task.kernel_ex"
    TASK_TYPE: ClassVar[int] = 5


@irdl_op_definition
class HcclOp(KernelTaskOp):
    """A collective over the ranks of `attrs.group`; the ranks meet by group and sequence number."""

    name = "ge_task.hccl"
    TASK_TYPE: ClassVar[int] = 6


@irdl_op_definition
class KernelWithHandleOp(KernelTaskOp):
    """A kernel with several variants behind one handle (ALL_KERNEL); the tiling key picks one."""

    name = "ge_task.kernel_with_handle"
    TASK_TYPE: ClassVar[int] = 26


@irdl_op_definition
class FftsOp(KernelTaskOp):
    """A sub-graph run by the task scheduler of the older FFTS mode. The static loader has no runner for it."""

    name = "ge_task.ffts"
    TASK_TYPE: ClassVar[int] = 28


@irdl_op_definition
class FftsPlusOp(KernelTaskOp):
    """A sub-graph run as one task by the FFTS+ scheduler, made by the node that calls it."""

    name = "ge_task.ffts_plus"
    TASK_TYPE: ClassVar[int] = 29


@irdl_op_definition
class DsaOp(KernelTaskOp):
    """A random number operator on the DSA engine."""

    name = "ge_task.dsa"
    TASK_TYPE: ClassVar[int] = 30


@irdl_op_definition
class DvppOp(KernelTaskOp):
    """An image or media operator on the DVPP engine."""

    name = "ge_task.dvpp"
    TASK_TYPE: ClassVar[int] = 35


@irdl_op_definition
class VectorKernelOp(KernelTaskOp):
    """The vector half of a mix operator, on the attached stream."""

    name = "ge_task.vector_kernel"
    TASK_TYPE: ClassVar[int] = 39


@irdl_op_definition
class VectorAllKernelOp(KernelTaskOp):
    """The vector half of a mix operator whose kernel has a handle."""

    name = "ge_task.vector_all_kernel"
    TASK_TYPE: ClassVar[int] = 40


@irdl_op_definition
class PreprocessKernelOp(KernelTaskOp):
    """A kernel that prepares another one."""

    name = "ge_task.preprocess_kernel"
    TASK_TYPE: ClassVar[int] = 43


@irdl_op_definition
class SuperKernelOp(KernelTaskOp):
    """Several kernels fused into one launch."""

    name = "ge_task.super_kernel"
    TASK_TYPE: ClassVar[int] = 44


@irdl_op_definition
class FusionKernelOp(KernelTaskOp):
    """A kernel that computes and communicates."""

    name = "ge_task.fusion_kernel"
    TASK_TYPE: ClassVar[int] = 47


@irdl_op_definition
class KernelLaunchV2Op(KernelTaskOp):
    """A kernel of the second launch interface. The static loader has no runner for it."""

    name = "ge_task.kernel_launch_v2"
    TASK_TYPE: ClassVar[int] = 48


@irdl_op_definition
class CcuKernelOp(KernelTaskOp):
    """A kernel of the collective communication unit. The static loader has no runner for it."""

    name = "ge_task.ccu_kernel"
    TASK_TYPE: ClassVar[int] = 49


@irdl_op_definition
class CustomKernelOp(KernelTaskOp):
    """A kernel that the user brought along."""

    name = "ge_task.custom_kernel"
    TASK_TYPE: ClassVar[int] = 50


KERNEL_OPS = (
    KernelOp,
    KernelExOp,
    HcclOp,
    KernelWithHandleOp,
    FftsOp,
    FftsPlusOp,
    DsaOp,
    DvppOp,
    VectorKernelOp,
    VectorAllKernelOp,
    PreprocessKernelOp,
    SuperKernelOp,
    FusionKernelOp,
    KernelLaunchV2Op,
    CcuKernelOp,
    CustomKernelOp,
)
