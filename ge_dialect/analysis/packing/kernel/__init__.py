"""The compiled kernel: C sources, how they are built, how they are called."""
