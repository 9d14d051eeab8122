"""Streams by list scheduling: which node runs on which of N streams, by simulated time."""
