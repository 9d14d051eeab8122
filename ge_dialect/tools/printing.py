"""MLIR text as ge-opt writes it: large constants are left out unless they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Literal, cast

from xdsl.context import Context
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Attribute
from xdsl.printer import Printer
from xdsl.syntax_printer import SyntaxPrinter
from xdsl.targets.mlir import MLIRTarget

from ge_dialect.dialects.ge.weights import ELIDE_ABOVE_BYTES, ELIDED_KEY


class ElidingPrinter(Printer):
    """Prints a constant of more than `ELIDE_ABOVE_BYTES` bytes as an elided resource with its type."""

    def print_attribute(self, attribute: Attribute) -> None:
        """Print `attribute`, without its bytes when they are many."""
        match attribute:
            case DenseIntOrFPElementsAttr(data=data, type=kind) if (
                len(data.data) > ELIDE_ABOVE_BYTES
            ):
                self.print_string(f"dense_resource<{ELIDED_KEY}> : ")
                self.print_attribute(cast(Attribute, kind))
            case _:
                super().print_attribute(attribute)


class ElidingSyntaxPrinter(ElidingPrinter, SyntaxPrinter):
    """The same in colour."""


@dataclass(frozen=True)
class GeMLIRTarget(MLIRTarget):
    """MLIR text. `weights` is `elide` (leave out what is longer than 256 bytes) or `inline` (all bytes, as hex)."""

    name = "mlir"
    weights: Literal["elide", "inline"] = "elide"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Write `module` and the resources of the loaded dialects to `output`."""
        printer = _PRINTERS[self.weights == "elide", self.syntax_highlight](
            stream=output,
            print_generic_format=self.print_generic_format,
            print_properties_as_attributes=self.print_properties_as_attributes,
            print_debuginfo=self.print_debuginfo,
        )
        printer.print_op(module)
        printer.print_metadata(ctx.loaded_dialects)
        output.write("\n")


_PRINTERS: dict[tuple[bool, bool], type[Printer]] = {
    (False, False): Printer,
    (False, True): SyntaxPrinter,
    (True, False): ElidingPrinter,
    (True, True): ElidingSyntaxPrinter,
}
