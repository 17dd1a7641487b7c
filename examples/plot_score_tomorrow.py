"""
Save a model, score tomorrow's rows
===================================

A comparison is worked out once and written to a file. The file scores new rows later, on another
machine, from raw tables: the encoder of its columns is in it, and the rows of the samples are not.

The table: chemical measurements of wines, from scikit-learn. The sample p are wines of the first
two cultivars, q those of the last two.
"""

# %%
# One day: compare, and save.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import isthmus

wine = load_wine(as_frame=True)
table = wine.data[["alcohol", "color_intensity", "proline", "hue"]]
table = table.assign(strength=np.where(table["alcohol"] > 13, "strong", "light"))
rng = np.random.default_rng(0)
held = rng.random(len(table)) < 0.3
p = table[(wine.target <= 1) & ~held]
q = table[(wine.target >= 1) & ~held]

folder = Path(tempfile.mkdtemp())
found = isthmus.compare(p, q, random_state=0)
file = found.save(folder / "wine.isthmus")
print(found.kl)
print(f"{file.stat().st_size / 1024:.0f} kB")

# %%
# The next day: load, and score rows that were not there before. The numbers are the same to the
# bit, and the answers are as they were.

again = isthmus.load(file)
new = table[held]
print(np.array_equal(again.log_ratio(new), found.log_ratio(new)))
print(again.kl, "| rests on", again.rests_on)

# %%
# The same for files of any length, block by block, with a key beside the scores. This is what
# ``isthmus score wine.isthmus new.csv -o scores.csv --columns bottle --weights`` does.

new.reset_index(names="bottle").to_csv(folder / "new.csv", index=False)
target = folder / "scores.csv"
count = isthmus.score(again, folder / "new.csv", target, columns=["bottle"], weights=True)
print(count, "rows")
print("\n".join(target.read_text().splitlines()[:4]))

# %%
# Which cultivar is which: the log-ratio is high where only p has wines, and low where only q has.

score = again.log_ratio(new)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for kind in range(3):
    own = score[wine.target[held] == kind]
    ax.scatter(own, np.full(len(own), kind))
ax.set_yticks(range(3), wine.target_names)
ax.set_xlabel("log p/q of wines that were not compared")
plt.show()

# %%
# A file that is not whole, or that was changed, is refused in a sentence; nothing in a file is ever
# executed.

(folder / "cut.isthmus").write_bytes(file.read_bytes()[:-100])
try:
    isthmus.load(folder / "cut.isthmus")
except isthmus.ModelFileError as error:
    print(str(error).split(": ", 1)[1])
