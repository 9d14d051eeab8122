"""Checks across operations, which operations' own verifiers cannot make."""
