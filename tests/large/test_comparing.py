"""More rows than are worked on as a whole: the same answer whatever holds them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import isthmus
from isthmus.large import opening, sampling

pytestmark = pytest.mark.usefixtures("small")


def interval(c, spec="kl"):
    found = c.by_fit(spec)
    return [found.value, found.low, found.high]


class Batches:
    """Batches that are made anew each time they are asked for."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return (self.rows[at : at + 700] for at in range(0, len(self.rows), 700))


def folder_of(table, folder):
    """A folder of two files with small row groups."""
    folder.mkdir()
    parquet.write_table(table.slice(0, 2500), folder / "a.parquet", row_group_size=900)
    parquet.write_table(table.slice(2500), folder / "b.parquet", row_group_size=1111)
    return folder


@pytest.fixture(scope="module")
def tables(rows):
    """The same rows with weights, as tables of pyarrow."""
    rng = np.random.default_rng(1)
    return [
        pa.table(
            {**{f"x{k}": x[:, k] for k in range(3)}, "w": rng.integers(1, 4, len(x)).astype(float)}
        )
        for x in rows
    ]


def test_sources_of_every_kind_give_the_answer_of_arrays(rows, tables, normals, tmp_path):
    """Value and interval to 1e-9, for arrays, frames, files, datasets, lazy frames and batches."""
    given = {"estimator": normals, "random_state": 0}
    expected = interval(isthmus.compare(*rows, **given))
    tables = [table.drop_columns("w") for table in tables]
    folders = [folder_of(table, tmp_path / name) for table, name in zip(tables, "pq", strict=True)]
    made = {
        "frame": [table.to_pandas() for table in tables],
        "polars": [pl.from_arrow(table) for table in tables],
        "folder": folders,
        "dataset": [dataset.dataset(folder) for folder in folders],
        "lazy": [pl.scan_parquet(folder) for folder in folders],
        "file and frame": [folders[0], tables[1].to_pandas()],
        "list": [[x[:800], x[800:]] for x in rows],
        "batches": [Batches(x) for x in rows],
    }
    for name, pair in made.items():
        c = isthmus.compare(*pair, **given)
        assert interval(c) == pytest.approx(expected, rel=1e-9), name
        assert c.sizes == (6000, 5000)
        assert len(c.samples.p) == len(c.samples.q) == 600


def test_rows_with_weights(rows, tables, normals, tmp_path):
    """A weight counts as often, whether it is an array or a column, in memory or in a file."""
    given = {"estimator": normals, "random_state": 0}
    weights = [table.column("w").to_numpy() for table in tables]
    expected = interval(isthmus.compare(*rows, weight_p=weights[0], weight_q=weights[1], **given))
    plain = interval(isthmus.compare(*rows, **given))
    assert abs(expected[0] - plain[0]) > 1e-4
    folders = [folder_of(table, tmp_path / name) for table, name in zip(tables, "pq", strict=True)]
    for pair in ([table.to_pandas() for table in tables], folders):
        c = isthmus.compare(*pair, weight_p="w", weight_q="w", **given)
        assert interval(c) == pytest.approx(expected, rel=1e-9)
        assert "w" not in c.feature_names


def test_weights_stand_for_rows_given_twice(rows, normals):
    """Rows of weight zero are not there."""
    p, q = rows
    weight = np.ones(len(p))
    weight[:2000] = 0.0
    c = isthmus.compare(p, q, weight_p=weight, estimator=normals, random_state=0)
    assert c.sizes == (4000, 5000)
    assert c.kl.value == pytest.approx(
        isthmus.compare(p[2000:], q, estimator=normals, random_state=0).kl.value, rel=0.02
    )


def test_normals_are_those_of_all_rows(rows, normals, monkeypatch):
    """The fit is that to all rows, and so is the error."""
    large = isthmus.compare(*rows, estimator=normals, random_state=0)
    monkeypatch.setattr(opening, "LARGE", 10**9)
    whole = isthmus.compare(*rows, estimator=normals, random_state=0)
    at = np.concatenate(rows)[::50]
    assert np.abs(large.log_ratio(at) - whole.log_ratio(at)).max() < 1e-9
    for spec in ("kl", "reverse-kl", "js", "hellinger", "tv"):
        a, b = large.divergence(spec), whole.divergence(spec)
        # Folds differ, which moves a value by a part of its error.
        assert abs(a.value - b.value) < 0.1 * b.std_error, spec
        assert 0.6 < a.std_error / b.std_error < 1.6, spec
    assert large.all_rows.passes == 3
    assert large.all_rows.refitted == ("normal densities",)


def test_student_t_is_that_of_all_rows(rows, monkeypatch):
    """Few passes bring a Student-t from the sample's fit to that of all rows."""
    rng = np.random.default_rng(3)
    p, q = (x / np.sqrt(rng.chisquare(4, len(x)) / 4)[:, None] for x in rows)
    mdre = isthmus.MDRE(maps=None, anchor="student-t", critic="quadratic", l2=np.inf)
    large = isthmus.compare(p, q, estimator=mdre, random_state=0)
    sample = isthmus.compare(*(s.rows for s in large.samples), estimator=mdre, random_state=0)
    monkeypatch.setattr(opening, "LARGE", 10**9)
    whole = isthmus.compare(p, q, estimator=mdre, random_state=0)
    at = np.concatenate([p, q])[::50]
    apart = np.abs(large.log_ratio(at) - whole.log_ratio(at)).mean()
    # The sample has a tenth of the rows, so its own error is √10 times that of a fit to all rows:
    # what the passes leave is at most a third of the latter, which adds 5 % to it.
    assert apart < 0.1 * np.abs(sample.log_ratio(at) - whole.log_ratio(at)).mean()
    assert abs(large.kl.value - whole.kl.value) < 0.2 * whole.kl.std_error
    assert large.all_rows.passes <= 10


def test_critic_is_that_of_all_rows(rows, monkeypatch):
    """Newton's steps with the sample's curvature end where those with all rows do."""
    p, q = (x + 0.2 * x**2 for x in rows)
    mdre = isthmus.MDRE(maps=None, anchor="gaussian", critic="quadratic", l2=1.0, random_state=0)
    large = isthmus.compare(p, q, estimator=mdre, random_state=0)
    sample = isthmus.compare(*(s.rows for s in large.samples), estimator=mdre, random_state=0)
    monkeypatch.setattr(opening, "LARGE", 10**9)
    whole = isthmus.compare(p, q, estimator=mdre, random_state=0)
    at = np.concatenate([p, q])[::50]
    apart = np.abs(large.log_ratio(at) - whole.log_ratio(at)).mean()
    # Draws of the auxiliary differ.
    assert apart < 0.3 * np.abs(sample.log_ratio(at) - whole.log_ratio(at)).mean()
    assert large.all_rows.refitted == ("normal densities", "critic")
    assert 0.6 < large.by_fit("kl").std_error / whole.by_fit("kl").std_error < 1.6


def test_stack_has_coefficients_of_all_rows():
    """Trees and regressions stay those of the sample; rows outside it decide what they weigh."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=(5000, 2)), rng.normal(size=(5000, 2))
    p[:, 0] += 2.0 * (p[:, 1] > 0.5)
    c = isthmus.compare(p, q, random_state=0)
    assert "coefficients" in c.all_rows.refitted
    assert c.all_rows.rows == (5000, 5000)
    assert "of 5,000 and 5,000 rows" in c.rests_on
    fewer = isthmus.compare(*(s.rows for s in c.samples), random_state=0)
    loss = [
        np.logaddexp(0, -one.log_ratio(p)).mean() + np.logaddexp(0, one.log_ratio(q)).mean()
        for one in (c, fewer)
    ]
    assert loss[0] < loss[1]
    # The interval reaches over what the learning curve of the sample leaves open.
    truth = 0.5 * 4.0 * 0.30854  # half the square of the step, where there is one
    assert c.kl.low < truth < c.kl.high


def test_one_small_sample_is_taken_whole(rows):
    """A side that is smaller than what is kept has no row outside of it."""
    c = isthmus.compare(rows[0], rows[1][:400], random_state=0)
    assert c.sizes == (6000, 400) and np.isfinite(c.kl.value)


def test_what_needs_all_rows_is_refused(rows, normals):
    c = isthmus.compare(*rows, estimator=normals, random_state=0)
    with pytest.raises(ValueError, match="interval must be left out for more than"):
        c.divergence("kl", interval="bootstrap")
    with pytest.raises(ValueError, match="x must be given where q has 5,000 rows"):
        c.weights()
    assert len(c.weights(rows[1][:7])) == 7


def test_pickle_and_file_hold_the_sample_alone(rows, normals, tmp_path):
    c = isthmus.compare(*rows, estimator=normals, random_state=0)
    data = pickle.dumps(c)
    assert interval(pickle.loads(data), "js") == interval(c, "js")
    assert len(data) < 40 * 600 * 8 * 20
    again = isthmus.load(c.save(tmp_path / "model.isthmus"))
    assert again.kl == c.kl and again.rests_on == c.rests_on
    assert np.array_equal(again.log_ratio(rows[0][:5]), c.log_ratio(rows[0][:5]))


def test_a_value_that_is_no_number_is_told_by_its_row(rows, normals):
    p = rows[0].copy()
    p[4321, 2] = np.nan
    with pytest.raises(ValueError, match="p must be finite; received NaN in row 4321, column 2"):
        isthmus.compare(p, rows[1], estimator=normals, random_state=0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"weight_p": "w"}, "weight_p must be a column of p"),
        ({"columns": ["a"]}, "apply to frames"),
        ({"client": "here"}, "client must be a dask.distributed.Client"),
    ],
)
def test_wrong_arguments(rows, given, told):
    with pytest.raises(ValueError, match=told):
        isthmus.compare(*rows, random_state=0, **given)


def test_names_and_none_do_not_match(rows):
    with pytest.raises(ValueError, match="must both have names of columns or both have none"):
        isthmus.compare(rows[0], pd.DataFrame(rows[1], columns=list("abc")), random_state=0)


def test_progress_is_told_of_passes(rows, normals):
    told = []
    isthmus.compare(
        *rows, estimator=normals, random_state=0, progress=lambda *one: told.append(one)
    )
    assert [one[0] for one in told] == sorted(one[0] for one in told)
    assert told[-1][0] == told[-1][1]
    assert any(what == "pass 3: divergences" for _, _, what in told)


def test_levels_and_missing_values_are_those_of_frames(monkeypatch, tmp_path):
    """Columns are encoded as for frames in memory, and levels of one sample are told."""
    rng = np.random.default_rng(0)
    frames = []
    for n, towns in ((3000, ["Bonn", "Kiel", "Jena"]), (2500, ["Bonn", "Kiel"])):
        frame = pd.DataFrame({"town": rng.choice(towns, n), "age": rng.normal(40, 9, n)})
        frame.loc[rng.random(n) < 0.1, "age"] = np.nan
        frames.append(frame)
    folders = [
        folder_of(pa.Table.from_pandas(frame, preserve_index=False), tmp_path / name)
        for frame, name in zip(frames, "pq", strict=True)
    ]
    with pytest.warns(UserWarning, match="'Jena' of 'town' is only in p"):
        c = isthmus.compare(*folders, random_state=0)
    assert c.feature_names == ["age", "age is missing", "town=Bonn", "town=Jena", "town=Kiel"]
    assert np.isinf(c.kl.value) and np.isfinite(c.divergence("js").value)
    assert np.isfinite(c.divergence_of_rest("kl").value)
    with pytest.warns(UserWarning, match="Jena"):
        same = isthmus.compare(*frames, random_state=0)
    assert interval(same, "js") == pytest.approx(interval(c, "js"), rel=1e-9)


def test_dropped_rows_do_not_count(tmp_path):
    rng = np.random.default_rng(0)
    frames = [
        pd.DataFrame({"x": rng.normal(s, 1, 4000), "y": rng.normal(size=4000)}) for s in (1, 0)
    ]
    for frame in frames:
        frame.loc[rng.random(4000) < 0.2, "y"] = np.nan
    c = isthmus.compare(*frames, missing="drop", random_state=0)
    assert c.sizes == tuple(int(frame["y"].notna().sum()) for frame in frames)


def test_files_of_few_rows_are_taken_whole(rows, normals, monkeypatch, tmp_path):
    """Up to the limit nothing changes: the answer is that of the rows in memory."""
    monkeypatch.setattr(opening, "LARGE", 10**6)
    tables = [pa.table({f"x{k}": x[:, k] for k in range(3)}) for x in rows]
    for table, name in zip(tables, "pq", strict=True):
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    c = isthmus.compare(
        tmp_path / "p.parquet", tmp_path / "q.parquet", estimator=normals, random_state=0
    )
    frames = [table.to_pandas() for table in tables]
    assert c.all_rows is None
    assert interval(c) == interval(isthmus.compare(*frames, estimator=normals, random_state=0))


def test_size_of_the_sample():
    assert sampling.sample_rows(3) == 600
