"""The package as a whole: one version, light imports, and files that agree with each other."""

from __future__ import annotations

import ast
import importlib.util
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import isthmus

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "isthmus"
HEAVY = ("torch", "dask", "matplotlib", "pandas", "polars", "pyarrow", "nutpie", "typer", "rich")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def modules_after(statement):
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_version_is_written_once(project):
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/isthmus/_version.py"
    text = (ROOT / "src/isthmus/_version.py").read_text()
    assert re.findall(r'__version__ = "(.+)"', text) == [isthmus.__version__]
    assert f"## [{isthmus.__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {isthmus.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'version = "{isthmus.__version__}"' in (ROOT / "conda/meta.yaml").read_text()


def test_import_brings_in_nothing_heavy():
    # scikit-learn imports pandas, and pandas pyarrow, where they are installed; that much is not
    # ours to change, and where they are not installed nothing of it remains.
    with_ours, without = (
        modules_after("import isthmus; isthmus.compare, isthmus.MDRE, isthmus.plots"),
        modules_after("import sklearn.linear_model"),
    )
    assert "sklearn" in with_ours
    assert not {name for name in HEAVY if name in with_ours - without}
    # Whatever is in the package is imported when it is asked for, and not before.
    assert not {"numpy", "sklearn", *HEAVY} & modules_after("import isthmus")


def test_every_public_name_is_there_and_no_other():
    assert dir(isthmus) == sorted(isthmus.__all__)
    for name in isthmus.__all__:
        assert getattr(isthmus, name) is not None, name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        isthmus.nothing  # noqa: B018


def test_importing_the_module_of_compare_does_not_hide_the_function():
    code = "import isthmus.comparing; import isthmus; assert callable(isthmus.compare)"
    assert "isthmus.comparing" in modules_after(code)


WITHOUT_EXTRAS = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"torch", "zuko", "dask", "pandas", "polars", "nutpie", "arviz"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import isthmus
from isthmus.tables.frames import TableEncoder

p, q = {"x": [1.5, 2.0], "t": ["a", "b"]}, {"x": [2.5, 1.0], "t": ["b", "a"]}
P, Q = TableEncoder().fit_transform(p, q)
assert Q.tolist() == [[0.0, 1.0, 2.5], [1.0, 0.0, 1.0]], Q
"""


def test_the_core_and_its_tables_work_without_any_extra():
    assert "isthmus" in modules_after(WITHOUT_EXTRAS)


def test_the_package_is_typed_and_runs_as_a_module(project):
    assert (ROOT / "src/isthmus/py.typed").exists()
    assert importlib.util.find_spec("isthmus.__main__") is not None
    assert project["project"]["scripts"] == {"isthmus": "isthmus.cli:main"}


def names_in(requirements):
    return {re.split(r"[<>=\[; ]", line)[0].lower().replace("_", "-") for line in requirements}


def pinned(lock):
    lines = [
        line
        for line in (ROOT / "requirements" / lock).read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.!+]*", line) for line in lines)
    return lines


def test_the_locks_pin_every_direct_dependency(project):
    extras = project["project"]["optional-dependencies"]
    direct = names_in(
        project["project"]["dependencies"]
        + project["build-system"]["requires"]
        + [line for extra in ("tables", "test", "dev") for line in extras[extra]]
    ) - {"isthmus"}
    assert direct <= names_in(pinned("dev.lock"))
    optional = names_in(extras["neural"] + extras["bayes"] + extras["examples"]) - {"isthmus"}
    assert optional <= names_in(pinned("extras.lock"))
    assert names_in(extras["docs"]) - {"isthmus"} <= names_in(pinned("docs.lock"))
    assert "torch==2.13.0" in pinned("extras.lock")
    # One package, one version.
    locks = [names_in(pinned(f"{lock}.lock")) for lock in ("dev", "extras", "docs", "release")]
    assert sum(map(len, locks)) == len(set.union(*locks))


def test_the_conda_recipe_asks_for_what_the_package_asks_for(project):
    recipe = (ROOT / "conda/meta.yaml").read_text()
    for line in project["project"]["dependencies"]:
        name, least = line.split(">=")
        assert re.search(rf"- {name}(-base)? >={re.escape(least)}\n", recipe), line


def test_the_metadata_links_to_the_project(project):
    urls = project["project"]["urls"]
    assert {"Documentation", "Source", "Changelog", "Issues"} <= set(urls)
    assert all(url.startswith("https://") for url in urls.values())
    assert not names_in(pinned("dev.lock")) & names_in(pinned("extras.lock"))


def test_the_floors_are_those_that_are_tried():
    made = runpy.run_path(str(ROOT / "requirements" / "lowest.py"))
    floors = made["lowest"]()
    assert "numpy==2.0" in floors and all(re.fullmatch(r"[\w.-]+==[\d.]+", one) for one in floors)


def test_type_checkers_know_what_is_public():
    # What is looked up when it is asked for would otherwise be an object to them.
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    known = {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    assert set(isthmus.__all__) - {"__version__"} <= known
