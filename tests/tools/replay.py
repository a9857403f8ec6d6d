"""Replays a page of a WARC file with pywb, by the index that was exported with it, or of a WACZ file.

usage: replay.py FOLDER NAME [BROWSER]

FOLDER holds NAME.warc.gz and NAME.cdxj, or NAME is that of a file that ends in .wacz, which wb-manager takes in. Every
URL of the index, or of the list of pages, is asked for; with a BROWSER, headless Chromium, one of them is also shown, and
what it shows has the title that the page has.
"""

import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile

FOLDER, NAME = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
MOST = 40


def entries():
    if NAME.endswith(".wacz"):
        with zipfile.ZipFile(FOLDER / NAME) as packed:
            lines = packed.read("pages/pages.jsonl").decode().splitlines()
        for page in map(json.loads, lines[1:]):
            moment = re.sub(r"[^0-9]", "", page["ts"])[:14]
            yield moment, {"url": page["url"], "status": "200", "mime": "text/html"}
        return
    for line in open(FOLDER / f"{NAME}.cdxj", encoding="utf-8"):
        _, moment, fields = line.split(" ", 2)
        yield moment, json.loads(fields)


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(server, port):
    for _ in range(300):
        assert server.poll() is None, "pywb has ended"
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("pywb")


def replay(port, browser):
    pages = [(moment, fields) for moment, fields in entries() if fields["status"] == "200"]
    step = max(1, len(pages) // MOST)
    titled = None
    for moment, fields in pages[::step]:
        status, body = ask(f"http://127.0.0.1:{port}/pages/{moment}id_/{fields['url']}")
        assert status == 200, (status, fields)
        assert len(body) > 0, fields
        title = re.search(rb"<title>([^<&]{5,})</title>", body, re.I)
        if title and fields.get("mime") == "text/html":
            titled = titled or (moment, fields["url"], " ".join(title[1].decode("utf-8", "replace").split()))
    print(f"replayed {len(pages[::step])} of {len(pages)} pages")
    if browser and titled:
        moment, url, title = titled
        with tempfile.TemporaryDirectory() as profile:
            shown = subprocess.run(
                [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom",
                 "--virtual-time-budget=8000", f"http://127.0.0.1:{port}/pages/{moment}/{url}"],
                capture_output=True, text=True, timeout=60)
        found = re.search(r"<title>(.*?)</title>", shown.stdout, re.I | re.S)
        assert found and " ".join(found[1].split()) == title, (title, shown.stdout[:2000], shown.stderr[-2000:])
        print(f"shown by the browser: {title}")


with tempfile.TemporaryDirectory() as folder:
    # Without frames the page is what the browser shows.
    config = {"framed_replay": False}
    if NAME.endswith(".wacz"):
        for command in (["init", "pages"], ["add", "--unpack-wacz", "pages", str(FOLDER / NAME)]):
            subprocess.run(["wb-manager", *command], cwd=folder, check=True, capture_output=True)
    else:
        paths = {"index_paths": str(FOLDER / f"{NAME}.cdxj"), "archive_paths": f"{FOLDER}/"}
        config["collections"] = {"pages": paths}
    pathlib.Path(folder, "config.yaml").write_text(json.dumps(config))
    port = free_port()
    server = subprocess.Popen(
        ["pywb", "--bind", "127.0.0.1", "--port", str(port)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(server, port)
        replay(port, sys.argv[3] if len(sys.argv) > 3 else None)
    finally:
        server.terminate()
        server.wait()
