"""The planner of `ge-plan-memory{mode=optimal}`: what lives when, what may be written over, and the best packing."""
