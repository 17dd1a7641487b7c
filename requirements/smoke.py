"""What a fresh installation must do; run by ``make dist`` in an environment of its own."""

import subprocess
import sys

import isthmus


def run(*arguments: str) -> str:
    """What a command of the installed package prints."""
    command = [sys.executable, "-P", "-m", "isthmus", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


print("installed in", isthmus.__file__)
assert "site-packages" in isthmus.__file__, "the copy in the repository was imported"
assert run("--version").strip() == f"isthmus {isthmus.__version__}"
assert "KL" in run("compare")

problem = isthmus.problems.load("table1/row1")
c = isthmus.compare(problem.sample_p(2000, rng=0), problem.sample_q(2000, rng=1), random_state=0)
assert c.kl.low < problem.kl < c.kl.high, c.kl
print(f"isthmus {isthmus.__version__} works: KL {c.kl}, truth {problem.kl:.1f}")
