#!/usr/bin/env python3
"""Scores main texts against marks.

main_text_score.py MARKS.jsonl EXPORT.jsonl [SET]

EXPORT.jsonl comes from `ndcrawl export --format jsonl --text main,full` (or has "url", "text" and "full_text" by other
means). A mark names a page by the end of its URL, and the words of its visible text (`full_text`) that are main text, or that
may be in it, by their numbers. A page whose visible text has changed since is named and left out: mark it again.

Precision and recall are those of runs of four words, averaged over the pages; F1 is the harmonic mean of the averages.
"""

import collections
import hashlib
import json
import re
import sys

# Scripts without spaces have a word a character.
WORD = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\\w+")


def runs(words):
    length = min(4, len(words))
    return collections.Counter(tuple(words[at : at + length]) for at in range(len(words) - length + 1 if words else 0))


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def score(mark, row):
    words = WORD.findall(row["full_text"] or "")
    if hashlib.sha256("\n".join(words).encode()).hexdigest()[:16] != mark["digest"]:
        return None
    part = lambda ranges: [word for start, end in ranges for word in words[start:end]]
    main, optional = runs(part(mark["main"])), runs(part(mark["optional"]))
    found = runs(WORD.findall(row["text"] or ""))
    common = sum((main & found).values())
    wrong = sum(((found - main) - optional).values())
    return common / (common + wrong) if found else 0.0, common / max(1, sum(main.values()))


def main():
    marks, rows = read(sys.argv[1]), read(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else None
    kinds = collections.defaultdict(list)
    for mark in marks:
        # A folder's page has the folder's URL.
        name = "/" + mark["page"].removesuffix("index.html")
        row = next((row for row in rows if row["url"].removesuffix("index.html").endswith(name)), None)
        if wanted not in (None, mark["set"]):
            continue
        found = row and score(mark, row)
        if not found:
            print(f"{mark['page']}: {'its text has changed' if row else 'it is not in the export'}", file=sys.stderr)
            continue
        kinds[mark["kind"]].append(found)
        kinds["all"].append(found)
    for kind, scores in sorted(kinds.items()):
        precision, recall = (sum(values) / len(scores) for values in zip(*scores))
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        print(f"{kind}: {len(scores)} pages, precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}")


if __name__ == "__main__":
    main()
