"""Errors that say what was expected, what came, and what to do."""


class SwarmdpError(Exception):
    """Any error that swarmdp raises on purpose."""


class InvalidInput(SwarmdpError, ValueError):
    """A value, an array or a system that is not as it must be."""


class NotEnoughMemory(SwarmdpError, MemoryError):
    """Something that would not fit into memory."""


class RecordingTooLarge(NotEnoughMemory):
    """A recording that would not fit into memory."""


class FileError(SwarmdpError, OSError):
    """A file that could not be read or written."""


class SolverError(SwarmdpError, RuntimeError):
    """A numerical solver did not find a solution."""


class ClusterError(SwarmdpError, RuntimeError):
    """A cluster that cannot be reached or did not do its work."""


class SwarmdpWarning(UserWarning):
    """Something that is allowed but probably not meant; the message names cause and remedy."""


class VerdictWarning(SwarmdpWarning):
    """A learned swarm that does not do what the demo did, or of which nobody can tell."""
