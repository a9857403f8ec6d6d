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


def by_ndcrawl(texts: list[str], threshold: float = THRESHOLD) -> list[int]:
    import ndcrawl

    documents = ndcrawl.Deduplicator(threshold, own_words=False, threads=1)
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


def by_ndcrawl_at_jaccard(texts: list[str]) -> list[int]:
    """At the overlap that two sets of one size have if their Jaccard index is the threshold."""
    return by_ndcrawl(texts, 2 * THRESHOLD / (1 + THRESHOLD))


TOOLS = {"ndcrawl": by_ndcrawl, "ndcrawl at 0.889": by_ndcrawl_at_jaccard, "datasketch": by_datasketch, "rensa": by_rensa}


def measure(tool: str, file: Path, count: int | None) -> None:
    texts = read(file, count)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    dropped = TOOLS[tool](texts)
    seconds = time.process_time() - began
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    print(json.dumps({"seconds": seconds, "mebibytes": memory, "dropped": dropped}))


def repeats(kept: list[int], documents: list[str]) -> list[bool]:
    """For each document whether it reaches the threshold with an earlier one of those that were kept.

    Exact. Only kept documents are searched: they are few beside each other, however large a cluster is. Texts of fewer
    than 20 terms are compared whole, as the definition has it.
    """
    import ndcrawl

    # At threshold 1 only those that equal an earlier one are left out.
    index = ndcrawl.Deduplicator(1.0, own_words=False, min_terms=20)
    index.insert_many([documents[number] for number in kept], keys=kept)
    found = []
    for begin in range(0, len(documents), BATCH):
        found += index.matches_many(documents[begin : begin + BATCH], THRESHOLD)
    texts = [" ".join(text.split()) for text in documents]
    first: dict[str, int] = {}
    for number in kept:
        first.setdefault(texts[number], number)
    return [
        any(match.key < number for match in matches) or first.get(texts[number], number) < number
        for number, matches in enumerate(found)
    ]


def repeats_by_jaccard(kept: list[int], sets: list[frozenset[str]]) -> list[bool]:
    """The same by the Jaccard index of sets of words.

    Two sets that reach it share at least that part of the larger one, which is their overlap if each word weighs the
    same. What the index finds so is then computed set by set.
    """
    import ndcrawl

    index = ndcrawl.Deduplicator(1.0, own_words=False, min_terms=1)
    index.insert_many([dict.fromkeys(sets[number], 1.0) for number in kept], keys=kept)
    found = []
    for begin in range(0, len(sets), BATCH):
        weighted = [dict.fromkeys(words_of, 1.0) for words_of in sets[begin : begin + BATCH]]
        for number, matches in enumerate(index.matches_many(weighted, THRESHOLD), begin):
            earlier = (match.key for match in matches if match.key < number)
            found.append(any(is_similar(sets[number], sets[other]) for other in earlier))
    return found


def is_similar(one: frozenset[str], other: frozenset[str]) -> bool:
    return jaccard(one, other) >= THRESHOLD


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def check(found: list[bool], kept: list[int], sets: list[frozenset[str]]) -> None:
    """Compares 100 texts with all kept ones by brute force."""
    for number in random.Random(2).sample(range(len(sets)), min(100, len(sets))):
        by_force = any(is_similar(sets[number], sets[other]) for other in kept if other < number)
        assert by_force == found[number], number


def compare(file: Path, count: int | None) -> None:
    results = {}
    for tool in TOOLS:
        # Before anything is read here: the peak memory of a process begins with that of its parent.
        command = [sys.executable, __file__, "measure", tool, str(file)] + (["-n", str(count)] if count else [])
        results[tool] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    texts = read(file, count)
    sets = [frozenset(words(text)) for text in texts]
    print("| tool | CPU seconds | MiB | dropped | missed, wrong (Jaccard) | missed, wrong (MWO) |")
    print("|---" * 6 + "|")
    for tool, result in results.items():
        dropped = set(result["dropped"])
        kept = [number for number in range(len(texts)) if number not in dropped]
        truth = [repeats_by_jaccard(kept, sets), repeats(kept, texts)]
        check(truth[0], kept, sets)
        cells = []
        for found in truth:
            missed = sum(repeated and number not in dropped for number, repeated in enumerate(found))
            wrong = sum(not repeated and number in dropped for number, repeated in enumerate(found))
            cells.append(f"{missed:,}, {wrong:,}")
        numbers = f"{result['seconds']:.1f} | {result['mebibytes']} | {len(dropped):,}"
        print(f"| {tool} | {numbers} | {' | '.join(cells)} |", flush=True)


def read(file: Path, count: int | None) -> list[str]:
    return pq.read_table(file)["text"].slice(0, count).to_pylist()


def compare_threads(file: Path, count: int | None) -> None:
    import ndcrawl

    texts = read(file, count)
    batches = [texts[begin : begin + 250] for begin in range(0, len(texts), 250)]
    for threads in (1, 2, 1, 2):
        documents, waiting = ndcrawl.Deduplicator(THRESHOLD, own_words=False, threads=1), iter(batches)

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
    one = commands.add_parser("measure")
    one.add_argument("tool", choices=TOOLS)
    for command in (commands.add_parser("run"), commands.add_parser("threads"), one):
        command.add_argument("file", type=Path)
        command.add_argument("-n", type=int, help="only the first so many texts")
    given = parser.parse_args()
    if given.command == "texts":
        make_texts(given.folders, given.n, given.o)
    elif given.command == "run":
        compare(given.file, given.n)
    elif given.command == "threads":
        compare_threads(given.file, given.n)
    else:
        measure(given.tool, given.file, given.n)


if __name__ == "__main__":
    main()
