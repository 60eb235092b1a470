"""The same units on a Dask cluster; the only place that imports Dask."""

import contextlib
import logging
import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from swarmdp._version import __version__
from swarmdp.paper.engine import Done, Executor, compute_unit
from swarmdp.paper.plan import Plan
from swarmdp.paper.tasks import Unit
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import ClusterError

_log = logging.getLogger("swarmdp.paper")

CONNECT_SECONDS = 15


@contextlib.contextmanager
def on_cluster(address: str) -> Iterator[Executor]:
    """Compute units on the cluster with this scheduler, such as tcp://host:8786."""
    distributed = _import_distributed()
    _check_address(address)
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address!r} ({type(error).__name__}): start one with "
            "'dask scheduler' and workers with 'dask worker ADDRESS', and give its tcp:// address"
        ) from error
    with client:
        _check_versions(client)
        yield _executor(client)


@contextlib.contextmanager
def on_local_workers(workers: int) -> Iterator[Executor]:
    """Compute units in a number of worker processes of this machine."""
    check_integer("workers", workers, least=1)
    distributed = _import_distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield _executor(client)


def _check_address(address: str) -> None:
    """Raise InvalidInput for what cannot be an address, before a client waits for it."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, place = parse_address(address, strict=True)
        get_backend(scheme)
        parse_host_port(place)
    except ValueError as error:
        raise ClusterError(
            f"{address!r} is not the address of a Dask scheduler ({error}): give one such as "
            "tcp://host:8786"
        ) from None


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError(
            "running on a cluster needs Dask: install it with pip install 'swarmdp[cluster]'"
        ) from None
    return distributed


def _executor(client: Any) -> Executor:
    as_completed = _import_distributed().as_completed

    def execute(plan: Plan, units: Sequence[Unit]) -> Iterator[Done]:
        if not client.scheduler_info()["workers"]:
            where = client.scheduler.address
            _log.warning("no workers at %s yet: start some with 'dask worker %s'", where, where)
        run = secrets.token_hex(4)  # two runs on one cluster keep their units apart
        futures = {
            client.submit(
                _compute_on_worker, __version__, plan, unit, key=f"{unit.task}-{unit.index}-{run}"
            ): unit
            for unit in units
        }
        try:
            for future in as_completed(list(futures), loop=client.loop):
                unit = futures[future]
                error = future.exception()
                if isinstance(error, CancelledError):
                    raise error
                if error is not None:
                    raise ClusterError(
                        f"unit {unit} failed on the cluster: {error}. What is finished is kept; "
                        "start again to go on"
                    ) from error
                yield future.result()
                future.release()
        except (CancelledError, OSError, TimeoutError) as error:
            raise ClusterError(
                f"the connection to the scheduler was lost ({type(error).__name__}). What is "
                "finished is kept: start again with a scheduler that runs to go on"
            ) from error
        finally:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                client.cancel(list(futures))

    return execute


def _compute_on_worker(version: str, plan: Plan, unit: Unit) -> Done:
    """A unit, computed by this worker."""
    if version != __version__:
        raise ClusterError(_mismatch("this worker", __version__, version))
    return compute_unit(plan, unit)


def _check_versions(client: Any) -> None:
    """Raise ClusterError for workers with another version of swarmdp, before any work."""

    def version() -> str:  # a local function is sent as it is, not by the name of its module
        import swarmdp

        return swarmdp.__version__

    for name, there in client.run(version, on_error="return").items():
        if there != __version__:
            raise ClusterError(_mismatch(f"the worker {name}", there, __version__))


def _mismatch(who: str, there: str | Exception, here: str) -> str:
    has = f"has swarmdp {there}" if isinstance(there, str) else f"has no swarmdp ({there})"
    return f"{who} {has}, this is {here}: install the same version everywhere"
