"""Workers of scrapy-redis on the web of the bench `cluster`: pages a second, and what is lost when a process is killed.

    cargo bench --bench cluster -- serve seeds.txt &         # 400 hosts of 8 pages, each answer takes 200 ms
    python scrapy_redis_workers.py seeds.txt --workers 2             # the table; needs scrapy, scrapy-redis and redis-server
    python scrapy_redis_workers.py seeds.txt --workers 2 --kill worker
    python scrapy_redis_workers.py seeds.txt --workers 2 --kill store

Redis runs with the settings of its package: snapshots, no append-only file. The store is killed by SIGKILL and started
again at once.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

IDLE_SECONDS = 5


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_store(folder: Path, port: int) -> subprocess.Popen:
    """Starts Redis, and waits until it answers."""
    store = subprocess.Popen(
        ["redis-server", "--port", str(port), "--dir", str(folder), "--save", "3600 1 300 100 60 10000"],
        stdout=subprocess.DEVNULL,
    )
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return store
        except OSError:
            time.sleep(0.05)
    raise SystemExit("redis-server does not answer")


def work(port: int, out: str, concurrency: int) -> None:
    """One worker: follows links on the hosts of the seeds, and writes a line for each page."""
    from scrapy.crawler import CrawlerProcess
    from scrapy_redis.spiders import RedisSpider

    class Pages(RedisSpider):
        name = "pages"
        redis_key = "pages:start_urls"

        def parse(self, response):
            yield {"url": response.url, "title": response.css("title::text").get()}
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link)

    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": f"redis://127.0.0.1:{port}",
        "MAX_IDLE_TIME_BEFORE_CLOSE": IDLE_SECONDS,
        "CONCURRENT_REQUESTS": concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "ERROR",
        "FEEDS": {out: {"format": "jsonlines"}},
        "TELNETCONSOLE_ENABLED": False,
    }
    process = CrawlerProcess(settings)
    process.crawl(Pages)
    process.start()


def count_pages(folder: Path) -> list[str]:
    urls = []
    for path in folder.glob("worker-*.jsonl"):
        for line in path.read_text().splitlines():
            try:
                urls.append(json.loads(line)["url"])
            except json.JSONDecodeError:
                # The process was killed while it wrote.
                pass
    return urls


def run(seeds: list[str], workers: int, concurrency: int, kill: str | None, pages: int) -> None:
    import redis

    folder = Path(tempfile.mkdtemp(prefix="scrapy-redis"))
    port = free_port()
    store = start_store(folder, port)
    client = redis.Redis(port=port)
    client.lpush("pages:start_urls", *seeds)

    def start(number: int) -> subprocess.Popen:
        out = folder / f"worker-{number}.jsonl"
        command = [sys.executable, __file__, "work", str(port), str(out), str(concurrency)]
        return subprocess.Popen(command, stderr=subprocess.DEVNULL if kill else None)

    began = time.time()
    running = [start(number) for number in range(workers)]
    killed_at = None
    while any(process.poll() is None for process in running):
        time.sleep(0.2)
        done = client.scard("pages:dupefilter") if killed_at is None else 0
        if kill and killed_at is None and done >= pages // 2:
            killed_at = time.time() - began
            if kill == "worker":
                running[0].send_signal(signal.SIGKILL)
                running.append(start(workers))
            else:
                store.send_signal(signal.SIGKILL)
                store.wait()
                store = start_store(folder, port)
    seconds = time.time() - began - IDLE_SECONDS
    urls = count_pages(folder)
    distinct = len(set(urls))
    print(
        f"scrapy-redis, {workers} workers, killed: {kill or 'nothing'}: {seconds:.1f} s, {distinct / seconds:.0f} pages/s; "
        f"{distinct} of {pages} pages, {pages - distinct} lost, {len(urls) - distinct} twice"
    )
    store.kill()


def main() -> None:
    if sys.argv[1:2] == ["work"]:
        work(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--kill", choices=["worker", "store"])
    parser.add_argument("--pages-per-host", type=int, default=8)
    arguments = parser.parse_args()
    os.environ.pop("http_proxy", None)
    seeds = [line.strip() for line in Path(arguments.seeds).read_text().splitlines() if line.strip()]
    pages = len(seeds) * arguments.pages_per_host
    run(seeds, arguments.workers, arguments.concurrency, arguments.kill, pages)


if __name__ == "__main__":
    main()
