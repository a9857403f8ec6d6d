#!/usr/bin/env python3
"""Articles that stand on several hosts of one page each: how many copies does `ndcrawl dedup` find?

    syndication.py make DIR PAGES.jsonl [--articles 2000] [--seed 1] [--most-shared 0.2]
    ndcrawl dedup PAGES.jsonl -o OUT --no-warc
    syndication.py score PAGES.jsonl OUT

`make` takes the main texts of the HTML pages below DIR, 110 to 2,500 words long and unlike each other. Each is printed
on two to five hosts. Every copy has an edit: none, 3 in 100 words changed, the last fifth missing, or a new first
paragraph (5 to 15% of the text). Every host has a frame of its own, 6 to 30% of the length of its text. `score` counts the copies that are
called near-duplicates of a page with the same text, and pages that are called so of another text.
Standard library only."""
import argparse
import collections
import html
import json
import os
import random
import re
from html.parser import HTMLParser

EDITS = ('none', 'words', 'cut', 'paragraph')
SKIPPED = {'script', 'style', 'head', 'nav', 'header', 'footer', 'aside', 'pre', 'table'}
BLOCKS = {'p', 'div', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'td', 'dt', 'dd', 'br', 'section', 'article'}


class Lines(HTMLParser):
    """The lines of a page that a reader sees, without navigation, tables and code."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.lines, self.skipped = [[]], 0

    def handle_starttag(self, tag, attributes):
        self.skipped += tag in SKIPPED
        if tag in BLOCKS:
            self.lines.append([])

    def handle_endtag(self, tag):
        self.skipped = max(0, self.skipped - (tag in SKIPPED))
        if tag in BLOCKS:
            self.lines.append([])

    def handle_data(self, data):
        if not self.skipped:
            self.lines[-1].extend(data.split())


def lines_of(path):
    parser = Lines()
    with open(path, encoding='utf-8', errors='replace') as file:
        parser.feed(file.read())
    return [' '.join(line) for line in parser.lines if len(line) > 3]


def runs(words):
    return {hash(tuple(words[at:at + 4])) for at in range(len(words) - 3)}


def texts(folder, wanted, random_, most_shared):
    """Returns lists of lines; of each text, less than this part of its runs of four words stands in any before."""
    paths = [os.path.join(base, name) for base, _, names in os.walk(folder) for name in names
             if name.endswith(('.html', '.htm')) and os.path.getsize(os.path.join(base, name)) < 400_000]
    paths.sort()
    random_.shuffle(paths)
    found, index = [], collections.defaultdict(set)
    for path in paths:
        lines = lines_of(path)
        words = ' '.join(lines).lower().split()
        own = runs(words)
        if not 110 <= len(words) <= 2500 or len(own) < 90:
            continue
        common = collections.Counter(text for run in own for text in index[run])
        if any(count > most_shared * min(len(own), found[text][1]) for text, count in common.items()):
            continue
        for run in own:
            index[run].add(len(found))
        found.append((lines, len(own)))
        if len(found) == wanted:
            break
    return [lines for lines, _ in found]


def edited(lines, edit, vocabulary, random_):
    if edit == 'paragraph':
        length = sum(len(line.split()) for line in lines)
        return [' '.join(random_.choices(vocabulary, k=max(12, int(length * random_.uniform(0.05, 0.15)))))] + lines
    if edit == 'cut':
        return cut(lines, 0.8)
    if edit == 'words':
        change = lambda word: random_.choice(vocabulary) if random_.random() < 0.03 else word
        return [' '.join(map(change, line.split())) for line in lines]
    return lines


def cut(lines, part):
    left, kept = int(part * sum(len(line.split()) for line in lines)), []
    for line in lines:
        words = line.split()[:left]
        left -= len(words)
        kept += [' '.join(words)] if words else []
    return kept


def page(title, lines, vocabulary, random_):
    """Prints a text in a frame of its own."""
    length = sum(len(line.split()) for line in lines)
    frame = random_.choices(vocabulary, k=max(8, int(length * random_.uniform(0.06, 0.3))))
    half = len(frame) // 2
    items = ''.join(f'<li><a href="/{number}">{html.escape(" ".join(frame[at:at + 2]))}</a></li>'
                    for number, at in enumerate(range(0, half, 2)))
    title = html.escape(title)
    body = ''.join(f'<p>{html.escape(line)}</p>' for line in lines)
    return (f'<html><head><title>{title} - {frame[-1]}</title></head><body><nav><ul>{items}</ul></nav>'
            f'<h1>{title}</h1>{body}<footer>{html.escape(" ".join(frame[half:]))}</footer></body></html>')


def make(folder, out, articles, seed, most_shared):
    random_ = random.Random(seed)
    found = texts(folder, articles, random_, most_shared)
    # Each occurrence counts, so that frames have stop words as texts have.
    vocabulary = [word for lines in found for line in lines for word in re.findall(r"[^\W\d_]+", line)]
    pages = []
    for number, lines in enumerate(found):
        for copy in range(random_.randint(2, 5)):
            edit = 'none' if copy == 0 else random_.choice(EDITS)
            title = ' '.join(lines[0].split()[:8])
            text = page(title, edited(lines, edit, vocabulary, random_), vocabulary, random_)
            pages.append({'url': f'http://h{number}x{copy}.test/{number}-{copy}-{edit}.html', 'html': text})
    random_.shuffle(pages)
    with open(out, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(page) + '\n' for page in pages)
    print(f'{len(found)} texts on {len(pages)} hosts')


def score(pages, out):
    name = lambda url: url.rsplit('/', 1)[1].removesuffix('.html').split('-')
    rows = [json.loads(line) for line in open(os.path.join(out, 'pages.jsonl'), encoding='utf-8')]
    expected = collections.Counter(name(json.loads(line)['url'])[0] for line in open(pages, encoding='utf-8'))
    copies = sum(count - 1 for count in expected.values())
    stored, wrong, by_edit = collections.Counter(), [], collections.Counter()
    for row in rows:
        text, _, edit = name(row['url'])
        if row['outcome'] == 'stored':
            stored[text] += 1
            by_edit[edit] += stored[text] > 1
        elif row.get('duplicate_of') and name(row['duplicate_of'])[0] != text:
            wrong.append((row['url'], row['duplicate_of']))
    missed = sum(count - 1 for count in stored.values())
    dropped = len(rows) - sum(stored.values())
    print(f'copies {copies}, found {copies - missed}: recall {(copies - missed) / copies:.4f}; kept twice, by edit: {dict(by_edit)}')
    print(f'dropped {dropped}, of another text {len(wrong)}: precision {1 - len(wrong) / max(1, dropped):.4f}')
    for pair in wrong[:20]:
        print('   ', *pair)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser('make')
    making.add_argument('folder')
    making.add_argument('out')
    making.add_argument('--articles', type=int, default=2000)
    making.add_argument('--seed', type=int, default=1)
    making.add_argument('--most-shared', type=float, default=0.2)
    making.set_defaults(run=make)
    scoring = commands.add_parser('score')
    scoring.add_argument('pages')
    scoring.add_argument('out')
    scoring.set_defaults(run=score)
    options = vars(parser.parse_args())
    options.pop('run')(**options)


if __name__ == '__main__':
    main()
