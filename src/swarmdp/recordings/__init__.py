"""Recorded swarms: reading tracks, cleaning them, and what they are like."""
