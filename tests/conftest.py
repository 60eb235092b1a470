"""What all tests share."""

import hypothesis

# The same examples in every run: a test that passed must not fail for another reason than a change.
hypothesis.settings.register_profile("same", derandomize=True)
hypothesis.settings.load_profile("same")
