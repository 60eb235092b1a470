"""What maintainers run: not installed."""
