"""Peers that are measured only where they are installed: JAX, PyTorch, Mesa and VMAS."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import swarmdp
from benchmarks.peers import Simulator, optional
from benchmarks.swarms import SEED, Floats


def jax_all_pairs(model: swarmdp.Vicsek) -> Simulator:
    """All pairs in JAX, compiled, with all runs and steps in one call, on one thread."""
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("XLA_FLAGS", flags)  # read when JAX is first imported
    jax = optional("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def observe(position: Any, heading: Any) -> Any:
        x, y = position[:, 0], position[:, 1]
        dx, dy = x[:, None] - x, y[:, None] - y
        dx, dy = dx - jnp.round(dx), dy - jnp.round(dy)
        near = (dx * dx + dy * dy <= model.radius**2).astype(heading.dtype)
        u, v = jnp.cos(heading), jnp.sin(heading)
        sum_u, sum_v = near @ u, near @ v
        return jnp.arctan2(u * sum_v - v * sum_u, u * sum_u + v * sum_v)

    def order(heading: Any) -> Any:
        return jnp.hypot(jnp.cos(heading).mean(), jnp.sin(heading).mean())

    def step(state: Any, key: Any) -> Any:
        position, heading = state
        noise = model.noise * jax.random.normal(key, heading.shape)
        direction = jnp.stack((jnp.cos(heading), jnp.sin(heading)), axis=-1)
        moved = (position + model.speed * direction) % 1.0
        return (moved, heading + observe(position, heading) + noise), order(heading)

    def one_run(position: Any, heading: Any, keys: Any) -> Any:
        (_, last), orders = jax.lax.scan(step, (position, heading), keys)
        return jnp.append(orders, order(last))

    all_runs = jax.jit(jax.vmap(one_run))

    def simulate(position: Floats, heading: Floats, steps: int) -> Floats:
        keys = jax.random.split(jax.random.key(SEED), (len(heading), steps))
        return np.asarray(all_runs(position, heading, keys))

    return _Functions(lambda p, h: np.asarray(observe(jnp.asarray(p), jnp.asarray(h))), simulate)


def torch_all_pairs(model: swarmdp.Vicsek) -> Simulator:
    """All pairs in PyTorch, all runs at once, on one thread."""
    torch = optional("torch")
    torch.set_num_threads(1)

    def observe(position: Any, u: Any, v: Any) -> Any:
        x, y = position[..., 0], position[..., 1]
        dx, dy = x[:, :, None] - x[:, None], y[:, :, None] - y[:, None]
        dx, dy = dx.sub_(dx.round()), dy.sub_(dy.round())
        near = (dx.square_().add_(dy.square_()) <= model.radius**2).to(u.dtype)
        sum_u, sum_v = (near @ torch.stack((u, v), -1)).unbind(-1)
        return torch.atan2(u * sum_v - v * sum_u, u * sum_u + v * sum_v)

    def misalignment(position: Floats, heading: Floats) -> Floats:
        place, angle = torch.from_numpy(position)[None], torch.from_numpy(heading)[None]
        return np.asarray(observe(place, angle.cos(), angle.sin())[0])

    def simulate(position: Floats, heading: Floats, steps: int) -> Floats:
        random = torch.Generator().manual_seed(SEED)
        place, angle = torch.from_numpy(position), torch.from_numpy(heading)
        orders = []
        with torch.inference_mode():
            for step in range(steps + 1):
                u, v = angle.cos(), angle.sin()
                orders.append(torch.hypot(u.mean(-1), v.mean(-1)))
                if step < steps:
                    turn = observe(place, u, v)
                    noise = torch.randn(angle.shape, generator=random, dtype=angle.dtype)
                    place = (place + model.speed * torch.stack((u, v), -1)) % 1.0
                    angle = angle + turn + model.noise * noise
        return np.asarray(torch.stack(orders, -1))

    return _Functions(misalignment, simulate)


def mesa_agents(model: swarmdp.Vicsek) -> Simulator:
    """Mesa's agents in its continuous space, one Python object each."""
    mesa, space = optional("mesa"), optional("mesa.space")

    class Swarm(mesa.Model):  # type: ignore[misc, name-defined]
        def __init__(self, position: Floats, heading: Floats) -> None:
            super().__init__(rng=SEED)
            self.space = space.ContinuousSpace(1.0, 1.0, torus=True)
            for place, angle in zip(position, heading, strict=True):
                bird = mesa.Agent(self)
                bird.heading, bird.turn = float(angle), 0.0
                self.space.place_agent(bird, tuple(place))

        def observe(self) -> None:
            for bird in self.agents:
                near = self.space.get_neighbors(bird.pos, model.radius, include_center=True)
                angles = np.array([other.heading for other in near]) - bird.heading
                bird.turn = np.arctan2(np.sin(angles).sum(), np.cos(angles).sum())

        def step(self) -> None:
            self.observe()
            for bird in self.agents:
                direction = np.array((np.cos(bird.heading), np.sin(bird.heading)))
                self.space.move_agent(bird, np.asarray(bird.pos) + model.speed * direction)
                bird.heading += bird.turn + self.rng.normal(0.0, model.noise)

        def order(self) -> float:
            angles = np.array([bird.heading for bird in self.agents])
            return float(np.hypot(np.cos(angles).mean(), np.sin(angles).mean()))

    def misalignment(position: Floats, heading: Floats) -> Floats:
        swarm = Swarm(position, heading)
        swarm.observe()
        return np.array([bird.turn for bird in swarm.agents])

    def simulate(position: Floats, heading: Floats, steps: int) -> Floats:
        orders = np.empty((len(heading), steps + 1))
        for run in range(len(heading)):
            swarm = Swarm(position[run], heading[run])
            for step in range(steps):
                orders[run, step] = swarm.order()
                swarm.step()
            orders[run, steps] = swarm.order()
        return orders

    return _Functions(misalignment, simulate)


def vmas_flocking(runs: int, n_agents: int, steps: int) -> Callable[[], None]:
    """Steps of VMAS's own flocking scenario: other physics, the same number of agents."""
    vmas = optional("vmas")
    optional("torch").set_num_threads(1)
    environment = vmas.make_env(
        scenario="flocking",
        num_envs=runs,
        seed=SEED,
        n_agents=n_agents,
        min_dist_between_entities=0.01,  # the default leaves no room for hundreds of agents
    )

    def simulate() -> None:
        for _ in range(steps):
            environment.step([environment.get_random_action(bird) for bird in environment.agents])

    return simulate


@dataclass(frozen=True)
class _Functions:
    """A simulator made of two functions."""

    misalignment: Callable[[Floats, Floats], Floats]
    simulate: Callable[[Floats, Floats, int], Floats]
