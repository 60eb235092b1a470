"""Figures of swarms; the only place that draws."""
