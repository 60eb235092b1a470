"""Errors that say what was expected, what came, and what to do."""


class SwarmdpError(Exception):
    """Any error that swarmdp raises on purpose.

    Examples
    --------
    >>> import swarmdp
    >>> try:
    ...     swarmdp.Ising(reach=-1)
    ... except swarmdp.errors.SwarmdpError as error:
    ...     print(type(error).__name__)
    ...
    InvalidInput

    """


class InvalidInput(SwarmdpError, ValueError):
    """A value, an array or a system that is not as it must be.

    Examples
    --------
    >>> import swarmdp
    >>> try:
    ...     swarmdp.Vicsek(n_agents=0)
    ... except swarmdp.errors.InvalidInput as error:
    ...     print(error)
    ...
    n_agents must be an integer of at least 1, got 0

    """


class NotEnoughMemory(SwarmdpError, MemoryError):
    """Something that would not fit into memory.

    Examples
    --------
    >>> import swarmdp
    >>> issubclass(swarmdp.errors.NotEnoughMemory, MemoryError)
    True

    """


class RecordingTooLarge(NotEnoughMemory):
    """A recording that would not fit into memory.

    Examples
    --------
    >>> import swarmdp
    >>> vicsek = swarmdp.Vicsek()
    >>> try:
    ...     swarmdp.rollout(vicsek, vicsek.expert, steps=10**6, runs=10**6, seed=1)
    ... except swarmdp.errors.RecordingTooLarge:
    ...     print("record a measure, or every tenth step")
    ...
    record a measure, or every tenth step

    """


class FileError(SwarmdpError, OSError):
    """A file that could not be read or written.

    Examples
    --------
    >>> import swarmdp
    >>> try:
    ...     swarmdp.load("nowhere.nc")
    ... except swarmdp.errors.FileError as error:
    ...     print("not found" if "nowhere.nc" in str(error) else "damaged")
    ...
    not found

    """


class SolverError(SwarmdpError, RuntimeError):
    """A numerical solver did not find a solution.

    Examples
    --------
    >>> import swarmdp
    >>> issubclass(swarmdp.errors.SolverError, swarmdp.errors.SwarmdpError)
    True

    """


class ClusterError(SwarmdpError, RuntimeError):
    """A cluster that cannot be reached or did not do its work.

    Examples
    --------
    >>> import swarmdp
    >>> issubclass(swarmdp.errors.ClusterError, swarmdp.errors.SwarmdpError)
    True

    """


class SwarmdpWarning(UserWarning):
    """Something that is allowed but probably not meant; the message names cause and remedy.

    Examples
    --------
    >>> import warnings
    >>> import swarmdp
    >>> warnings.simplefilter("error", swarmdp.errors.SwarmdpWarning)    # stop at the first of them
    >>> warnings.resetwarnings()

    """


class VerdictWarning(SwarmdpWarning):
    """A learned swarm that does not do what the demo did, or of which it cannot be said.

    Examples
    --------
    >>> import warnings
    >>> import swarmdp
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", swarmdp.errors.VerdictWarning)    # for a batch of fits

    """
