"""Conflicts between what nodes want of one memory, and copies that resolve them (spec/memory.md section 10)."""
