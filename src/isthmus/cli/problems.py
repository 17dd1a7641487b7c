"""The command ``isthmus problems``."""


def problems() -> None:
    """List the problems that know their own truth."""
    from rich.table import Column

    from .. import problems as registry
    from .terminal import console, table

    rows = []
    for name in registry.names():
        problem = registry.load(name)
        error = f" ± {problem.kl_std_error:.1g}" if problem.kl_std_error else ""
        rows.append((name, str(problem.dim), f"{problem.kl:.4f}{error}"))
    heads = [Column(head, justify="right") for head in ("dimension", "KL(p‖q), nats")]
    console().print(table([Column("name", style="bold"), *heads], rows))
