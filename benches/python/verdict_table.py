#!/usr/bin/env python3
"""Every set on which verdicts are measured, with one binary: a table in Markdown on stdout, and the figures as JSON.

    verdict_table.py BINARY DATA LABELS RESULTS.json [--only SET,...] [--seeds N,...] [--flag=--FLAG=VALUE]... [--commit NAME]

DATA    pages: sites/, wild/, families/SEED-LAYOUT.jsonl, rotating/KIND/NAME/, outside/SET.jsonl, texts/all.jsonl, syndication/*.jsonl, mix/mix.jsonl
LABELS  labels, and the scripts that made DATA: corpora/, wild/, truth/, outside/
RESULTS what is there from the same binary and flags is kept, so that sets can be run one by one

texts/all.jsonl is made by real_texts.py, syndication/ by syndication.py, families/ and rotating/ by the scripts beside the labels.

BINARY needs `dedup INPUT -o OUT`, which writes OUT/pages.jsonl (url, id, outcome, duplicate_of), and `eval`. A set that is not there is named as missing.
Times are CPU times of the process. Standard library only."""
import argparse
import array
import collections
import datetime
import hashlib
import itertools
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

SETS = ('families', 'rotating', 'pairs', 'clusters', 'mutations', 'wild', 'outside', 'syndication', 'texts', 'mix', 'orders', 'divided')
LAYOUTS = ('file', 'host', 'hosts')
WORD = re.compile(r'[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\w+')
RUN = 5
# The exit code that says that some of the input could not be read.
INCOMPLETE = 8


class Missing(Exception):
    """A set that is not on this machine."""


class Bench:
    def __init__(self, options):
        self.binary, self.data, self.labels, self.flags = options.binary.resolve(), options.data.resolve(), options.labels.resolve(), options.flag
        self.seeds = options.seeds
        self.cpu, self.notes = 0.0, []

    def found(self, folder, pattern):
        paths = sorted((self.data / folder).glob(pattern))
        if not paths:
            raise Missing(f'{self.data / folder / pattern} matches nothing')
        return paths

    def run(self, *arguments):
        """Runs the binary and returns what it prints. Input that could not be read is noted; another failure ends the set."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([self.binary, *map(str, arguments), *self.flags], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        said = f'{" ".join(map(str, arguments))}: exit code {done.returncode}: {done.stderr.strip()[-400:]}'
        if done.returncode not in (0, INCOMPLETE):
            raise RuntimeError(said)
        self.notes += [said] if done.returncode else []
        return done.stdout

    def script(self, path, *arguments, stdin=None):
        return subprocess.run([sys.executable, path, *map(str, arguments)], input=stdin, capture_output=True, text=True, check=True).stdout

    def dedup(self, *arguments, read=None):
        """Returns the last verdict of each URL, or what `read` makes of the output folder."""
        folder = tempfile.mkdtemp(prefix='verdicts-')
        try:
            self.run('dedup', *arguments, '-o', f'{folder}/out', '--no-warc', '--progress', 'none', '-q')
            return (read or verdicts)(f'{folder}/out')
        finally:
            shutil.rmtree(folder)

    def eval(self, kind, file, pages):
        return [json.loads(line) for line in self.run('eval', f'--{kind}', file, '--pages', pages, '--json', '-q').splitlines()]


def verdicts(out):
    with open(f'{out}/pages.jsonl', encoding='utf-8') as file:
        return {row['url']: row for row in map(json.loads, file)}


# Made documents


def families(bench):
    """Lost and missed by layout, summed over seeds, and by family."""
    found = {}
    for layout in LAYOUTS:
        files = [f for f in bench.found('families', f'*-{layout}.jsonl') if not bench.seeds or f.name.split('-')[0] in bench.seeds]
        counts = collections.defaultdict(collections.Counter)
        by_seed = {file.name.split('-')[0]: family_verdicts(bench.dedup(file), counts) for file in files}
        found[layout] = {'families': {family: dict(count) for family, count in sorted(counts.items())}, 'seeds': by_seed}
    return found


def family_verdicts(rows, counts):
    """Adds the verdicts to `counts`; returns [lost, missed]."""
    both = [0, 0]
    for row in rows.values():
        family, right, _ = row['id'].split('/')
        kept, same = row['outcome'] == 'stored', right == 'same'
        wrong = kept if same else not kept
        both[same] += wrong
        counts[family].update({'same' if same else 'other': 1, 'missed' if same else 'lost': int(wrong)})
    return both


def rotating(bench):
    """How many copies and how many others are stored, by kind and size."""
    found = collections.defaultdict(dict)
    for folder in (f for f in bench.found('rotating', '*/*') if f.is_dir()):
        rows = bench.dedup(folder, '--base', 'http://rot.test/').values()
        stored = collections.Counter(row['url'].rsplit('/', 1)[1][0] for row in rows if row['outcome'] == 'stored')
        given = collections.Counter(row['url'].rsplit('/', 1)[1][0] for row in rows)
        found[folder.parent.name][folder.name] = {'copies': given['c'], 'copies stored': stored['c'], 'others': given['o'], 'others lost': given['o'] - stored['o']}
    return found


# Labelled pages


def pairs(bench):
    """Pairs of twins are grey: kinds mined and sibling that are labelled near."""
    with tempfile.NamedTemporaryFile('w', suffix='.tsv', encoding='utf-8') as grey:
        for line in (bench.labels / 'corpora/pairs-public.tsv').read_text(encoding='utf-8').splitlines():
            cells = line.split('\t')
            if cells[2] == 'near' and cells[3] in ('mined', 'sibling'):
                cells[2] = 'grey'
            print(*cells, sep='\t', file=grey)
        grey.flush()
        return [short(row) for row in bench.eval('pairs', grey.name, bench.data / 'sites') if 'kind' in row]


def short(row):
    names = ('kind', 'threshold', 'pairs_compared', 'pairs_grey', 'pages_missing', 'precision', 'recall', 'f1', 'tp', 'fp', 'fn', 'tn')
    return {name: row[name] for name in names if name in row}


def clusters(bench):
    return {name: cluster_figures(bench, bench.labels / f'corpora/{name}.tsv', bench.data / 'sites') for name in ('clusters-public', 'clusters-templates-public')}


def cluster_figures(bench, file, pages):
    row = next(row for row in bench.eval('clusters', file, pages) if 'missed_pages' in row)
    twins = bench.script(bench.labels / 'truth/twins.py', pages, stdin=json.dumps(row)).split()
    names = ('clusters', 'missed', 'extra', 'thin', 'stored', 'decided', 'pages_missing')
    return {name: row[name] for name in names} | {'lost without twins': int(twins[-2]), 'decide_us': row['cost']['decide_us_per_page']}


def mutations(bench):
    rows = bench.eval('pairs', bench.labels / 'corpora/mutations-public.tsv', bench.data / 'sites')
    return {'kinds': [short(row) for row in rows if 'kind' in row], 'levels': next((row['levels'] for row in rows if row.get('levels')), [])}


def wild(bench):
    """Labelled clusters, and what the verdicts cost and leave on the pages themselves."""
    found = {}
    for folder in (f for f in bench.found('wild', '*') if f.is_dir()):
        site = folder.name
        lost = bench.dedup(folder, '--base', f'http://{site}.localhost:8080/', read=lambda out: bench.script(bench.labels / 'wild/content-lost.py', folder.parent, out, site))
        keys = ('pages', 'stored', 'dropped', '>50%', '20-50%', 'twice')
        cells = next(line for line in lost.splitlines() if line.startswith(site)).split()[1:]
        found[site] = cluster_figures(bench, bench.labels / f'wild/clusters-{site}.tsv', folder.parent)
        found[site] |= dict(zip(keys, map(int, cells))) | {'runs lost': float(cells[-1].rstrip('%')) / 100}
    return found


def outside(bench):
    found = {}
    for file in bench.found('outside', '*.jsonl'):
        score = lambda out: bench.script(bench.labels / 'outside/outside.py', 'score', file.stem, file, out)
        printed = bench.dedup(file, read=score)
        found[file.stem] = {key: int(count) for key, count in re.findall(r"'([^']+)': (\d+)", printed)}
    return found


def syndication(bench):
    """Texts that stand on several hosts of one page each; files of syndication.py."""
    scorer = pathlib.Path(__file__).with_name('syndication.py')
    found = {}
    for file in bench.found('syndication', '*.jsonl'):
        printed = bench.dedup(file, read=lambda out: bench.script(scorer, 'score', file, out))
        copies, hit, dropped, wrong = map(int, re.search(r'copies (\d+), found (\d+).*?dropped (\d+), of another text (\d+)', printed, re.S).groups())
        found[file.stem] = {'copies': copies, 'missed': copies - hit, 'dropped': dropped, 'of another text': wrong}
    return found


# Real texts without labels


class Texts:
    """Words and hashed runs of five words of each text."""

    def __init__(self, path):
        self.rows, self.words, self.runs = [], {}, {}
        with open(path, encoding='utf-8') as file:
            for row in map(json.loads, file):
                words = WORD.findall(row['text'].lower())
                self.rows.append((row['id'], row['source']))
                self.words[row['id']] = words
                self.runs[row['id']] = array.array('q', map(hash, zip(*(words[at:] for at in range(RUN)))))

    def lay(self, path, layout, out):
        """Writes the texts without URL, each source on a host, or each text on a host."""
        with open(path, encoding='utf-8') as file:
            for number, row in enumerate(map(json.loads, file)):
                row = {'id': row['id'], 'source': row['source'], 'text': row['text']}
                if layout != 'file':
                    row['url'] = f'http://{row["source"] if layout == "host" else f"t{number}"}.test/{number}'
                out.write(json.dumps(row) + '\n')
        out.flush()


def texts(bench):
    [path] = bench.found('texts', 'all.jsonl')
    all_texts, found = Texts(path), {}
    for layout in LAYOUTS:
        with tempfile.NamedTemporaryFile('w', suffix='.jsonl', encoding='utf-8') as file:
            all_texts.lay(path, layout, file)
            rows = bench.dedup(file.name)
        found[layout] = words_lost(all_texts, rows) | {'us a text': round(1e6 * bench.cpu / len(all_texts.rows))}
    return found


def words_lost(all_texts, rows):
    """A word is lost if no run of five words around it stands in a kept text."""
    by = {outcome: [row['id'] for row in rows.values() if row['outcome'] == outcome] for outcome in {row['outcome'] for row in rows.values()}}
    near = by.get('near-duplicate', [])
    wanted = {run for name in near for run in all_texts.runs[name]}
    have = set().union(*(wanted.intersection(all_texts.runs[name]) for name in by.get('stored', [])))
    figures = collections.Counter(lost=0, words=0, real=0, another=0)
    by_source = collections.Counter()
    for row in (row for row in rows.values() if row['outcome'] == 'near-duplicate'):
        name, words = row['id'], all_texts.words[row['id']]
        lost, passage = uncovered(all_texts.runs[name], len(words), have)
        real = lost >= max(25, len(words) / 8) or passage >= 50
        kept = rows.get(row.get('duplicate_of'))
        figures.update(lost=lost, words=len(words), real=real, another=bool(kept) and another_subject(words, all_texts.words[kept['id']]))
        by_source[name.split('/')[0]] += real
    share = figures['lost'] / max(1, figures['words'])
    return {'texts': len(rows), 'stored': len(by.get('stored', [])), 'near': len(near), 'another subject': figures['another'], 'real loss': figures['real'],
            'words lost': figures['lost'], 'share of words lost': round(share, 5), 'real loss by source': dict(by_source.most_common(8))}


def uncovered(runs, words, have):
    """Returns the number of words in no run that is had, and the most of these in a row."""
    covered = bytearray(words)
    for at, run in enumerate(runs):
        if run in have:
            covered[at:at + RUN] = b'\1' * RUN
    return covered.count(0), max(map(len, bytes(covered).split(b'\1')), default=0)


def another_subject(one, other):
    """Whether each uses a word again and again that the other never uses."""
    counts = collections.Counter(one), collections.Counter(other)
    most = lambda mine, theirs: max((n for word, n in mine.items() if word not in theirs and not any(c.isdigit() for c in word)), default=0)
    return min(most(*counts), most(*counts[::-1])) >= max(4, 0.005 * max(len(one), len(other)))


def mix(bench):
    """Real pages in random order: what a decision takes."""
    [path] = bench.found('mix', 'mix.jsonl')
    count = collections.Counter(row['outcome'] for row in bench.dedup(path).values())
    return dict(count) | {'us a page': round(1e6 * bench.cpu / max(1, sum(count.values())))}


# The same rows in another order, or divided otherwise


def orders(bench):
    """How many pages three random orders of the same pages store."""
    found = {}
    for file in [*bench.found('mix', 'mix.jsonl'), *(f for f in bench.found('wild', '*') if f.is_dir())]:
        rows = file.read_text(encoding='utf-8').rstrip('\n').split('\n') if file.is_file() else list(pages_of(file))
        stored = [stored_of(bench, random.Random(seed).sample(rows, len(rows))) for seed in (1, 2, 3)]
        found[file.stem] = {'pages': len(rows), 'stored': ' '.join(map(str, stored)), 'differ': f'{(max(stored) - min(stored)) / max(stored):.2%}'}
    return found


def pages_of(folder):
    """Yields the HTML files of a site as rows."""
    for path in sorted(folder.rglob('*.html')):
        url = f'http://{folder.name}.localhost:8080/{path.relative_to(folder)}'
        yield json.dumps({'url': url, 'html': path.read_text(encoding='utf-8', errors='replace')})


def stored_of(bench, rows):
    with tempfile.NamedTemporaryFile('w', suffix='.jsonl', encoding='utf-8') as file:
        file.writelines(f'{row}\n' for row in rows)
        file.flush()
        return sum(row['outcome'] == 'stored' for row in bench.dedup(file.name).values())


def divided(bench):
    """Which verdicts change if rows of texts come in several files, or stand on several hosts."""
    [path] = bench.found('texts', 'all.jsonl')
    with open(path, encoding='utf-8') as file:
        rows = [json.loads(line) for line in itertools.islice(file, 20_000)]
    one = outcomes_of(bench, rows, 1, hosts=False)
    found = {}
    for parts in (6, 60):
        for what in ('files', 'hosts'):
            other = outcomes_of(bench, rows, parts, hosts=what == 'hosts')
            found[f'{parts} {what}'] = {'rows': len(rows), 'other verdicts': sum(one[at] != other[at] for at in one)}
    return found


def outcomes_of(bench, rows, parts, hosts):
    """Returns the outcome by ID: of rows in so many files one after the other, or in one file on so many hosts."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix='divided-'))
    size = -(-len(rows) // (1 if hosts else parts))
    for part in range(0, len(rows), size):
        with open(folder / f'{part:06}.jsonl', 'w', encoding='utf-8') as file:
            for number, row in enumerate(rows[part:part + size], part):
                url = {'url': f'http://h{number % parts}.test/{number}'} if hosts else {}
                print(json.dumps({'id': row['id'], 'text': row['text']} | url), file=file)
    try:
        return bench.dedup(folder, read=lambda out: {row['id']: row['outcome'] for row in verdicts(out).values()})
    finally:
        shutil.rmtree(folder)


# The table


def table(heads, rows):
    lines = [heads, ['---'] * len(heads), *rows]
    return '\n'.join('| ' + ' | '.join(map(str, line)) + ' |' for line in lines)


def share(value):
    return '–' if value is None else f'{value:.3f}'


def show_families(found):
    names = sorted({name for layout in found.values() for name in layout['families']})
    cell = lambda count: f'{count.get("lost", 0)} of {count.get("other", 0)} / {count.get("missed", 0)} of {count.get("same", 0)}'
    sum_of = lambda layout: sum(map(collections.Counter, found[layout]['families'].values()), collections.Counter())
    rows = [[name, *(cell(found[layout]['families'].get(name, {})) for layout in found)] for name in names]
    rows.append(['**all**', *(f'**{cell(sum_of(layout))}**' for layout in found)])
    seeds = next(iter(found.values()))['seeds']
    rows += [[f'seed {seed}', *(' / '.join(map(str, found[layout]['seeds'].get(seed, []))) for layout in found)] for seed in seeds]
    return table(['family: lost / missed', *found], rows)


def show_rotating(found):
    sizes = sorted({size for kind in found.values() for size in kind})
    cell = lambda row: f'{row["copies stored"]} of {row["copies"]}; {row["others lost"]}' if row else '–'
    return table(['copies stored (right: 1); others lost', *sizes], [[kind, *(cell(found[kind].get(size)) for size in sizes)] for kind in found])


def show_pairs(found):
    return table(['kind', 'F1', 'precision', 'recall', 'false', 'missed'], [[row['kind'], *map(share, (row['f1'], row['precision'], row['recall'])), row['fp'], row['fn']] for row in found])


def show_clusters(found):
    names = ('clusters', 'missed', 'lost without twins', 'extra', 'thin', 'pages_missing')
    return table(['set', *names], [[name, *(row[key] for key in names)] for name, row in found.items()])


def show_mutations(found):
    levels = [[row['mutation'], row['level'], row['label'], f'{row["called"]} of {row["compared"]}'] for row in found['levels']]
    return show_pairs(found['kinds']) + '\n\n' + table(['edit', 'level', 'label', 'called near-duplicates'], levels)


def show_wild(found):
    names = ('clusters', 'missed', 'lost without twins', 'extra', 'pages', 'stored', 'dropped', '>50%', '20-50%', 'twice')
    rows = [[site, *(row[name] for name in names), f'{row["runs lost"]:.2%}'] for site, row in found.items()]
    lost = sum(row['runs lost'] * row['pages'] for row in found.values()) / sum(row['pages'] for row in found.values())
    rows.append(['**all**', *(sum(row[name] for row in found.values()) for name in names), f'{lost:.2%} (by pages)'])
    return table(['site', *names, 'runs lost'], rows)


def show_plain(found):
    return table(['set', 'counts'], [[name, ', '.join(f'{key} {value}' for key, value in row.items())] for name, row in found.items()])


def show_texts(found):
    names = ('texts', 'stored', 'near', 'another subject', 'real loss', 'words lost')
    rows = [[layout, *(row[name] for name in names), f'{row["share of words lost"]:.2%}', row['us a text']] for layout, row in found.items()]
    return table(['layout', *names, 'of those dropped', 'CPU µs a text'], rows)


def show_mix(found):
    return table(list(found), [list(found.values())])


SHOW = dict.fromkeys(('outside', 'syndication', 'orders', 'divided'), show_plain)


def report(results):
    parts = [f'Binary of commit {results["commit"]}, {results["date"]}{" with " + " ".join(results["flags"]) if results["flags"] else ""}.']
    for name in SETS:
        if name in results['sets']:
            parts += [f'## {name}', SHOW.get(name, globals().get(f'show_{name}'))(results['sets'][name])]
            parts += [f'Input that was not read: `{note}`' for note in results.get('notes', {}).get(name, [])]
        elif name in results['missing']:
            parts += [f'## {name}', f'Not measured: {results["missing"][name]}']
    return '\n\n'.join(parts)


def begun(options):
    """What the file holds of the same binary and flags, or nothing yet."""
    digest = hashlib.sha256(options.binary.read_bytes()).hexdigest()
    if options.results.exists():
        held = json.loads(options.results.read_text())
        if (held['binary'], held['flags']) == (digest, options.flag):
            return {'notes': {}} | held
    return {'binary': digest, 'flags': options.flag, 'commit': options.commit, 'sets': {}, 'missing': {}, 'notes': {}}


def commit():
    done = subprocess.run(['git', '-C', pathlib.Path(__file__).parent, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
    return done.stdout.strip() or 'unknown'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('binary', 'data', 'labels', 'results'):
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument('--only', type=lambda text: text.split(','), default=SETS)
    parser.add_argument('--seeds', type=lambda text: text.split(','), default=None)
    parser.add_argument('--flag', action='append', default=[])
    parser.add_argument('--commit', default=commit())
    options = parser.parse_args()
    bench, results = Bench(options), begun(options)
    for name in (name for name in SETS if name in options.only):
        try:
            bench.notes = []
            results['sets'][name] = globals()[name](bench)
            results['missing'].pop(name, None)
            results['notes'][name] = bench.notes
        except (Missing, OSError, RuntimeError, subprocess.CalledProcessError) as error:
            results['missing'][name] = str(error)
            print(f'{name}: {error}', file=sys.stderr)
        results['date'] = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d %H:%M UTC')
        options.results.write_text(json.dumps(results, indent=1))
    print(report(results))
    return 1 if results['missing'] else 0


if __name__ == '__main__':
    sys.exit(main())
