"""Algorithm 1: generic inverse reinforcement learning, and its reward updates."""
