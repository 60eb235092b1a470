"""Is the learned swarm the recorded one? Statistics of both, a test, and a verdict in words."""
