"""A site that never ends, on loopback."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Endless(BaseHTTPRequestHandler):
    """Each page links to two others."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        number = int("0" + "".join(c for c in self.path if c.isdigit()))
        words = " ".join(f"word{(number * 7919 + n * n) % 100_003}" for n in range(60))
        links = "".join(f'<a href="/page-{number * 2 + n}.html">{n}</a>' for n in (1, 2))
        found = self.path != "/robots.txt"
        body = f"<title>{number}</title><p>{words}</p>{links}".encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    """The address of the site. A crawl of it is slow, by its politeness delay."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()
