"""The reference's block assigner: `ge-plan-memory{mode=reference}` (spec/memory.md)."""
