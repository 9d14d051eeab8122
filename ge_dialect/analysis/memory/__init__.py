"""What memory planning, layout conflicts and their checks all need to know about a graph (spec/memory.md)."""
