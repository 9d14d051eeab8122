"""Storage formats and element types of GE tensors: data and formulas, no IR.

Nothing here imports anything else of this project, so the package is usable on its own.
"""
