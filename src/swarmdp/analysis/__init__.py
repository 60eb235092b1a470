"""What swarms show when many runs are put side by side."""
