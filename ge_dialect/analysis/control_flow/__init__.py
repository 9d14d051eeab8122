"""Facts about nodes that own graphs: branches and loops."""
