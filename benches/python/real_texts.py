#!/usr/bin/env python3
"""Real texts of many kinds, one JSON object a line: {"id": "SOURCE/N", "source", "lang", "text"}, in an order fixed by a seed.

    real_texts.py MIRROR DEBS OUT.jsonl [--seed 1] [--most 4000]

MIRROR holds git directories of public repositories, `OWNER+NAME/repo`; DEBS holds the packages manpages-LANG of Debian. A source that is not there is
said and left out. Of each source at most so many texts are drawn. Texts have 40 to 3,000 words; longer works are cut at their chapters, articles or scenes.
No text is unfolded, translated or mended. Standard library only."""
import argparse
import collections
import gzip
import html
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import zipfile
from xml.etree import ElementTree

WORD = re.compile(r'[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|\w+')
FEWEST, MOST = 40, 3000


class Absent(Exception):
    """A source that this machine does not have."""


class Repository:
    """Files of the newest commit of a repository."""

    def __init__(self, mirror, name):
        folder = os.path.join(mirror, name.replace('/', '+'), 'repo')
        self.folder = os.path.join(folder, '.git') if os.path.isdir(os.path.join(folder, '.git')) else folder
        if not os.path.isfile(os.path.join(self.folder, 'HEAD')):
            raise Absent(name)

    def git(self, *arguments, **options):
        return subprocess.Popen(['git', f'--git-dir={self.folder}', *arguments], stdout=subprocess.PIPE, **options)

    def files(self, pattern):
        """Yields (path, bytes) of the files whose path matches, in the order of paths."""
        listing = self.git('ls-tree', '-r', '-z', 'HEAD').communicate()[0].split(b'\0')
        reader = self.git('cat-file', '--batch', stdin=subprocess.PIPE)
        for row in filter(None, listing):
            meta, path = row.split(b'\t', 1)
            mode, kind, sha = meta.split()
            path = path.decode('utf-8', 'replace')
            if kind != b'blob' or mode == b'120000' or not re.search(pattern, path):
                continue
            reader.stdin.write(sha + b'\n')
            reader.stdin.flush()
            head = reader.stdout.readline().split()
            if head[-1] != b'missing':
                yield path, reader.stdout.read(int(head[2]) + 1)[:-1]
        reader.stdin.close()
        reader.wait()

    def texts(self, pattern, encoding='utf-8'):
        return ((path, body.decode(encoding, 'replace')) for path, body in self.files(pattern))


def without_front(text):
    """Markdown without the fields before it."""
    return re.sub(r'\A---\n.*?\n---\n', '', text, count=1, flags=re.S)


def parts(text, heading):
    """A text cut before each line that the pattern matches."""
    return re.split(rf'(?m)^(?={heading})', text)


def pieces(text, words=900):
    """A long text cut between paragraphs into pieces of about so many words."""
    piece, length = [], 0
    for paragraph in re.split(r'\n\s*\n', text):
        piece.append(paragraph)
        length += len(WORD.findall(paragraph))
        if length >= words:
            yield '\n\n'.join(piece)
            piece, length = [], 0
    yield '\n\n'.join(piece)


def tei(body):
    """Chapters, poems or scenes of a TEI document: its innermost divisions."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        return
    local = lambda element: str(element.tag).rsplit('}', 1)[-1]
    for text in (element for element in root.iter() if local(element) == 'body'):
        divisions = [d for d in text.iter() if local(d) == 'div' and not any(local(c) == 'div' for c in d)]
        for division in divisions or [text]:
            blocks = (''.join(e.itertext()) for e in division.iter() if local(e) in ('p', 'l', 'head', 'title', 'speaker', 'stage'))
            yield '\n'.join(' '.join(block.split()) for block in blocks)


def german_laws(mirror):
    for _, text in Repository(mirror, 'bundestag/gesetze').texts(r'\.md$'):
        text = without_front(text)
        yield from [text] if len(text.split()) <= 3000 else parts(text, r'#+ §')


def french_code(mirror):
    return (text for _, text in Repository(mirror, 'steeve/france.code-civil').texts(r'Article.*\.md$'))


def french_laws(mirror):
    for _, text in Repository(mirror, 'legalize-dev/legalize-fr').texts(r'^fr/.*\.md$'):
        yield from parts(without_front(text), r'#+ ')


def terms(mirror):
    for name in ('OpenTermsArchive/contrib-versions', 'OpenTermsArchive/pga-versions'):
        yield from (text for _, text in Repository(mirror, name).texts(r'/.*\.md$'))


def recipes_zh(mirror):
    return (text for _, text in Repository(mirror, 'Anduin2017/HowToCook').texts(r'^(dishes|tips)/.*\.md$'))


def recipes_free(mirror):
    return (without_front(text) for _, text in Repository(mirror, 'LukeSmithxyz/based.cooking').texts(r'^content/.*\.md$'))


def recipe(row):
    steps = row.get('directions') or row.get('instructions_list') or [row.get('instructions') or '']
    return '\n'.join([row.get('title') or '', row.get('description') or '', *(row.get('ingredients') or []), *steps])


def recipes_en(mirror):
    return (recipe(json.loads(text)) for _, text in Repository(mirror, 'dpapathanasiou/recipes').texts(r'^index/.*\.json$'))


def recipes_many(mirror):
    for _, text in Repository(mirror, 'hhursev/recipe-scrapers').texts(r'^tests/test_data/.*\.json$'):
        row = json.loads(text)
        if isinstance(row, dict):
            yield (row.get('language') or 'mul')[:2], recipe(row)


def nltk(mirror, archives, encoding='utf-8'):
    for name, body in Repository(mirror, 'nltk/nltk_data').files(rf'^packages/corpora/({archives})\.zip$'):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for file in sorted(archive.namelist()):
                if not file.endswith('/') and not re.search(r'(?i)readme|cats|\.py$|stopwords|contents', file):
                    yield name, file, archive.read(file).decode(encoding, 'replace')


def reviews(mirror):
    return (text for _, _, text in nltk(mirror, 'movie_reviews'))


def speeches(mirror):
    return (piece for _, _, text in nltk(mirror, 'inaugural|state_union', 'latin-1') for piece in pieces(text))


def declarations(mirror):
    for _, file, text in nltk(mirror, 'udhr2'):
        yield file.rsplit('/', 1)[-1].removesuffix('.txt'), text


def verse_zh(mirror):
    for _, text in Repository(mirror, 'chinese-poetry/chinese-poetry').texts(r'^(全唐诗/poet\.|宋词/ci\.|元曲/|五代诗词/).*\.json$'):
        for poem in json.loads(text):
            if isinstance(poem, dict) and poem.get('paragraphs'):
                yield '\n'.join([poem.get('title') or poem.get('rhythmic') or '', *poem['paragraphs']])


def verse_es(mirror):
    return (text for _, body in Repository(mirror, 'bncolorado/CorpusSonetosSigloDeOro').files(r'\.xml$') for text in tei(body))


def verse_cs(mirror):
    for _, text in Repository(mirror, 'versotym/corpusCzechVerse').texts(r'^ccv/.*[05]\.json$'):
        for poem in json.loads(text):
            yield '\n\n'.join('\n'.join(line['text'] for line in stanza) for stanza in poem['body'])


def fiction_ja(mirror):
    for _, text in Repository(mirror, 'aozorahack/aozorabunko_text').texts(r'^cards/.*[02468]\.txt$', 'shift_jis'):
        text = re.sub(r'(?s)-{20,}.*?-{20,}', '', text, count=1)
        text = re.split(r'\n底本：', re.sub(r'《[^》]*》|［＃[^］]*］', '', text))[0]
        yield next(pieces(text.replace('\r', '').replace('\n', '\n\n'), 1200))


def fiction_en(mirror):
    for _, text in Repository(mirror, 'mlschmitt/classic-books-markdown').texts(r'/.*\.md$'):
        for chapter in parts(text, r'#+ '):
            yield from pieces(chapter, 1200)


def fiction(language, name):
    def chapters(mirror):
        return (piece for _, body in Repository(mirror, name).files(r'^level1/.*\.xml$') for chapter in tei(body) for piece in pieces(chapter.replace('\n', '\n\n'), 1200))
    return language, chapters


def plays_de(mirror):
    return (text for _, body in Repository(mirror, 'dracor-org/gerdracor').files(r'^tei/.*\.xml$') for text in tei(body))


def proposals(mirror):
    for name, pattern in (('python/peps', r'^peps/.*\.rst$'), ('rust-lang/rfcs', r'^text/.*\.md$'), ('ethereum/EIPs', r'^EIPS/.*\.md$')):
        yield from (text for _, text in Repository(mirror, name).texts(pattern))


def news_en(mirror):
    return (text for _, text in Repository(mirror, 'suraj-deshmukh/BBC-Dataset-News-Classification').texts(r'\d+\.txt$', 'latin-1'))


def news_pt(mirror):
    return (text for _, text in Repository(mirror, 'roneysco/Fake.br-Corpus').texts(r'^full_texts/(true|fake)/.*\.txt$'))


def news_es(mirror):
    space = '{http://schemas.openxmlformats.org/spreadsheetml/2006/main}'
    for _, body in Repository(mirror, 'jpposadas/FakeNewsCorpusSpanish').files(r'\.xlsx$'):
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            shared = ElementTree.fromstring(book.read('xl/sharedStrings.xml'))
            yield from (''.join(item.itertext()) for item in shared.iter(f'{space}si'))


def posts(mirror):
    for _, text in Repository(mirror, 'gokriznastic/20-newsgroups_text-classification').texts(r'^20_newsgroups/.*/\d+$', 'latin-1'):
        head, _, body = text.partition('\n\n')
        subject = re.search(r'(?m)^Subject: (.*)$', head)
        yield f'{subject[1] if subject else ""}\n\n{body}'


def web_pages(mirror):
    for _, text in Repository(mirror, 'adbar/trafilatura').texts(r'^tests/(eval|cache)/.*\.html$'):
        language = re.search(r'(?i)<html[^>]+lang=["\']?([a-z]{2})', text)
        paragraphs = re.findall(r'(?is)<(?:p|h1|h2)\b[^>]*>(.*?)</(?:p|h1|h2)>', re.sub(r'(?is)<(script|style)\b.*?</\1>', ' ', text))
        yield (language[1].lower() if language else 'mul'), '\n'.join(html.unescape(re.sub(r'<[^>]+>', ' ', p)) for p in paragraphs)


def roff(text):
    """A manual page as text: requests lose their name, escapes are dropped."""
    lines = (re.sub(r'^[.\']\s*\\?"?\w*\s*', '', line) for line in text.split('\n') if not line.startswith(('.\\"', "'\\\"", '.de', '.ds', '.nr', '.if', '.ie')))
    text = '\n'.join(lines)
    return re.sub(r'\\f[A-Z]|\\f\(..|\\f\[\w*\]|\\s[-+]?\d|\\[&|^/c%:]', '', text).replace('\\-', '-').replace('\\(aq', "'").replace('\\e', '\\')


def manuals(language):
    def pages(debs):
        names = [name for name in os.listdir(debs) if name.startswith(f'manpages-{language}_')]
        if not names:
            raise Absent(f'manpages-{language}')
        data = subprocess.run(['dpkg-deb', '--fsys-tarfile', os.path.join(debs, names[0])], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if member.isfile() and member.name.endswith('.gz') and '/man/' in member.name:
                    text = gzip.decompress(archive.extractfile(member).read()).decode('utf-8', 'replace')
                    if not text.startswith('.so '):
                        yield roff(text)
    return pages


SOURCES = {  # name: language ('mul': each text says its own), kind, what yields the texts
    'german-laws': ('de', 'law', german_laws), 'french-code': ('fr', 'law', french_code), 'french-laws': ('fr', 'law', french_laws), 'terms': ('en', 'terms of service', terms),
    'recipes-zh': ('zh', 'recipe', recipes_zh), 'recipes-free': ('en', 'recipe', recipes_free), 'recipes-en': ('en', 'recipe', recipes_en),
    'recipes-many': ('mul', 'recipe', recipes_many), 'reviews': ('en', 'article', reviews), 'speeches': ('en', 'speech', speeches),
    'declarations': ('mul', 'law', declarations), 'verse-zh': ('zh', 'verse', verse_zh), 'verse-es': ('es', 'verse', verse_es), 'verse-cs': ('cs', 'verse', verse_cs),
    'fiction-ja': ('ja', 'fiction', fiction_ja), 'fiction-en': ('en', 'fiction', fiction_en),
    'fiction-fr': ('fr', 'fiction', fiction('fr', 'COST-ELTeC/ELTeC-fra')[1]), 'fiction-es': ('es', 'fiction', fiction('es', 'COST-ELTeC/ELTeC-spa')[1]),
    'fiction-hu': ('hu', 'fiction', fiction('hu', 'COST-ELTeC/ELTeC-hun')[1]), 'plays-de': ('de', 'fiction', plays_de), 'proposals': ('en', 'reference', proposals),
    'news-en': ('en', 'article', news_en), 'news-pt': ('pt', 'article', news_pt), 'news-es': ('es', 'article', news_es), 'posts': ('en', 'forum', posts),
    'web-pages': ('mul', 'article', web_pages),
} | {f'manuals-{code}': (code, 'reference', manuals(code)) for code in ('de', 'fr', 'es', 'ja', 'pl', 'ru')}


def drawn(name, language, texts, seed, most):
    """At most so many texts of a source, of a length that is wanted."""
    kept = []
    for row in texts:
        code, text = row if isinstance(row, tuple) else (language, row)
        text = text.strip()
        if FEWEST <= len(WORD.findall(text)) <= MOST:
            kept.append((code, text))
    random.Random(f'{seed} {name}').shuffle(kept)
    return [{'id': f'{name}/{number}', 'source': name, 'lang': code, 'text': text} for number, (code, text) in enumerate(kept[:most])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('mirror')
    parser.add_argument('debs')
    parser.add_argument('out')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--most', type=int, default=2500)
    options = parser.parse_args()
    rows = []
    for name, (language, kind, texts) in SOURCES.items():
        try:
            found = drawn(name, language, texts(options.debs if name.startswith('manuals-') else options.mirror), options.seed, options.most)
        except Absent as absent:
            print(f'{name}: {absent} is not there', file=sys.stderr)
            continue
        rows += found
        print(f'{name:14} {language:4} {kind:18} {len(found):6}', flush=True)
    random.Random(options.seed).shuffle(rows)
    with open(options.out, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + '\n' for row in rows)
    words = sum(len(WORD.findall(row['text'])) for row in rows)
    codes = collections.Counter(row['lang'] for row in rows)
    print(len(rows), 'texts,', words, 'words,', len({row['source'] for row in rows}), 'sources,', len(codes), 'languages:', dict(codes.most_common(12)))


if __name__ == '__main__':
    main()
