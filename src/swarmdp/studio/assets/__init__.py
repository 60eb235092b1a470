"""The parts of the studio's page: one module of JavaScript for each thing that it does."""
