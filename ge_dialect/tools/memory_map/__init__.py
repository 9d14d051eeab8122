"""The picture of a memory plan: time across, addresses up, a rectangle a buffer, the peak and the lower bound.

`.html`: one file without references to anything, drawn by its own script, with names under the pointer; `.svg`: the
same as a still; `.csv`: the buffers in the form that `ge-plan` and other planners read, with offsets.
"""

from ge_dialect.tools.memory_map.model import MapBuffer, MemoryMap, Role
from ge_dialect.tools.memory_map.of_graph import is_planned, map_of_graph, maps_of_graph
from ge_dialect.tools.memory_map.of_module import maps_of_module
from ge_dialect.tools.memory_map.of_tasks import maps_of_tasks
from ge_dialect.tools.memory_map.page import html_text
from ge_dialect.tools.memory_map.svg import svg_text
from ge_dialect.tools.memory_map.write import check_name, map_csv_text, write_memory_maps

__all__ = [
    "MapBuffer",
    "MemoryMap",
    "Role",
    "check_name",
    "html_text",
    "is_planned",
    "map_csv_text",
    "map_of_graph",
    "maps_of_graph",
    "maps_of_module",
    "maps_of_tasks",
    "svg_text",
    "write_memory_maps",
]
