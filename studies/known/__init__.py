"""Problems whose reward is known."""
