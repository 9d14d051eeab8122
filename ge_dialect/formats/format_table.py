"""GE's tensor formats: names, letters, which of them are internal (spec/formats.md section 2, spec/no_task.md 9)."""

from __future__ import annotations

from types import MappingProxyType

LETTERS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "NCHW": ("N", "C", "H", "W"),
        "NHWC": ("N", "H", "W", "C"),
        "HWCN": ("H", "W", "C", "N"),
        "CHWN": ("C", "H", "W", "N"),
        "NDHWC": ("N", "D", "H", "W", "C"),
        "NCDHW": ("N", "C", "D", "H", "W"),
        "DHWCN": ("D", "H", "W", "C", "N"),
        "DHWNC": ("D", "H", "W", "N", "C"),
    }
)
"""Public formats whose axes have letters."""

ND = "ND"
FULL_SIZE = MappingProxyType({**{name: len(letters) for name, letters in LETTERS.items()}, ND: 4})
"""Number of axes of a public format; ND counts as four."""

NZ_FAMILY: tuple[str, ...] = (
    "FRACTAL_NZ",
    "FRACTAL_NZ_C0_2",
    "FRACTAL_NZ_C0_4",
    "FRACTAL_NZ_C0_8",
    "FRACTAL_NZ_C0_16",
    "FRACTAL_NZ_C0_32",
)
"""The fractal formats of matrices; all but the first fix C0."""

INTERNAL: frozenset[str] = frozenset(
    """NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FRACTAL_DECONV C1HWNC0 FRACTAL_DECONV_TRANSPOSE
    FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 FRACTAL_DECONV_SP_STRIDE8_TRANS NC1KHKWHWC0 C1HWNCoC0
    FRACTAL_ZZ FRACTAL_NZ NDC1HWC0 FRACTAL_Z_3D FRACTAL_Z_3D_TRANSPOSE FRACTAL_ZN_LSTM FRACTAL_Z_G ND_RNN_BIAS
    FRACTAL_ZN_RNN NYUV NYUV_A""".split()
)
"""What GE calls internal. It leaves out the C0 variants of FRACTAL_NZ, and so do we."""

FIXED_C0 = MappingProxyType(
    {
        "NC1HWC0_C04": 4,
        "FRACTAL_NZ_C0_2": 2,
        "FRACTAL_NZ_C0_4": 4,
        "FRACTAL_NZ_C0_8": 8,
        "FRACTAL_NZ_C0_16": 16,
        "FRACTAL_NZ_C0_32": 32,
    }
)
"""C0 of the formats that say it in their name."""

OTHER_STORAGE: frozenset[str] = frozenset({"C1HWC0", "FRACTAL_Z_WINO"})

FORMATS: frozenset[str] = (
    frozenset(LETTERS) | {ND} | INTERNAL | OTHER_STORAGE | frozenset(NZ_FAMILY)
)
"""All formats by their primary name."""


def is_public(name: str) -> bool:
    """Whether a format is ND or one whose axes have letters."""
    return name in FULL_SIZE


def primary(name: str) -> str:
    """The primary format of a format value's text: `FRACTAL_Z:8` (with a number of groups) is FRACTAL_Z."""
    return name.partition(":")[0]


def groups_of(name: str) -> int:
    """The number of groups that a format value's text carries: 8 in `FRACTAL_Z:8`, else 0. Raises ValueError."""
    text = name.partition(":")[2]
    return int(text) if text else 0
