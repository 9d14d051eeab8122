"""Streams out of the graph of dependencies: spec/streams.md section 14.3."""
