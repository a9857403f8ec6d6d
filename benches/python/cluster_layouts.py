#!/usr/bin/env python3
"""Measures four ways to keep the index of runs in PostgreSQL.

Each page has at most 64 hashes of 64 bits: of its runs of five words, those with the smallest hashes. A page asks for
the pages that share a hash with it, and is filed under its own. Real pages come from JSON lines with a field `text` or
`html`; made ones fill the index up to its size: three quarters of them have hashes of their own, a quarter shares half of
its hashes with an earlier one.

    rows       a row a hash, 32 of them a page
    arrays     an array of 64 in the row of the page, under a GIN index
    covering   a row a hash, 64 of them a page, in 16 partitions by hash, each with a covering index
    log        the row of the page alone: each worker reads what others stored, and has the index in memory

The time is CPU time of all processes of the server, so other work on the machine matters little. Waits are by the
clock. Needs psycopg, xxhash, numpy and the programs of PostgreSQL 15 or newer.

    python3 cluster_layouts.py TEXTS.jsonl PAGES.jsonl --made 1000000 --bin /usr/lib/postgresql/15/bin
"""

import argparse
import json
import os
import pathlib
import pwd
import random
import re
import subprocess
import tempfile
import threading
import time

import numpy
import psycopg
import xxhash

WORDS = re.compile(r"\w+")
MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)
HASHES = 64
BATCH = 64
TICKS = os.sysconf("SC_CLK_TCK")


def sketch(text):
    """Returns the 64 smallest hashes of runs of five words."""
    words = [word.lower() for word in WORDS.findall(text)]
    runs = {xxhash.xxh3_64_intdigest(" ".join(words[at : at + 5]).encode()) for at in range(max(1, len(words) - 4))}
    return [value - 2**63 for value in sorted(runs)[:HASHES]]


def sketches(path):
    with path.open(encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [sketch(row["text"] if "text" in row else MARKUP.sub(" ", row["html"])) for row in rows]


def made(count, seed=1):
    """Returns sketches of made pages, an array a page."""
    numbers = numpy.random.default_rng(seed)
    pages = numbers.integers(-(2**63), 2**63 - 1, (count, HASHES), dtype=numpy.int64)
    copies = numpy.arange(4, count, 4)
    pages[copies, : HASHES // 2] = pages[(copies * numbers.random(len(copies))).astype(int), : HASHES // 2]
    return pages


class Server:
    """A server of its own, on a socket in a folder that is deleted at the end."""

    def __init__(self, programs):
        self.programs = pathlib.Path(programs)
        self.folder = tempfile.TemporaryDirectory()
        self.data = pathlib.Path(self.folder.name) / "data"
        self.is_root = os.geteuid() == 0
        if self.is_root:
            os.chown(self.folder.name, *pwd.getpwnam("postgres")[2:4])
        self.run("initdb", "-U", "bench", "-A", "trust", "--no-sync", "-D", self.data)
        with open(self.data / "postgresql.conf", "a") as settings:
            settings.write(
                f"listen_addresses=''\nunix_socket_directories='{self.folder.name}'\nshared_buffers='2GB'\n"
                "maintenance_work_mem='1GB'\nmax_wal_size='4GB'\nautovacuum=off\n"
            )
        self.run("pg_ctl", "-w", "-D", self.data, "-l", self.data / "log", "start")
        self.pid = int((self.data / "postmaster.pid").read_text().split()[0])

    def run(self, name, *arguments):
        command = [str(self.programs / name), *map(str, arguments)]
        as_server = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if self.is_root else []
        subprocess.run([*as_server, *command], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def connect(self):
        return psycopg.connect(host=self.folder.name, user="bench", dbname="postgres", autocommit=True)

    def cpu(self):
        """Returns the CPU seconds of each process of the server that is alive."""
        used = {}
        for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rsplit(")", 1)[1].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[1]) == self.pid or status.parent.name == str(self.pid):
                used[status.parent.name] = (int(fields[11]) + int(fields[12])) / TICKS
        return used

    def stop(self):
        self.run("pg_ctl", "-w", "-m", "immediate", "-D", self.data, "stop")
        self.folder.cleanup()


class Rows:
    """A row a hash."""

    hashes, partitions = 32, 0

    def create(self, sql):
        if not self.partitions:
            sql.execute("CREATE TABLE entry (hash bigint NOT NULL, page int NOT NULL)")
            return
        sql.execute("CREATE TABLE entry (hash bigint NOT NULL, page int NOT NULL) PARTITION BY HASH (hash)")
        for part in range(self.partitions):
            sql.execute(f"CREATE TABLE entry_{part} PARTITION OF entry FOR VALUES WITH (MODULUS {self.partitions}, REMAINDER {part})")

    def fill(self, sql, first, pages):
        with sql.cursor().copy("COPY entry FROM STDIN") as copy:
            for at, page in enumerate(pages):
                copy.write("".join(f"{value}\t{first + at}\n" for value in page[: self.hashes]))

    def index(self, sql):
        sql.execute("CREATE INDEX ON entry (hash) INCLUDE (page)")
        sql.execute("VACUUM ANALYZE entry")

    def ask(self, sql, pages):
        asked = [(at, int(value)) for at, page in enumerate(pages) for value in page[: self.hashes]]
        statement = (
            "SELECT DISTINCT asked.at, entry.page FROM unnest(%s::int[], %s::bigint[]) AS asked (at, hash) "
            "JOIN entry ON entry.hash = asked.hash"
        )
        return sql.execute(statement, ([at for at, _ in asked], [value for _, value in asked])).fetchall()

    def store(self, sql, first, pages):
        rows = [(int(value), first + at) for at, page in enumerate(pages) for value in page[: self.hashes]]
        statement = "INSERT INTO entry SELECT * FROM unnest(%s::bigint[], %s::int[])"
        sql.execute(statement, ([value for value, _ in rows], [page for _, page in rows]))


class Covering(Rows):
    """A row a hash, in partitions."""

    hashes, partitions = HASHES, 16


class Arrays:
    """An array in the row of the page."""

    def create(self, sql):
        sql.execute("CREATE TABLE page (page int NOT NULL, hashes bigint[] NOT NULL)")

    def fill(self, sql, first, pages):
        with sql.cursor().copy("COPY page FROM STDIN") as copy:
            for at, page in enumerate(pages):
                copy.write(f"{first + at}\t{{{','.join(map(str, page))}}}\n")

    def index(self, sql):
        sql.execute("CREATE INDEX ON page USING gin (hashes)")
        sql.execute("VACUUM ANALYZE page")

    def ask(self, sql, pages):
        found = []
        with sql.pipeline():
            cursors = [
                sql.execute("SELECT page FROM page WHERE hashes && %s::bigint[]", ([int(value) for value in page],))
                for page in pages
            ]
        for at, cursor in enumerate(cursors):
            found += [(at, row[0]) for row in cursor.fetchall()]
        return found

    def store(self, sql, first, pages):
        with sql.cursor() as cursor:
            rows = [(first + at, [int(value) for value in page]) for at, page in enumerate(pages)]
            cursor.executemany("INSERT INTO page VALUES (%s, %s::bigint[])", rows)


class Log:
    """The row of the page, which the workers read in order."""

    def create(self, sql):
        sql.execute("CREATE TABLE page (page int PRIMARY KEY, hashes bytea NOT NULL)")
        self.read = threading.local()

    def fill(self, sql, first, pages):
        with sql.cursor().copy("COPY page (page, hashes) FROM STDIN WITH (FORMAT BINARY)") as copy:
            copy.set_types(["int4", "bytea"])
            for at, page in enumerate(pages):
                copy.write_row((first + at, numpy.asarray(page, numpy.int64).tobytes()))
        self.filled = first + len(pages)

    def index(self, sql):
        sql.execute("VACUUM ANALYZE page")

    def ask(self, sql, pages):
        after = getattr(self.read, "after", self.filled - 1)
        rows = sql.execute("SELECT page, hashes FROM page WHERE page > %s ORDER BY page", (after,)).fetchall()
        self.read.after = rows[-1][0] if rows else after
        return []

    def store(self, sql, first, pages):
        with sql.cursor() as cursor:
            rows = [(first + at, numpy.asarray(page, numpy.int64).tobytes()) for at, page in enumerate(pages)]
            cursor.executemany("INSERT INTO page VALUES (%s, %s)", rows)


LAYOUTS = {"rows": Rows, "arrays": Arrays, "covering": Covering, "log": Log}


def decide(server, layout, pages, first, connections):
    """Asks for all pages and stores them, in batches; returns CPU seconds a page to ask and store, and waits."""
    waits, failed = [], []
    batches = iter([pages[at : at + BATCH] for at in range(0, len(pages), BATCH)])
    lock, number = threading.Lock(), [first]

    def work(sql):
        try:
            while True:
                with lock:
                    batch = next(batches, None)
                if batch is None:
                    return
                begun = time.monotonic()
                layout.ask(sql, batch)
                with sql.transaction():
                    sql.execute("SELECT pg_advisory_xact_lock(1)")
                    layout.store(sql, number[0], batch)
                    number[0] += len(batch)
                waits.append(time.monotonic() - begun)
        except psycopg.Error as error:
            failed.append(error)

    sessions = [server.connect() for _ in range(connections)]
    before, begun = server.cpu(), time.monotonic()
    workers = [threading.Thread(target=work, args=(sql,)) for sql in sessions]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    passed = time.monotonic() - begun
    used = sum(seconds - before.get(process, 0) for process, seconds in server.cpu().items())
    [sql.close() for sql in sessions]
    if failed:
        raise failed[0]
    waits.sort()
    return {
        "connections": connections,
        "pages": len(pages),
        "cpu_ms_a_page": round(1000 * used / len(pages), 3),
        "pages_a_cpu_second": round(len(pages) / max(used, 1e-9)),
        "pages_a_second": round(len(pages) / passed),
        "p99_ms_a_batch": round(1000 * waits[int(0.99 * (len(waits) - 1))], 1),
    }


def measure(programs, name, real, filling, tried):
    server, layout = Server(programs), LAYOUTS[name]()
    try:
        sql = server.connect()
        layout.create(sql)
        layout.fill(sql, 0, real[: -3 * tried])
        layout.fill(sql, len(real), filling)
        layout.index(sql)
        filled = len(real) - 3 * tried + len(filling)
        size = sql.execute("SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = 'public'::regnamespace").fetchone()[0]
        first = len(real) + len(filling)
        # The first pages pay for what filling has left undone: the cache, and full pages in the log of the server.
        decide(server, layout, real[-3 * tried : -2 * tried], first, 1)
        runs = [decide(server, layout, real[-2 * tried : -tried], first + tried, 1)]
        runs.append(decide(server, layout, real[-tried:], first + 2 * tried, 4))
        return [{"layout": name, "real": len(real), "filled": filled, "bytes_a_page": round(int(size) / filled), **run} for run in runs]
    finally:
        server.stop()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("texts", nargs="+", type=pathlib.Path)
    arguments.add_argument("--made", type=int, default=1_000_000, help="made pages in the index")
    arguments.add_argument("--tried", type=int, default=5_000, help="real pages that are decided in each of three runs, of which the first does not count")
    arguments.add_argument("--bin", default="/usr/lib/postgresql/15/bin", help="where initdb and pg_ctl are")
    arguments.add_argument("--layouts", default=",".join(LAYOUTS))
    given = arguments.parse_args()
    real = [page for path in given.texts for page in sketches(path)]
    random.Random(7).shuffle(real)
    filling = made(given.made).tolist()
    for name in given.layouts.split(","):
        for run in measure(given.bin, name, real, filling, given.tried):
            print(json.dumps(run), flush=True)


if __name__ == "__main__":
    main()
