"""The table of passes: `name -> "module:Class"`, one line a pass; nothing is imported until a pass is asked for.

ge-opt, `xdsl-opt` (through the universe) and the documentation are driven by this table. A name starts with `ge-` for
passes on `ge`, `ge-task-` for passes on `ge_task`, `convert-` for lowerings.
"""

from __future__ import annotations

from types import MappingProxyType

PASSES: MappingProxyType[str, str] = MappingProxyType({})
