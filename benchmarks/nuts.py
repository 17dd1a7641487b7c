"""The posterior of the running example by two samplers of NUTS, and by Laplace's method.

    python benchmarks/nuts.py [--quick] [--rows 10000] [--draws 1000] [--chains 4]

N(-1, .1) against N(1, .2) with m = Cauchy(0, 1), all three critics quadratic and
learned, with a standard normal prior: the paper's Bayesian task (its appendix D).
Every sampler moves in the same whitened coordinates, without the softmax's shift, from the
same number of warm-up steps, and has all cores. Columns:

sampler, density
    "nutpie" is what isthmus.uncertainty.nuts uses, with the fit's own objective. "blackjax" has
    its chains in one vectorised program, with the density written once more in JAX, or
    calling the same objective. A sampler that is not installed is left out.
wall, compile
    Seconds in all, and those of them before the first draw. blackjax compiles its program;
    nutpie has nothing to compile.
CPU
    Seconds of the processor in all threads, which other work on the machine does not stretch.
R-hat, ESS, divergences
    Of the whitened parameters; the smaller of bulk and tail. Goals: at most 1.01, at
    least 400, none.
mean, sd
    Largest difference from Laplace in the mean and in the standard deviation of log p/q,
    over x from -1.5 to 1.5, the mean where log p/q is above 1 in size. Goal: at most 5 %.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import time
import warnings
from importlib.metadata import version

import numpy as np
from _record import Run, console, options, table, verdict

from isthmus import MDRE, problems, stack
from isthmus.uncertainty import Posterior, laplace, nuts
from isthmus.uncertainty.fit import fit_of
from isthmus.uncertainty.target import Target

PROBLEM = "running-example"
GRID = np.linspace(-1.5, 1.5, 61)
GOALS = {"rhat": 1.01, "ess": 400, "divergences": 0, "mean_error": 0.05, "sd_error": 0.05}


def fit(rows: int, seed: int) -> MDRE:
    problem = problems.load(PROBLEM)
    rng = np.random.default_rng(seed)
    X, y = stack(problem.sample_p(rows, rng), problem.sample_q(rows, rng))
    return MDRE.paper(PROBLEM, solver="newton", l2=1.0, random_state=seed).fit(X, y)


def by_nutpie(model: MDRE, arguments) -> dict:
    start = time.perf_counter()
    posterior = nuts(
        model,
        draws=arguments.draws,
        tune=arguments.tune,
        chains=arguments.chains,
        random_state=arguments.seed,
    )
    return {
        "sampler": "nutpie",
        "density": "objective",
        "seconds": time.perf_counter() - start,
        "compile_seconds": 0.0,
        "z": np.asarray(posterior.inference_data.posterior["z"]),
        "divergences": posterior.divergences,
        "steps": posterior.steps,
    }


def by_blackjax(model: MDRE, arguments, density: str) -> dict:
    import jax

    jax.config.update("jax_enable_x64", True)
    import blackjax

    start = time.perf_counter()
    target = Target(fit_of(model))
    log_density = in_jax(target) if density == "jax" else by_callback(target)

    def chain(key, z):
        warm_key, key = jax.random.split(key)
        warm = blackjax.window_adaptation(blackjax.nuts, log_density)
        (state, found), _ = warm.run(warm_key, z, num_steps=arguments.tune)
        step = blackjax.nuts(log_density, **found).step

        def one(state, key):
            state, info = step(key, state)
            return state, (state.position, info.is_divergent, info.num_integration_steps)

        return jax.lax.scan(one, state, jax.random.split(key, arguments.draws))[1]

    keys = jax.random.split(jax.random.key(arguments.seed), arguments.chains)
    z = jax.random.normal(jax.random.key(arguments.seed + 1), (arguments.chains, target.size))
    program = jax.jit(jax.vmap(chain)).lower(keys, z).compile()
    compiled = time.perf_counter() - start
    z, diverging, steps = map(np.asarray, jax.block_until_ready(program(keys, z)))
    return {
        "sampler": "blackjax",
        "density": density,
        "seconds": time.perf_counter() - start,
        "compile_seconds": compiled,
        "z": z,
        "divergences": int(diverging.sum()),
        "steps": int(steps.sum()),
    }


def in_jax(target: Target):
    """The log-density in whitened coordinates, from the same features."""
    import jax
    import jax.numpy as jnp

    objective = target.objective
    blocks, l2 = objective.blocks, objective.l2
    X = np.concatenate([sample.rows for sample in blocks.classes])
    features = [jnp.asarray(phi.T) for phi in objective.critic.features(X)]
    known = jnp.asarray((np.concatenate(blocks.offsets) + blocks.log_prior).T)
    weights = np.concatenate([sample.weight for sample in blocks.classes])
    weight, V, mode = map(jnp.asarray, (weights, target.basis, target.mode))
    edges = np.cumsum([0, *map(len, blocks.classes)]).tolist()
    # In the paper's model all classes are learned, in their own order.
    own = [slice(a, b) for a, b in itertools.pairwise(edges)]

    def log_density(z):
        theta = mode + V @ z
        parts = theta.reshape(len(features), -1)
        eta = known + jnp.stack([part @ phi for part, phi in zip(parts, features, strict=True)])
        right = sum((eta[c, rows] * weight[rows]).sum() for c, rows in enumerate(own))
        total = (weight * jax.nn.logsumexp(eta, axis=0)).sum()
        return right - total - 0.5 * l2 * theta @ theta + target.value

    return log_density


def by_callback(target: Target):
    """The log-density by calls of the objective."""
    import jax
    import jax.numpy as jnp

    shapes = (
        jax.ShapeDtypeStruct((), np.float64),
        jax.ShapeDtypeStruct((target.size,), np.float64),
    )

    def host(z):
        value, gradient = target.log_density(np.asarray(z))
        return np.float64(value), np.asarray(gradient)

    def both(z):
        return jax.pure_callback(host, shapes, z, vmap_method="sequential")

    @jax.custom_vjp
    def log_density(z):
        return both(z)[0]

    log_density.defvjp(both, lambda gradient, size: (jnp.multiply(gradient, size),))
    return log_density


def judge(model: MDRE, found: dict, expected: tuple[np.ndarray, np.ndarray]) -> dict:
    """Add convergence and the distance from Laplace to what a sampler found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

        z = arviz.convert_to_dataset(found.pop("z"))["x"]
        found["rhat"] = float(arviz.rhat(z)["x"].max())
        sizes = [float(arviz.ess(z, method=method)["x"].min()) for method in ("bulk", "tail")]
    found["ess"] = min(sizes)
    found["ess_per_second"] = found["ess"] / found["seconds"]
    target = Target(fit_of(model))
    flat = np.asarray(z).reshape(-1, target.size)
    posterior = Posterior(fit_of(model), target.theta(flat), "nuts")
    mean, sd = posterior.log_ratio(GRID, return_std=True)
    large = np.abs(expected[0]) > 1.0
    found["mean_error"] = float(np.abs(mean / expected[0] - 1.0)[large].max())
    found["mean_error_in_sd"] = float((np.abs(mean - expected[0]) / expected[1]).max())
    found["sd_error"] = float(np.abs(sd / expected[1] - 1.0).max())
    found["met"] = all(found[name] <= goal for name, goal in GOALS.items() if name != "ess")
    found["met"] = found["met"] and found["ess"] >= GOALS["ess"]
    return found


def main() -> None:
    parser = options(__doc__, "nuts")
    parser.add_argument("--rows", type=int, default=10_000, help="of each of the three classes")
    parser.add_argument("--draws", type=int, default=1000, help="of each chain")
    parser.add_argument("--tune", type=int, default=300, help="warm-up steps of each chain")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rows, arguments.draws, arguments.tune, arguments.chains = 200, 200, 100, 2
    run = Run("nuts", arguments)

    model = fit(arguments.rows, arguments.seed)
    start = time.perf_counter()
    approximate = laplace(model, random_state=arguments.seed)
    expected = approximate.log_ratio(GRID, return_std=True)
    results = [{"sampler": "laplace", "density": "objective"}]
    results[0]["seconds"] = time.perf_counter() - start
    runs = {
        "nutpie": [lambda: by_nutpie(model, arguments)],
        "blackjax": [
            lambda: by_blackjax(model, arguments, "jax"),
            lambda: by_blackjax(model, arguments, "callback"),
        ],
    }
    missing = []
    for name, each in runs.items():
        needed = [part for part in (name, "arviz") if importlib.util.find_spec(part) is None]
        if needed:
            missing.append(name)
            console.print(f"{name} is left out: {' and '.join(needed)} not installed.")
            continue
        for sampler in each:
            begun = time.process_time()
            found = sampler()
            found["cpu_seconds"] = time.process_time() - begun
            results.append(judge(model, found, expected))

    out = table(
        f"NUTS on {3 * arguments.rows} rows, {arguments.chains} chains of {arguments.draws} draws "
        f"after {arguments.tune}, {os.cpu_count()} cores",
        *("<sampler", "<density", "wall", "compile", "CPU", "R-hat", "ESS", "ESS/s"),
        *("divergences", "steps", "mean", "sd", "<goals met"),
    )
    for each in results:
        if each["sampler"] == "laplace":
            out.add_row("laplace", "objective", f"{each['seconds']:.2f} s", *[""] * 10)
            continue
        out.add_row(
            *(each[key] for key in ("sampler", "density")),
            *(f"{each[key]:.1f} s" for key in ("seconds", "compile_seconds", "cpu_seconds")),
            *(f"{each['rhat']:.4f}", f"{each['ess']:.0f}", f"{each['ess_per_second']:.0f}"),
            *(str(each[key]) for key in ("divergences", "steps")),
            *(f"{100 * each[key]:.1f} %" for key in ("mean_error", "sd_error")),
            verdict(each["met"]),
        )
    console.print(out)
    samplers = {name: version(name) for name in ("nutpie", "blackjax", "jax", "arviz")
                if importlib.util.find_spec(name) is not None}  # fmt: skip
    run.write(results=results, goals=GOALS, missing=missing, samplers=samplers)


if __name__ == "__main__":
    main()
