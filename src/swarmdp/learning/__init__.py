"""Algorithm 2: learning a local policy for a given local reward."""
