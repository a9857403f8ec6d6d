"""dataset.py FOLDER CACHE: loads a data set folder with Hugging Face's datasets, and prints what it holds.

One JSON object: rows, columns, rows of each split as the card
tells them, the first and the last row's URL, and the kind of each column.
"""
import json
import sys

import datasets

datasets.disable_progress_bars()
folder, cache = sys.argv[1:]
loaded = datasets.load_dataset(folder, split="train", cache_dir=cache)
card = datasets.load_dataset_builder(folder, cache_dir=cache).info
print(json.dumps({
    "rows": len(loaded),
    "told": card.splits["train"].num_examples,
    "urls": loaded["url"][:],
    "texts": sum(len(text or "") for text in loaded["text"]),
    "provenance": sorted(loaded.features["provenance"]) if "provenance" in loaded.features else None,
    "as_told": loaded.features == card.features,
}))
