"""Deduplicator beside MinHash LSH of datasketch and rensa, on the same texts: time, memory, what each finds.

    python compare.py texts DIR... -n 36000 -o texts.parquet   # main texts of HTML pages, shuffled by a fixed seed
    python compare.py run texts.parquet                        # the table; each tool in a process of its own
    python compare.py threads texts.parquet                    # one thread of Python beside two

Needs ndcrawl, datasketch, rensa, pyarrow.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

THRESHOLD = 0.8
PERMUTATIONS = 128
BATCH = 1000
WORD = re.compile(r"\w+")


def make_texts(folders: list[Path], count: int, out: Path) -> None:
    import ndcrawl

    files = sorted(file for folder in folders for file in folder.rglob("*.html") if file.is_file())
    random.Random(1).shuffle(files)
    texts = []
    for file in files:
        text = ndcrawl.extract(file.read_bytes()).text
        if len(words(text)) >= 20:
            texts.append(text)
        if len(texts) == count:
            break
    pq.write_table(pa.table({"text": texts}), out)
    print(len(texts), "texts,", sum(map(len, texts)) // len(texts), "characters on average")


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def by_ndcrawl(texts: list[str]) -> list[int]:
    import ndcrawl

    documents = ndcrawl.Deduplicator(THRESHOLD, threads=1)
    verdicts = []
    for begin in range(0, len(texts), BATCH):
        verdicts += documents.insert_many(texts[begin : begin + BATCH])
    return [number for number, verdict in enumerate(verdicts) if not verdict.is_unique]


def by_datasketch(texts: list[str]) -> list[int]:
    from datasketch import MinHash, MinHashLSH

    index, dropped = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS), []
    for number, text in enumerate(texts):
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([word.encode() for word in words(text)])
        if index.query(sketch):
            dropped.append(number)
        else:
            index.insert(number, sketch, check_duplication=False)
    return dropped


def by_rensa(texts: list[str]) -> list[int]:
    from rensa import RMinHash, RMinHashLSH

    # Bands as datasketch chooses them for this threshold.
    index, dropped = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=8), []
    for number, text in enumerate(texts):
        sketch = RMinHash(num_perm=PERMUTATIONS, seed=1)
        sketch.update(list(words(text)))
        if index.query(sketch):
            dropped.append(number)
        else:
            index.insert(number, sketch)
    return dropped


TOOLS = {"ndcrawl": by_ndcrawl, "datasketch": by_datasketch, "rensa": by_rensa}


def measure(tool: str, file: Path) -> None:
    texts = pq.read_table(file)["text"].to_pylist()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    dropped = TOOLS[tool](texts)
    seconds = time.process_time() - began
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(json.dumps({"seconds": seconds, "mebibytes": memory, "dropped": dropped}))


def similar_pairs(texts: list[str]) -> dict[str, list[set[int]]]:
    """For each text the others that reach the threshold: by Jaccard of its words, and by minimum weight overlapping.

    Both are exact. Two sets that reach a Jaccard index share at least that part of the larger one, which is their
    overlap if each word weighs the same; what the index finds so is then computed set by set.
    """
    sets = [words(text) for text in texts]
    overlap = neighbors([dict.fromkeys(words_of, 1.0) for words_of in sets])
    jaccard = [
        {other for other in found if len(sets[n] & sets[other]) >= THRESHOLD * len(sets[n] | sets[other])}
        for n, found in enumerate(overlap)
    ]
    return {"Jaccard": jaccard, "MWO": neighbors(texts)}


def neighbors(documents: list) -> list[set[int]]:
    import ndcrawl

    # At threshold 1 only those that equal a kept one are left out: they have its neighbors.
    index = ndcrawl.Deduplicator(1.0, min_terms=20)
    verdicts = index.insert_many(documents)
    equal: dict[int, set[int]] = {}
    for number, verdict in enumerate(verdicts):
        equal.setdefault(number if verdict.is_unique else verdict.of, set()).add(number)
    found: dict[int, set[int]] = {}
    for kept, matches in zip(equal, index.matches_many([documents[kept] for kept in equal], THRESHOLD)):
        found[kept] = set().union(equal[kept], *(equal[match.key] for match in matches))
    return [found[number if verdict.is_unique else verdict.of] for number, verdict in enumerate(verdicts)]


def check_truth(texts: list[str], truth: dict[str, list[set[int]]]) -> None:
    """Compares 100 texts with all by brute force."""
    sets = [words(text) for text in texts]
    for number in random.Random(2).sample(range(len(texts)), 100):
        by_force = {
            other
            for other in range(len(texts))
            if len(sets[number] & sets[other]) >= THRESHOLD * len(sets[number] | sets[other])
        }
        assert by_force == truth["Jaccard"][number] | {number}, number


def compare(file: Path) -> None:
    texts = pq.read_table(file)["text"].to_pylist()
    results = {}
    for tool in TOOLS:
        told = subprocess.run([sys.executable, __file__, "measure", tool, str(file)], stdout=subprocess.PIPE, check=True)
        results[tool] = json.loads(told.stdout)
    truth = similar_pairs(texts)
    check_truth(texts, truth)
    print("| tool | CPU seconds | MiB | dropped | " + " | ".join(f"missed, wrong ({name})" for name in truth) + " |")
    print("|---" * (4 + len(truth)) + "|")
    for tool, result in results.items():
        dropped = set(result["dropped"])
        cells = []
        for near in truth.values():
            missed = wrong = 0
            for number in range(len(texts)):
                repeats = any(other < number and other not in dropped for other in near[number])
                missed += repeats and number not in dropped
                wrong += not repeats and number in dropped
            cells.append(f"{missed}, {wrong}")
        numbers = f"{result['seconds']:.1f} | {result['mebibytes']} | {len(dropped):,}"
        print(f"| {tool} | {numbers} | {' | '.join(cells)} |")


def compare_threads(file: Path) -> None:
    import ndcrawl

    texts = pq.read_table(file)["text"].to_pylist()
    batches = [texts[begin : begin + 250] for begin in range(0, len(texts), 250)]
    for threads in (1, 2, 1, 2):
        documents, waiting = ndcrawl.Deduplicator(THRESHOLD, threads=1), iter(batches)

        def work() -> None:
            # Taking the next of a list is one step under Python's lock.
            for batch in waiting:
                documents.insert_many(batch)

        workers = [threading.Thread(target=work) for _ in range(threads)]
        began = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        print(f"{threads} threads: {time.perf_counter() - began:.2f} s, {len(documents)} documents")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    texts = commands.add_parser("texts")
    texts.add_argument("folders", nargs="+", type=Path)
    texts.add_argument("-n", type=int, default=36_000)
    texts.add_argument("-o", type=Path, required=True)
    for name in ("run", "threads"):
        commands.add_parser(name).add_argument("file", type=Path)
    one = commands.add_parser("measure")
    one.add_argument("tool", choices=TOOLS)
    one.add_argument("file", type=Path)
    given = parser.parse_args()
    if given.command == "texts":
        make_texts(given.folders, given.n, given.o)
    elif given.command == "run":
        compare(given.file)
    elif given.command == "threads":
        compare_threads(given.file)
    else:
        measure(given.tool, given.file)


if __name__ == "__main__":
    main()
