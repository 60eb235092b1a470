"""The systems that come with swarmdp, each with its expert and its measures."""
