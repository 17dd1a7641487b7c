"""Files that were changed, cut off or made up: each is refused, or gives the same to the bit."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from isthmus import MDRE, ModelFileError, load, stack
from isthmus.storing.arrays import array_bytes, array_facts, array_from
from isthmus.storing.container import from_json, read_members, unzipped, write_members
from isthmus.storing.trees import TreeSum

NEW = np.random.default_rng(1).normal(0.3, 2.0, (50, 2))


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X, y = stack(rng.normal(0.0, 1.0, (120, 2)), rng.normal(0.7, 1.2, (120, 2)))
    return MDRE(critic="quadratic", maps="quantile", l2=1.0, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def file(model, tmp_path_factory):
    return model.save(tmp_path_factory.mktemp("model") / "model.isthmus")


@pytest.fixture
def forged(file, tmp_path):
    """A function that changes the JSON of a model and makes the checksums anew."""

    def make(change):
        members = read_members(file)
        content = json.loads(members["model.json"])
        change(content, members)
        members["model.json"] = json.dumps(content).encode()
        return write_members(tmp_path / "forged.isthmus", members)

    return make


def zipped(members, **how):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **how) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def mutated(data, rng):
    """The bytes of a file with one thing changed, in one of several ways."""
    kind = rng.choice(["flip", "cut", "lost", "twice", "swap", "json", "insert"])
    raw = bytearray(data)
    if kind == "flip":
        for at in rng.integers(0, len(raw), rng.integers(1, 4)):
            raw[at] ^= 1 << int(rng.integers(8))
        return bytes(raw)
    at, size = int(rng.integers(len(raw))), int(rng.integers(1, 200))
    if kind == "cut":
        return data[:at]
    if kind == "lost":
        return data[:at] + data[at + size :]
    if kind == "insert":
        return data[:at] + rng.bytes(size) + data[at:]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    first, second = rng.choice(len(members), 2, replace=False)
    if kind == "twice":
        # Python warns of its own zip, which a test would take for an error.
        members.append((members[first][0] + "x", members[first][1]))
    elif kind == "swap":
        a, b = members[first], members[second]
        members[first], members[second] = (a[0], b[1]), (b[0], a[1])
    else:
        place = next(k for k, one in enumerate(members) if one[0] == "model.json")
        text = bytearray(members[place][1])
        digits = [k for k, one in enumerate(text) if chr(one).isdigit()]
        text[digits[int(rng.integers(len(digits)))]] = ord(str(rng.integers(10)))
        members[place] = ("model.json", bytes(text))
    return zipped(members)


def test_two_hundred_mutated_files(model, file, tmp_path):
    data, wanted = file.read_bytes(), model.log_ratio(NEW)
    rng, changed = np.random.default_rng(0), tmp_path / "changed.isthmus"
    refused = 0
    for _ in range(200):
        changed.write_bytes(mutated(data, rng))
        try:
            found = load(changed)
        except ModelFileError as error:
            refused += 1
            assert str(changed) in str(error)
        else:
            assert np.array_equal(found.log_ratio(NEW), wanted)
    # A bit of a date or of the comment of a zip says nothing of the model; most others do.
    assert refused > 150


def test_two_hundred_forged_models(model, file, tmp_path):
    # With checksums that are right: whatever is made of it is a model or a sentence.
    rng, changed = np.random.default_rng(1), tmp_path / "forged.isthmus"
    members = read_members(file)
    text = members["model.json"]
    for _ in range(200):
        raw = bytearray(text)
        for at in rng.integers(0, len(raw), 2):
            raw[at] = int(rng.choice(list(b'0123456789[]{}",:-.ntfe')))
        write_members(changed, {**members, "model.json": bytes(raw)})
        try:
            found = load(changed)
        except ModelFileError:
            continue
        assert np.allclose(found.log_ratio(NEW), model.log_ratio(NEW), rtol=1e-5, atol=1e-5)


class Evil:
    """Would leave a mark if it were unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


class TestNothingIsExecuted:
    def test_a_pickle_in_place_of_an_array(self, forged, tmp_path):
        mark = tmp_path / "mark"
        out = io.BytesIO()
        np.save(out, np.array([Evil(mark)], dtype=object), allow_pickle=True)

        def change(content, members):
            members["arrays/0.npy"] = out.getvalue()
            content["arrays"][0] = {"dtype": "|O", "shape": [1]}

        with pytest.raises(ModelFileError, match="not the array"):
            load(forged(change))
        assert not mark.exists()

    def test_a_pickle_as_the_file(self, tmp_path):
        mark, file = tmp_path / "mark", tmp_path / "model.isthmus"
        file.write_bytes(pickle.dumps(Evil(mark)))
        with pytest.raises(ModelFileError, match="not a whole file of a model"):
            load(file)
        assert not mark.exists()

    @pytest.mark.parametrize("name", ["os.system", "builtins.eval", "isthmus.files", "Kind"])
    def test_a_class_that_is_not_listed(self, name, forged):
        def change(content, members):
            content["objects"][0] = {"class": name, "fields": {"args": ["true"]}}

        with pytest.raises(ModelFileError, match="none of this version's parts"):
            load(forged(change))

    @pytest.mark.parametrize("name", ["__class__", "__dict__", "log_ratio", "fitted_to_", "x"])
    def test_an_attribute_that_is_not_listed(self, name, forged):
        def change(content, members):
            content["objects"][-1]["fields"][name] = 1

        with pytest.raises(ModelFileError, match="does not have"):
            load(forged(change))

    @pytest.mark.parametrize("name", ["eval", "columns.__globals__", None])
    def test_a_function_that_is_not_listed(self, name, forged):
        def change(content, members):
            content["value"] = {"function": name}

        with pytest.raises(ModelFileError):
            load(forged(change))

    def test_a_function_in_a_part_of_scikit_learn(self, tmp_path, file):
        skops = pytest.importorskip("skops.io")
        import os

        from sklearn.preprocessing import FunctionTransformer

        members = read_members(file)
        content = json.loads(members["model.json"])
        content["scikit-learn"] = 1
        members["scikit-learn/0.skops"] = skops.dumps(FunctionTransformer(os.system))
        members["model.json"] = json.dumps(content).encode()
        with pytest.raises(ModelFileError, match=r"system, which is not among the trusted"):
            load(write_members(tmp_path / "forged.isthmus", members))

    def test_a_layer_that_is_not_listed(self, tmp_path, file):
        pytest.importorskip("torch")
        tensors = pytest.importorskip("safetensors.numpy")
        members = read_members(file)
        content = json.loads(members["model.json"])
        content["networks"] = [{"layers": ["LazyLinear", {}], "training": False}]
        members["networks/0.safetensors"] = tensors.save({"w": np.zeros(1)})
        members["model.json"] = json.dumps(content).encode()
        with pytest.raises(ModelFileError, match="layer that is none"):
            load(write_members(tmp_path / "forged.isthmus", members))


class TestParts:
    def test_a_place_that_comes_later(self, forged):
        def change(content, members):
            field = next(iter(content["objects"][0]["fields"]))
            content["objects"][0]["fields"][field] = {"object": len(content["objects"]) - 1}

        with pytest.raises(ModelFileError, match="place"):
            load(forged(change))

    @pytest.mark.parametrize("value", [{"object": -1}, {"object": True}, {"a": 1, "b": 2}, {}])
    def test_values_of_no_kind(self, value, forged):
        def change(content, members):
            content["value"] = value

        with pytest.raises(ModelFileError, match=r"model\.json"):
            load(forged(change))

    def test_what_is_no_model(self, forged):
        def change(content, members):
            content["value"] = [1, 2]

        with pytest.raises(ModelFileError, match="no estimator, no comparison and no reference"):
            load(forged(change))

    def test_parts_that_do_not_fit_together(self, forged):
        def change(content, members):
            for one in content["objects"]:
                if one["class"] == "maps.affine":
                    one["fields"]["forward"] = "text"

        with pytest.raises(ModelFileError, match="do not make a model"):
            load(forged(change))

    def test_other_numbers(self, forged):
        def change(content, members):
            for k, facts in enumerate(content["arrays"]):
                if facts["dtype"] == "<f8":
                    array = array_from(members[f"arrays/{k}.npy"], facts, "")
                    members[f"arrays/{k}.npy"] = array_bytes(array + 1.0)

        with pytest.raises(ModelFileError, match="other log-ratios"):
            load(forged(change))

    def test_a_json_that_is_nested_a_million_times(self, tmp_path, file):
        members = read_members(file)
        members["model.json"] = b"[" * 1_000_000
        with pytest.raises(ModelFileError, match="not JSON"):
            load(write_members(tmp_path / "forged.isthmus", members))
        with pytest.raises(ModelFileError, match="not JSON"):
            from_json(b'{"a": 1, "a": 2}', "model.json")
        with pytest.raises(ModelFileError, match="not JSON"):
            from_json(b"NaN", "model.json")

    def test_an_array_that_says_it_is_larger_than_it_is(self):
        array = np.arange(4.0)
        data = array_bytes(array)
        huge = data.replace(b"(4,)", b"(9,)")
        with pytest.raises(ModelFileError, match="as long as its shape"):
            array_from(huge, {"dtype": "<f8", "shape": [9]}, "arrays/0.npy")
        with pytest.raises(ModelFileError, match="not the array"):
            array_from(huge, array_facts(array), "arrays/0.npy")
        with pytest.raises(ModelFileError, match="not an array"):
            array_from(data[:20], array_facts(array), "arrays/0.npy")

    @pytest.mark.parametrize("wrong", [{"left": 9}, {"left": 0}, {"feature": 5}, {"feature": -1},
                                       {"bitset": 1}, {"sizes": 2}])  # fmt: skip
    def test_trees_whose_nodes_point_outside(self, wrong):
        given = {"left": 1, "feature": 0, "bitset": 0, "sizes": 3} | wrong
        zeros, none = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=bool)
        leaf = np.array([False, True, True])
        trees = TreeSum(
            baseline=0.0,
            sizes=np.array([given["sizes"]]),
            value=np.array([0.0, 1.0, 2.0]),
            threshold=np.zeros(3),
            feature=zeros + given["feature"],
            left=zeros + given["left"],
            right=zeros + 2,
            leaf=leaf,
            missing_left=none,
            categorical=~leaf,
            bitset=zeros + given["bitset"],
            bitset_sizes=np.array([1]),
            bitsets=np.ones((1, 8), dtype=np.uint32),
            categories=(np.array([0.0, 1.0]),),
            columns=2,
        )
        with pytest.raises(ModelFileError, match="point outside"):
            trees.decision_function(np.zeros((1, 2)))


class TestTheContainer:
    def test_a_zip_bomb(self):
        data = zipped([("a", bytes(10_000_000))], compression=zipfile.ZIP_DEFLATED)
        with pytest.raises(ModelFileError, match="compressed"):
            unzipped(data)

    def test_members_that_overlap(self, file):
        # The directory of a zip whose members all claim the bytes of the largest.
        data = zipped([(str(k), bytes(1000)) for k in range(20)])
        first = data.index(b"PK\x01\x02")
        raw = bytearray(data)
        at = first
        while raw[at : at + 4] == b"PK\x01\x02":
            raw[at + 42 : at + 46] = bytes(4)
            raw[at + 20 : at + 28] = (15_000).to_bytes(4, "little") * 2
            at += 46 + int.from_bytes(raw[at + 28 : at + 30], "little")
        with pytest.raises(ModelFileError, match="longer than the file"):
            unzipped(bytes(raw))

    def test_a_member_that_is_there_twice(self):
        with pytest.warns(UserWarning, match="Duplicate"):
            data = zipped([("a", b"1"), ("a", b"2")])
        with pytest.raises(ModelFileError, match="twice"):
            unzipped(data)

    def test_a_newer_version(self, file, tmp_path):
        newer = tmp_path / "newer.isthmus"
        with zipfile.ZipFile(file) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(members["manifest.json"])
        manifest |= {"format_version": 99, "isthmus": "7.0"}
        members["manifest.json"] = json.dumps(manifest).encode()
        newer.write_bytes(zipped(members.items()))
        with pytest.raises(ModelFileError, match=r"isthmus 7.0 in version 99.*newer isthmus"):
            load(newer)

    @pytest.mark.parametrize("extra", ["further.json", "../../escape", "/etc/passwd"])
    def test_a_member_that_is_not_listed(self, extra, file, tmp_path):
        with zipfile.ZipFile(file) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()]
        changed = tmp_path / "changed.isthmus"
        changed.write_bytes(zipped([*members, (extra, b"")]))
        with pytest.raises(ModelFileError, match="lists"):
            load(changed)

    def test_files_of_another_kind(self, tmp_path):
        other = tmp_path / "other.zip"
        other.write_bytes(zipped([("a.txt", b"text")]))
        with pytest.raises(ModelFileError, match=r"no manifest\.json"):
            load(other)
        other.write_bytes(b"")
        with pytest.raises(ModelFileError, match="not a whole file"):
            load(other)
        with pytest.raises(ModelFileError, match="no such file"):
            load(tmp_path / "nothing")
        with pytest.raises(ModelFileError, match="received a folder"):
            load(tmp_path)

    def test_every_member_has_its_checksum(self, file):
        with zipfile.ZipFile(file) as archive:
            listed = json.loads(archive.read("manifest.json"))["members"]
            names = [name for name in archive.namelist() if name != "manifest.json"]
            assert set(listed) == set(names)
            for name in names:
                assert hashlib.sha256(archive.read(name)).hexdigest() == listed[name]["sha256"]
