"""`dedup --cluster` beside MinHash of datatrove and text-dedup, on the same dumps of real pages.

    python cluster_dedup.py dumps DIR... -o DUMPS --ndcrawl PROGRAM   # two dumps as WARC files of several makers
    python cluster_dedup.py ndcrawl DUMPS --cluster URL --ndcrawl PROGRAM --workers 1 2 4 -o OUT
    python cluster_dedup.py texts DUMPS/first -o first.jsonl --ndcrawl PROGRAM [--files N]
    python cluster_dedup.py one-process first.jsonl second.jsonl --ndcrawl PROGRAM
    python cluster_dedup.py datatrove first.jsonl [second.jsonl]
    python cluster_dedup.py text-dedup first.jsonl [second.jsonl]

The first dump holds 200 files; two thirds of the second repeat pages of the first one under other URLs. The tools get
the same texts, those that ndcrawl finds. Both peers cannot add a dump to an earlier one: they read both again.

Needs warcio, zstandard and wget for `dumps`; datatrove with regex, tokenizers, spacy and xxhash 3.5, text-dedup with datasets for
the peers.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import http.server
import io
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from urllib.parse import quote

DATE = "2026-01-01T00:00:00Z"
MAKERS = ["warcio", "warcio-plain", "zstd", "wget", "ndcrawl"]
Page = tuple[str, Path]


def pages_of(folders: list[Path]) -> list[Page]:
    """All HTML pages, with URLs: the name of a site's folder is its host."""
    pages = []
    for folder in folders:
        for file in sorted(folder.rglob("*.htm*")):
            if file.is_file() and not file.is_symlink():
                site, *path = file.relative_to(folder).parts
                pages.append((f"http://{site}.test/{quote('/'.join(path))}", file))
    return pages


def head(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)


def record_id(url: str) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, url)}>"


def by_warcio(pages: list[Page], out: Path, is_packed: bool) -> Path:
    from warcio.warcwriter import WARCWriter

    out = out.with_suffix(".warc.gz" if is_packed else ".warc")
    with out.open("wb") as file:
        writer = WARCWriter(file, gzip=is_packed)
        for url, page in pages:
            body = page.read_bytes()
            fields = {"WARC-Date": DATE, "WARC-Record-ID": record_id(url)}
            block = io.BytesIO(head(body) + body)
            writer.write_record(
                writer.create_warc_record(url, "response", payload=block, warc_headers_dict=fields, length=len(block.getvalue()))
            )
    return out


def plain_record(url: str, body: bytes) -> bytes:
    block = head(body) + body
    fields = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: {record_id(url)}\r\nWARC-Date: {DATE}\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return fields.encode() + block + b"\r\n\r\n"


def by_zstd(pages: list[Page], out: Path) -> Path:
    import zstandard

    out = out.with_suffix(".warc.zst")
    packer = zstandard.ZstdCompressor(write_checksum=True)
    out.write_bytes(b"".join(packer.compress(plain_record(url, page.read_bytes())) for url, page in pages))
    return out


def by_wget(pages: list[Page], out: Path) -> Path:
    """Its URLs are those of a server on loopback."""
    root = tempfile.TemporaryDirectory()
    names = []
    for number, (_, page) in enumerate(pages):
        name = f"{out.stem}-{number}.html"
        (Path(root.name) / name).symlink_to(page.resolve())
        names.append(name)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root.name))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    urls = "\n".join(f"http://127.0.0.1:{server.server_port}/{name}" for name in names)
    command = ["wget", "-q", "-i", "-", "-O", "/dev/null", f"--warc-file={out}", "--no-warc-keep-log"]
    subprocess.run(command, input=urls.encode(), check=False)
    server.shutdown()
    return out.with_suffix(".warc.gz")


def by_ndcrawl(pages: list[Page], out: Path, program: str) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        source = by_warcio(pages, Path(folder) / "source", False)
        run = [program, "dedup", str(source), "-o", f"{folder}/run", "-q", "--keep-duplicates"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        out = out.with_suffix(".warc.gz")
        export = [program, "export", f"{folder}/run", "-o", str(out), "--outcome", "all", "--noarchive", "ignore", "-q"]
        subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
        out.with_name(out.name.removesuffix(".warc.gz") + ".cdxj").unlink(missing_ok=True)
    return out


def make_dump(pages: list[Page], files: int, folder: Path, program: str) -> None:
    folder.mkdir(parents=True)
    names = []
    for number in range(files):
        some, out = pages[number::files], folder / f"{number:04}"
        match MAKERS[number % len(MAKERS)]:
            case "warcio":
                made = by_warcio(some, out, True)
            case "warcio-plain":
                made = by_warcio(some, out, False)
            case "zstd":
                made = by_zstd(some, out)
            case "wget":
                made = by_wget(some, out)
            case _:
                made = by_ndcrawl(some, out, program)
        names.append(str(made.resolve()))
    folder.with_suffix(".txt").write_text("\n".join(names) + "\n")


def make_dumps(options: argparse.Namespace) -> None:
    pages = pages_of(options.folders)
    random.Random(1).shuffle(pages)
    pages = pages[: options.pages]
    fresh = len(pages) // 20
    first, second = pages[fresh:], pages[:fresh]
    repeats = [(url.replace(".test/", ".mirror.test/"), page) for url, page in first[: 2 * fresh]]
    second = second + repeats
    random.Random(2).shuffle(second)
    make_dump(first, options.files, options.out / "first", options.ndcrawl)
    make_dump(second, max(options.files // 8, 1), options.out / "second", options.ndcrawl)
    print(len(first), "pages in the first dump,", len(second), "in the second, of which", len(repeats), "repeat the first")


def make_texts(options: argparse.Namespace) -> None:
    """Writes the main texts of the first files of a dump as JSON lines, as ndcrawl finds them."""
    names = options.dump.with_suffix(".txt").read_text().split()[: options.files]
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        run = [options.ndcrawl, "dedup", *names, "-o", f"{folder}/run", "-q", "--keep-duplicates", "--same-url", "keep"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        rows = [options.ndcrawl, "export", f"{folder}/run", "--format", "jsonl", "-o", f"{folder}/rows.jsonl", "-q"]
        subprocess.run([*rows, "--outcome", "all", "--noarchive", "ignore"], check=True, stdout=subprocess.DEVNULL)
        count = 0
        with open(f"{folder}/rows.jsonl") as lines, options.out.open("w") as out:
            for line in lines:
                row = json.loads(line)
                if row["text"]:
                    count += 1
                    out.write(json.dumps({"id": str(count), "url": row["url"], "text": row["text"]}) + "\n")
    print(count, "texts of", len(names), "files")


def used() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + children.ru_utime


class Clock:
    """Wall time and user CPU of steps, children included."""

    def __init__(self) -> None:
        self.steps: dict[str, tuple[float, float]] = {}
        self.last = (time.monotonic(), used())

    def step(self, name: str) -> None:
        now = (time.monotonic(), used())
        self.steps[name] = (round(now[0] - self.last[0], 1), round(now[1] - self.last[1], 1))
        self.last = now
        print(f"{name}: {self.steps[name][0]} s, {self.steps[name][1]} s user", flush=True)


def split_texts(texts: list[Path], folder: Path, tasks: int) -> int:
    """Writes the texts into as many files as there are tasks."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [(folder / f"{task:03}.jsonl").open("w") for task in range(tasks)]
    count = 0
    for text in texts:
        with text.open() as lines:
            for line in lines:
                files[count % tasks].write(line)
                count += 1
    for file in files:
        file.close()
    return count


def by_datatrove(options: argparse.Namespace) -> None:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.hashing import HashConfig
    from datatrove.utils.typeshelper import Languages

    work = Path(tempfile.mkdtemp(dir=options.scratch))
    clock, tasks = Clock(), 2
    count = split_texts(options.texts, work / "texts", tasks)
    clock.step("split")
    # Buckets whose bend is near a similarity of 0.8, as FineWeb's are near 0.75.
    config = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=14, hashes_per_bucket=8, n_grams=5)
    reader = lambda: JsonlReader(str(work / "texts"), glob_pattern="*.jsonl")
    english = Languages.english
    steps = [
        ("signatures", tasks, [reader(), MinhashDedupSignature(str(work / "signatures"), config=config, language=english)]),
        ("buckets", config.num_buckets, [MinhashDedupBuckets(str(work / "signatures"), str(work / "buckets"), config=config)]),
        ("clusters", 1, [MinhashDedupCluster(str(work / "buckets"), str(work / "remove"), config=config)]),
        ("filter", tasks, [reader(), MinhashDedupFilter(str(work / "remove")), JsonlWriter(str(work / "kept"))]),
    ]
    for name, tasks_of, pipeline in steps:
        # One worker runs in this process, whose processor time is measured.
        LocalPipelineExecutor(pipeline, tasks=tasks_of, workers=1, logging_dir=str(work / "logs" / name)).run()
        clock.step(name)
    kept = [json.loads(line)["id"] for file in (work / "kept").glob("*.gz") for line in gzip.open(file)]
    tell("datatrove", count, kept, clock, options)
    shutil.rmtree(work)


def by_text_dedup(options: argparse.Namespace) -> None:
    work = Path(tempfile.mkdtemp(dir=options.scratch))
    clock = Clock()
    count = split_texts(options.texts, work / "texts", 1)
    clock.step("split")
    command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", str(work / "texts" / "000.jsonl")]
    command += ["--split", "train", "--column", "text", "--threshold", "0.8", "--output", str(work / "kept")]
    command += ["--cache_dir", str(work / "cache"), "--batch_size", "1000", "--num_proc", "2"]
    subprocess.run(command, check=True)
    clock.step("minhash")
    from datasets import load_from_disk

    tell("text-dedup", count, load_from_disk(str(work / "kept"))["id"][:], clock, options)
    shutil.rmtree(work)


def by_one_process(options: argparse.Namespace) -> None:
    """The same texts by one process; a further file of texts joins the run of those before."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        for number in range(1, len(options.texts) + 1):
            clock = Clock()
            texts = [str(text.resolve()) for text in options.texts[:number]]
            command = [options.ndcrawl, "dedup", *texts, "-o", f"{folder}/run", "--json", "--no-warc", *options.flags]
            told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            clock.step(f"{number} files")
            result = {"tool": "ndcrawl", "files": number, "told": told, "peak_mib": peak(), "steps": clock.steps}
            print(json.dumps(result), flush=True)
        if options.kept_ids:
            lines = map(json.loads, open(f"{folder}/run/pages.jsonl"))
            outcomes = {line["url"]: (line["outcome"], line.get("duplicate_of")) for line in lines}
            options.kept_ids.write_text(json.dumps(outcomes))


def peak() -> int:
    """MiB of the largest process so far."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024


def tell(tool: str, pages: int, ids: list[str], clock: Clock, options: argparse.Namespace) -> None:
    kept = len(ids)
    if options.kept_ids:
        options.kept_ids.write_text(json.dumps(ids))
    wall, user = (round(sum(step[part] for step in clock.steps.values()), 1) for part in (0, 1))
    result = {"tool": tool, "pages": pages, "kept": kept, "dropped": pages - kept, "wall": wall, "user": user}
    print(json.dumps(result | {"peak_mib_of_a_process": peak(), "steps": clock.steps}), flush=True)


def rss(process: int) -> int:
    """KiB in memory."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def by_cluster(options: argparse.Namespace) -> None:
    """Dedup of both dumps by each number of workers. Tells the memory of each worker as the run goes on."""
    first: dict[str, bytes] = {}
    for workers in options.workers:
        for dump in ("first", "second"):
            out = options.out / f"{workers}-{dump}"
            command = [options.ndcrawl, "dedup", "--cluster", options.cluster, "--cluster-name", f"bench_{workers}"]
            command += [str(options.dumps / f"{dump}.txt"), "-o", str(out), "--json", *options.flags]
            clock, memory = Clock(), []
            started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(workers)]
            while any(process.poll() is None for process in started):
                time.sleep(1)
                memory.append([rss(process.pid) // 1024 for process in started])
            clock.step(f"{workers} workers, {dump} dump")
            told = json.loads(started[0].communicate()[0])
            files = {file.name: file.read_bytes() for file in sorted(out.iterdir())}
            known = first.setdefault(dump, files)
            tenths = [memory[len(memory) * tenth // 10] for tenth in range(10)] if memory else []
            result = {"workers": workers, "dump": dump, "outcomes": told["outcomes"], "done": told["done"]}
            result |= {"codes": [process.returncode for process in started], "files": len(files)}
            result |= {"same_files_as_with_the_first": files == known, "rss_mib_by_tenths": tenths, "steps": clock.steps}
            print(json.dumps(result), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    dumps = commands.add_parser("dumps")
    dumps.add_argument("folders", nargs="+", type=Path)
    dumps.add_argument("-o", "--out", type=Path, required=True)
    dumps.add_argument("--files", type=int, default=200)
    dumps.add_argument("--pages", type=int, default=None, help="all, unless given")
    dumps.add_argument("--ndcrawl", default="ndcrawl")
    dumps.set_defaults(run=make_dumps)
    texts = commands.add_parser("texts")
    texts.add_argument("dump", type=Path)
    texts.add_argument("-o", "--out", type=Path, required=True)
    texts.add_argument("--files", type=int, default=200)
    texts.set_defaults(run=make_texts)
    peers = (("datatrove", by_datatrove), ("text-dedup", by_text_dedup), ("one-process", by_one_process))
    for name, run in peers:
        peer = commands.add_parser(name)
        peer.add_argument("texts", nargs="+", type=Path)
        peer.add_argument("--kept-ids", type=Path, help="file for the ids of what is kept, or the outcomes of ndcrawl")
        peer.set_defaults(run=run)
    for command in (texts, *(commands.choices[name] for name, _ in peers)):
        command.add_argument("--scratch", default=None)
        command.add_argument("--ndcrawl", default="ndcrawl")
        command.add_argument("--flags", nargs="*", default=[])
    cluster = commands.add_parser("ndcrawl")
    cluster.add_argument("dumps", type=Path)
    cluster.add_argument("--cluster", required=True)
    cluster.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4])
    cluster.add_argument("--ndcrawl", default="ndcrawl")
    cluster.add_argument("--flags", nargs="*", default=[])
    cluster.add_argument("-o", "--out", type=Path, required=True)
    cluster.set_defaults(run=by_cluster)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
