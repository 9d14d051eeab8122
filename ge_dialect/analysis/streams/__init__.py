"""Facts that stream assignment stands on: engines, engine sub-graphs, structure."""
