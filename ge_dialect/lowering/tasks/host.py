from xdsl.dialects.builtin import ModuleOp
from ge_dialect.dialects.ge_task import HostOp
from ge_dialect.formats.errors import GeError
def lower_host_program(module: ModuleOp) -> HostOp:
    raise GeError("host program")
