#!/usr/bin/env python3
"""What ndcrawl and other tools drop, each at its own defaults, on the same texts: a table in Markdown on stdout, and the figures as JSON.

    public_table.py BINARY DATA RESULTS.json [--tools NAME,...] [--sets NAME,...] [--drops FOLDER]

DATA     texts100/all.jsonl (real_texts.py --most 6300), outside/SET.jsonl, families/SEED-file.jsonl
RESULTS  what is there is kept, so that tools and sets can be run one by one
FOLDER   of the texts, 60 that each tool dropped and no kept text holds whole, drawn at random, beside the kept text that holds most of them: to be read

All tools get the same texts in the same order, and are judged by the same rules, from what they keep alone:

lost     a document of which no kept one has the same truth; or a text's word in no run of five words of a kept text
missed   a kept document beyond the first of its truth

A tool that is not installed is said and left out: datasketch, rensa, text-dedup, datatrove[processing] and its tokenizers. Pages become text by the
module ndcrawl. Words and runs are those of verdict_table.py. Times are CPU times of the process and its children, reading the file included."""
import argparse
import array
import collections
import datetime
import importlib.metadata
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from verdict_table import RUN, WORD, uncovered

DRAWN = 60


# Tools: each takes texts in order, and returns the numbers of those that it drops. ndcrawl is a program, see `by_program`.


def by_datasketch(texts):
    """The first example of its documentation: sets of words, threshold 0.9."""
    from datasketch import MinHash, MinHashLSH

    index, dropped = MinHashLSH(), []
    for number, text in enumerate(texts):
        sketch = MinHash()
        sketch.update_batch([word.encode() for word in set(text.split())])
        if index.query(sketch):
            dropped.append(number)
        else:
            index.insert(number, sketch)
    return dropped


def by_rensa(texts):
    """The example of its documentation: R-MinHash, words, 0.8."""
    from rensa import RMinHashDeduplicator

    kept = RMinHashDeduplicator(threshold=0.8, num_perm=128, use_lsh=True).add_pairs((str(number), text.split()) for number, text in enumerate(texts))
    return [number for number, keep in enumerate(kept) if not keep]


def by_rensa_rho(texts):
    """Its newest mode with the settings of its benchmark: runs of three words, 128 values in 8 bands. Row by row, so that the first of its kind stays."""
    from rensa import RMinHash, RMinHashLSH

    index, dropped = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=8), []
    for number, text in enumerate(texts):
        words = text.lower().split()
        runs = [' '.join(words[at:at + 3]) for at in range(len(words) - 2)] or words
        matrix = RMinHash.digest_matrix_from_token_sets_rho([runs], num_perm=128, seed=12345)
        dropped += [number] * index.insert_matrix_and_query_duplicate_flags(matrix, number)[0]
    return dropped


def by_text_dedup(texts):
    """python -m text_dedup.minhash: runs of five words, 250 values, 0.7, clusters joined."""
    import datasets

    with tempfile.TemporaryDirectory() as folder:
        datasets.Dataset.from_dict({'text': texts, 'number': list(range(len(texts)))}).save_to_disk(f'{folder}/in')
        command = [sys.executable, '-m', 'text_dedup.minhash', '--path', f'{folder}/in', '--local', '--output', f'{folder}/out', '--column', 'text', '--cache_dir', f'{folder}/cache']
        subprocess.run(command, check=True, capture_output=True, cwd=folder)
        kept = set(datasets.load_from_disk(f'{folder}/out')['number'])
    return [number for number in range(len(texts)) if number not in kept]


def by_datatrove(texts):
    """Its four stages: runs of five words, 14 buckets of 8 values, clusters joined."""
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig

    def documents(data=None, rank=0, world_size=1):
        return (Document(text=text, id=str(number)) for number, text in enumerate(texts))

    kept = []

    def keep(data, rank=0, world_size=1):
        for document in data:
            kept.append(int(document.id))
            yield document

    config = MinhashConfig()
    with tempfile.TemporaryDirectory() as folder:
        stages = [
            ([documents, MinhashDedupSignature(f'{folder}/signatures', config)], 1),
            ([MinhashDedupBuckets(f'{folder}/signatures', f'{folder}/buckets', config=config)], config.num_buckets),
            ([MinhashDedupCluster(f'{folder}/buckets', f'{folder}/remove', config=config)], 1),
            ([documents, MinhashDedupFilter(f'{folder}/remove'), keep], 1),
        ]
        for at, (pipeline, tasks) in enumerate(stages):
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f'{folder}/log{at}').run()
    return sorted(set(range(len(texts))) - set(kept))


PEERS = {
    'datasketch': (by_datasketch, ['datasketch']),
    'rensa': (by_rensa, ['rensa']),
    'rensa, rho': (by_rensa_rho, ['rensa']),
    'text-dedup': (by_text_dedup, ['text-dedup']),
    'datatrove': (by_datatrove, ['datatrove']),
}
OURS = {'ndcrawl': [], 'ndcrawl, --lose-at-most 0': ['--lose-at-most', '0']}


def by_program(binary, file, flags):
    """Runs `dedup` and returns the identifiers of what it drops."""
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, 'dedup', file, '-o', f'{folder}/out', '--no-warc', '--progress', 'none', '-q', *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{" ".join(map(str, command))}: exit code {done.returncode}: {done.stderr[-400:]}')
        with open(f'{folder}/out/pages.jsonl', encoding='utf-8') as lines:
            rows = {row['id']: row['outcome'] for row in map(json.loads, lines)}
    strange = collections.Counter(outcome for outcome in rows.values() if outcome not in ('stored', 'near-duplicate', 'exact-duplicate'))
    if strange:
        print(f'{file}: neither kept nor dropped: {dict(strange)}', file=sys.stderr)
    return {name for name, outcome in rows.items() if outcome.endswith('-duplicate')}


def text_of(row):
    import ndcrawl

    return ndcrawl.extract(row['html'].encode(), row['url']).full_text if 'html' in row else row['text']


def peer(name, file):
    """The child process of a peer: texts from a file, the identifiers of what it drops on stdout."""
    rows = rows_of(file)
    dropped = PEERS[name][0]([text_of(row) for row in rows])
    json.dump([rows[number]['id'] for number in dropped], sys.stdout)


def run(tool, binary, file):
    """Returns what the tool drops, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if tool in OURS:
        dropped = by_program(binary, file, OURS[tool])
    else:
        done = subprocess.run([sys.executable, __file__, '--peer', tool, file], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f'{tool} on {file}: exit code {done.returncode}: {done.stderr[-600:]}')
        dropped = set(json.loads(done.stdout.splitlines()[-1]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return dropped, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# What a set says of that


def rows_of(file):
    with open(file, encoding='utf-8') as lines:
        return [json.loads(line) for line in lines]


def by_truth(rows, dropped, truth):
    """Documents of one truth are copies of each other: which truths are lost, and how often one is kept again."""
    kept = collections.Counter(truth(row) for row in rows if row['id'] not in dropped)
    return {'documents': len(rows), 'dropped': len(dropped), 'lost': len({truth(row) for row in rows} - set(kept)), 'missed': sum(count - 1 for count in kept.values())}


def swde(rows, dropped):
    """Books in two shops. Editions of one title count as one; the same title in both shops is no copy."""
    found = by_truth(rows, dropped, lambda row: row['truth'][1] or row['truth'][0])
    return {key: count for key, count in found.items() if key != 'missed'}


def petclinic(rows, dropped):
    return by_truth(rows, dropped, lambda row: row['truth'][0])


def clough(rows, dropped):
    """Near copies of an answer should be found; what is no copy should be kept."""
    kinds = {row['id']: row['truth'][0] for row in rows}
    count = collections.Counter(kinds[name] for name in dropped)
    near = sum(kind in ('near', 'cut') for kind in kinds.values())
    return {'documents': len(rows), 'dropped': len(dropped), 'lost': count['non'] + count['original'], 'missed': near - count['near'] - count['cut'], 'kinds': dict(count)}


def families(rows, dropped):
    """Made documents, FAMILY/same|other/NUMBER: a `same` one repeats another, an `other` one does not."""
    kinds = collections.Counter((row['id'].split('/')[1] == 'same', row['id'] in dropped) for row in rows)
    return {'documents': len(rows), 'dropped': len(dropped), 'lost': kinds[False, True], 'missed': kinds[True, False], 'same': kinds[True, True] + kinds[True, False]}


def words_of(text):
    return WORD.findall(text.lower())


def runs_of(words):
    return array.array('q', map(hash, zip(*(words[at:] for at in range(RUN)))))


def texts(rows, dropped):
    """Words of dropped texts that stand in no run of five words of a kept text."""
    wanted = {each for row in rows if row['id'] in dropped for each in runs_of(words_of(row['text']))}
    have = set()
    for row in rows:
        if row['id'] not in dropped:
            have.update(wanted.intersection(runs_of(words_of(row['text']))))
    figures, sources = collections.Counter(words=0, lost=0, whole=0), collections.Counter()
    losers = []
    for row in (row for row in rows if row['id'] in dropped):
        words = words_of(row['text'])
        lost, _ = uncovered(runs_of(words), len(words), have)
        figures.update(words=len(words), lost=lost, whole=lost == 0)
        sources[row['source']] += lost
        if lost:
            losers.append([row['id'], lost, len(words)])
    return {'documents': len(rows), 'dropped': len(dropped), 'words dropped': figures['words'], 'words lost': figures['lost'], 'held whole': figures['whole'],
            'lost by source': dict(sources.most_common(6)), 'losers': losers}


def draw(folder, tool, rows, dropped, losers):
    """Writes drops to be read, each with the kept text that holds most of its runs."""
    drawn = random.Random(1).sample(sorted(losers), min(DRAWN, len(losers)))
    by_id = {row['id']: row for row in rows}
    mine = {name: set(runs_of(words_of(by_id[name]['text']))) for name, _, _ in drawn}
    best = {name: (0, None) for name in mine}
    owners = collections.defaultdict(list)
    for name, runs in mine.items():
        for each in runs:
            owners[each].append(name)
    for row in (row for row in rows if row['id'] not in dropped):
        hits = collections.Counter(name for each in set(runs_of(words_of(row['text']))) for name in owners.get(each, ()))
        for name, count in hits.items():
            best[name] = max(best[name], (count, row['id']), key=lambda pair: pair[0])
    with open(folder / f'{re.sub("[^a-z0-9]+", "-", tool)}.jsonl', 'w', encoding='utf-8') as out:
        for name, lost, words in drawn:
            kept = best[name][1]
            row = {'id': name, 'words': words, 'lost': lost, 'kept': kept, 'text': by_id[name]['text'], 'kept text': by_id[kept]['text'] if kept else None}
            print(json.dumps(row, ensure_ascii=False), file=out)


SETS = {'swde': swde, 'petclinic': petclinic, 'clough': clough, 'families': families, 'texts': texts}


def files_of(data, name):
    pattern = {'texts': 'texts100/all.jsonl', 'families': 'families/*-file.jsonl'}.get(name, f'outside/{name}.jsonl')
    return sorted(data.glob(pattern))


def figures_of(tool, name, options):
    total = collections.Counter()
    for file in files_of(options.data, name):
        dropped, seconds = run(tool, options.binary, file)
        rows = rows_of(file)
        found = SETS[name](rows, dropped)
        losers = found.pop('losers', [])
        if losers and options.drops:
            options.drops.mkdir(parents=True, exist_ok=True)
            draw(options.drops, tool, rows, dropped, losers)
        details = {key: found.pop(key) for key in list(found) if isinstance(found[key], dict)}
        total.update(found | {'seconds': seconds})
    return dict(total) | details


def versions(tool):
    return ', '.join(f'{package} {importlib.metadata.version(package)}' for package in PEERS[tool][1]) if tool in PEERS else ''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('binary', type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('data', type=pathlib.Path)
    parser.add_argument('results', type=pathlib.Path)
    parser.add_argument('--tools', default=','.join([*OURS, *PEERS]).replace(', ', ' '))
    parser.add_argument('--sets', default=','.join(SETS))
    parser.add_argument('--drops', type=pathlib.Path)
    options = parser.parse_args()
    results = json.loads(options.results.read_text()) if options.results.exists() else {}
    names = {tool.replace(', ', ' '): tool for tool in [*OURS, *PEERS]}
    for tool in (names[name] for name in options.tools.split(',')):
        try:
            version = versions(tool)
        except importlib.metadata.PackageNotFoundError as absent:
            print(f'{tool}: not installed: {absent}', file=sys.stderr)
            continue
        for name in options.sets.split(','):
            if not files_of(options.data, name):
                print(f'{name}: not in {options.data}', file=sys.stderr)
            elif name not in results.setdefault(tool, {'version': version}):
                results[tool][name] = figures_of(tool, name, options)
                options.results.write_text(json.dumps(results, indent=1, ensure_ascii=False))
                print(tool, name, results[tool][name], file=sys.stderr)
    print(table(results))


def table(results):
    def cell(row, name):
        found = row.get(name)
        if found is None:
            return ['–'] * (3 if name == 'texts' else 1)
        if name == 'texts':
            return [f'{found["dropped"]:,}', f'{found["words lost"] / max(1, found["words dropped"]):.1%}', f'{1e6 * found["seconds"] / found["documents"]:,.0f}']
        return ['; '.join(str(found[key]) for key in ('lost', 'missed') if key in found)]

    lines = [f'Measured on {datetime.date.today()}.', '', '| tool | texts dropped | words lost | µs a text | swde | petclinic | clough | families |', '|' + '---|' * 8]
    for tool, row in results.items():
        lines.append('| ' + ' | '.join([f'{tool} {row["version"].split(" ")[-1]}'.strip(), *cell(row, 'texts'), *(cell(row, name)[0] for name in ('swde', 'petclinic', 'clough', 'families'))]) + ' |')
    return '\n'.join(lines)


if __name__ == '__main__':
    if sys.argv[1:2] == ['--peer']:
        peer(*sys.argv[2:])
    else:
        main()
