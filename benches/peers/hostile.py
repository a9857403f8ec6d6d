#!/usr/bin/env python3
"""Runs several crawlers, each with polite settings, against a server that misbehaves on purpose, and reports what
each did, by the log of the server.

    benches/peers/hostile.py SHARED/hostile --ndcrawl target/release/ndcrawl [--scrapy VENV/bin/scrapy]
        [--spider BIN/spider] [--wget wget] [--seconds 300] [--keep DIR] [--only NAME,NAME]

SHARED/hostile holds hostile_server.py and check_politeness.py. Every crawler gets its own server and the same gap
between requests (--gap), response timeout, depth and number of retries (2). After --seconds it is interrupted, then
killed if necessary. Prints a Markdown table; a dash means that the crawler did not reach the page.
"""
import argparse, json, os, re, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.request

PORTS = 41
DEPTH = 5
ANSWER = 30
TRIES = 3

# Scrapy's own template of a crawl spider, with polite settings.
SPIDER = '''
import scrapy
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

class Hostile(CrawlSpider):
    name = "hostile"
    allowed_domains = ["127.0.0.1"]
    start_urls = ["%(seed)s"]
    rules = (Rule(LinkExtractor(), callback="page", follow=True),)
    custom_settings = {
        "ROBOTSTXT_OBEY": True, "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": %(gap)s,
        "DOWNLOAD_DELAY": %(gap)s, "RANDOMIZE_DOWNLOAD_DELAY": False, "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_TIMEOUT": %(answer)d, "RETRY_TIMES": %(tries)d - 1, "DEPTH_LIMIT": %(depth)d,
    }

    def page(self, response):
        yield {"url": response.url, "length": len(response.body)}
'''


def commands(name, program, seed, gap, folder):
    """Returns the command line of a crawler, which runs in `folder`."""
    milliseconds = str(round(gap * 1000))
    if name == 'ndcrawl':
        return [program, seed, '-o', 'out', '--allow-net', '127.0.0.1/32', '--delay', milliseconds + 'ms', '--ip-delay', '0',
                '--depth', str(DEPTH), '--timeout', '%ds' % ANSWER, '--retries', str(TRIES - 1), '--progress', 'none']
    if name == 'wget':
        return [program, '-r', '-l', str(DEPTH), '--wait=%g' % gap, '--timeout=%d' % ANSWER, '--tries=%d' % TRIES,
                '--retry-on-http-error=429,503', '--compression=auto', '-nv', '-P', 'out', seed]
    if name == 'scrapy':
        with open(os.path.join(folder, 'spider.py'), 'w') as file:
            file.write(SPIDER % dict(seed=seed, gap=gap, answer=ANSWER, tries=TRIES, depth=DEPTH))
        return [program, 'runspider', 'spider.py', '-o', 'items.jsonl']
    if name == 'spider':
        # It has no flags for response timeout and retries.
        return [program, '--url', seed, '--respect-robots-txt', '--http', '--delay', milliseconds, '--depth', str(DEPTH),
                'download', '-t', 'out']
    raise SystemExit('unknown crawler ' + name)


def free_ports():
    def is_free(port):
        with socket.socket() as one:
            try:
                one.bind(('127.0.0.1', port))
                return True
            except OSError:
                return False
    return next(first for first in range(21000, 60000, PORTS + 9) if all(map(is_free, range(first, first + PORTS))))


def crawl(name, program, arguments):
    """Runs a crawler against a fresh server. Returns the log and how the run ended."""
    folder = tempfile.mkdtemp(prefix=name + '-', dir=arguments.keep)
    port, log = free_ports(), os.path.join(folder, 'log.jsonl')
    shutil.copy(os.path.join(arguments.hostile, 'hostile_server.py'), folder)
    with open(os.path.join(folder, 'hostile_more.py'), 'w') as file:
        # Compress the bomb in advance: doing so at the first request would delay all others.
        file.write('bomb(512 << 20, 31)\n')
    ready = os.path.join(folder, 'ready')
    server = subprocess.Popen([sys.executable, os.path.join(folder, 'hostile_server.py'), '--port', str(port), '--log', log,
                               '--ready-file', ready], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(ready):
            time.sleep(.05)
        with urllib.request.urlopen('http://127.0.0.1:%d/expect.json' % port) as answer:
            beginnings = {key: case['url'] for key, case in json.load(answer).items()}
        environment = {key: value for key, value in os.environ.items() if not key.lower().endswith('_proxy')}
        with open(os.path.join(folder, 'stderr.txt'), 'w') as told:
            begin = time.time()
            program = shutil.which(program) or program
            child = subprocess.Popen(commands(name, os.path.abspath(program), 'http://127.0.0.1:%d/' % port, arguments.gap, folder),
                                     cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=told, stderr=told)
            ended, memory = wait(child, arguments.seconds)
            seconds = time.time() - begin
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    with open(log) as file:
        lines = [line for line in file if '/expect.json' not in line]
    with open(log, 'w') as file:
        file.writelines(lines)
    return dict(log=log, requests=[json.loads(line) for line in lines], beginnings=beginnings, ended=ended,
                seconds=seconds, memory=memory)


def wait(child, seconds):
    """Waits for a crawler. Returns whether it ended by itself, and its peak memory in bytes."""
    end, ended, killed = time.time() + seconds, True, False
    while True:
        pid, _, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            return ended, usage.ru_maxrss * 1024
        if time.time() > end and ended:
            ended = False
            child.send_signal(signal.SIGINT)
        if time.time() > end + 20 and not killed:
            killed = True
            child.kill()
        time.sleep(.1)


def checked(crawled, arguments, flags):
    """Returns the results of check_politeness.py by check."""
    command = [sys.executable, os.path.join(arguments.hostile, 'check_politeness.py'), crawled['log'], '--json'] + flags
    said = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
    return {check['check']: check for check in said['checks']}


def rows(crawled, arguments):
    """Returns the rows of the table: requirement, whether it holds (None: unknown), and a figure."""
    requests, beginnings = crawled['requests'], crawled['beginnings']
    origin = lambda url: int(re.match(r'http://127\.0\.0\.1:(\d+)', url).group(1))
    main = origin(beginnings['calendar'])
    at = lambda port, path: [r for r in requests if r['ip'] == '127.0.0.1' and r['port'] == port and re.search(path, r['target'])]
    asked = lambda path: at(main, path)
    own = lambda name: at(origin(beginnings['origin ' + name]), '')
    pages = lambda found: [r for r in found if not r['target'].startswith('/robots')]
    manners = checked(crawled, arguments, ['--min-gap', str(arguments.gap), '--max-repeat', '3', '--max-under', '/t/calendar=200'])
    slow = checked(crawled, arguments, ['--min-gap', '2', '--only', '^crawl-delay$'])
    passes = lambda check, found=manners: found[check]['result'] == 'PASS'
    # The server sends for 60 s, so a shorter response means that the crawler gave up.
    left = lambda path: all(r['t1'] - r['t0'] < 50 for r in asked(path)) if asked(path) else None
    fetched = lambda path: any(r['status'] == 200 for r in asked(path)) if asked(path) else None
    few = lambda path, most: (len(asked(path)) <= most if asked(path) else None, len(asked(path)))
    short = lambda check: re.sub(r'[;:].*', '', manners[check]['text'])
    limits = re.compile(r'^/t/(calendar|session|soft404|links-100k/)')
    return [
        ('gap of %g s between requests to an origin' % arguments.gap, passes('gap'), short('gap').replace(' gaps too short', '')),
        ('one request at a time to an origin', passes('concurrency'), ''),
        ('`Crawl-delay` of 2 s', passes('gap', slow) if len(pages(own('crawl-delay'))) > 2 else None, ''),
        ('identifies itself in the User-Agent', not any(r['ua'].startswith('Mozilla/') for r in requests), ''),
        ('robots.txt before any page of an origin', passes('robots-first'), ''),
        ('no disallowed page (also behind redirects, after 300 KiB)', passes('robots'), short('robots').split()[0]),
        ('robots.txt answers 500: no page is requested', not pages(own('robots-500')) if own('robots-500') else None, ''),
        ('robots.txt answers 403: pages are requested', bool(pages(own('robots-403'))) or (False if crawled['ended'] else None), ''),
        ('no redirect to a private host is followed', passes('canary') if asked('^/t/redirect-private') else None, ''),
        ('waits as long as `Retry-After` says', passes('retry-after') if asked('^/t/retry-429') else None, ''),
        ('a page behind 429 is fetched after the wait', fetched('^/t/retry-429'), ''),
        ('a page behind 503 is fetched after the wait', fetched('^/t/flap-503'), ''),
        ('`nofollow` on links and pages', not asked('^/t/nofollow/(rel|meta)') if asked('^/t/nofollow') else None, ''),
        ('times out on missing headers', left('^/t/stall-headers'), ''),
        ('times out on a trickling body', left('^/t/slow-body'), ''),
        ('cuts an endless body', all(r['sent'] < 60 << 20 for r in asked('^/t/endless-body')) if asked('^/t/endless-body') else None,
         '%.0f MiB' % (max([r['sent'] for r in asked('^/t/endless-body')], default=0) / (1 << 20))),
        ('redirect loop: at most 25 requests', *few('^/t/redirect-loop', 25)),
        ('endless calendar: at most 200 requests', *few('^/t/calendar', 200)),
        ('session IDs: at most 20 requests', *few('^/t/session', 20)),
        ('no page more than three times', passes('repeats'), ''),
        ('all 40 pages of the plain site', len({r['target'] for r in pages(own('polite')) if re.match(r'/(p\d+)?$', r['target'])}) >= 40,
         len({r['target'] for r in pages(own('polite')) if re.match(r'/(p\d+)?$', r['target'])})),
        ('ends by itself within %d s' % arguments.seconds, crawled['ended'], '%.0f s' % crawled['seconds']),
        ('*requests*', '', len(requests)),
        ('*of them in calendar, sessions, soft 404s, counter*', '', sum(bool(limits.match(r['target'])) for r in requests)),
        ('*peak memory*', '', '%.0f MiB' % (crawled['memory'] / (1 << 20))),
    ]


def cell(holds, figure):
    word = {True: 'yes', False: '**no**', None: '–', '': ''}[holds]
    return ('%s %s' % (word, '(%s)' % figure if word and figure != '' and holds is not None else figure if holds == '' else '')).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('hostile')
    for name, program in [('ndcrawl', None), ('wget', 'wget'), ('scrapy', None), ('spider', None)]:
        parser.add_argument('--' + name, default=program)
    parser.add_argument('--only', help='comma-separated names of crawlers to run')
    parser.add_argument('--gap', type=float, default=.5)
    parser.add_argument('--seconds', type=int, default=300)
    parser.add_argument('--keep', help='folder in which logs and outputs are kept')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        arguments.keep = os.path.abspath(arguments.keep) if arguments.keep else temporary
        os.makedirs(arguments.keep, exist_ok=True)
        names = [name for name in ('ndcrawl', 'wget', 'scrapy', 'spider') if getattr(arguments, name)]
        names = [name for name in names if not arguments.only or name in arguments.only.split(',')]
        columns = []
        for name in names:
            crawled = crawl(name, getattr(arguments, name), arguments)
            columns.append(rows(crawled, arguments))
            print('%s: %d requests in %.0f s' % (name, len(crawled['requests']), crawled['seconds']), file=sys.stderr, flush=True)
    print('| | %s |\n|---|%s' % (' | '.join(names), '---|' * len(names)))
    for number, (title, *_) in enumerate(columns[0]):
        print('| %s | %s |' % (title, ' | '.join(cell(*column[number][1:]) for column in columns)))


main()
