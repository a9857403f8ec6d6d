"""Reading of pages."""

import ndcrawl
import pytest

HTML = """<html lang=en><head><title>Sockets</title><meta name=author content="A. Person">
<meta name=robots content="noarchive"><link rel=canonical href="/guide/"></head>
<body><nav>Menu</nav><h1>Sockets</h1><p>A socket <a href="tcp.html#top">talks TCP</a>,
not <a rel=nofollow href="//other.example/">others</a>. Much more is said of sockets here.</p></body></html>"""


def test_a_page_has_text_links_and_metadata() -> None:
    page = ndcrawl.extract(HTML, "http://docs.example:80/guide/index.html")
    assert page.url == "http://docs.example/guide/index.html"
    assert page.title == "Sockets"
    assert page.text == "Sockets\nA socket talks TCP, not others. Much more is said of sockets here."
    assert [(link.url, link.nofollow) for link in page.links if "canonical" not in link.url][-2:] == [
        ("http://docs.example/guide/tcp.html", False),
        ("http://other.example/", True),
    ]
    assert page.language == "en"
    assert page.canonical == "http://docs.example/guide/"
    assert page.robots == ["noarchive"]
    assert page.metadata["who"] == "A. Person"
    assert page.metadata["where"] == "docs.example"
    assert "Sockets" in repr(page)


def test_the_text_is_the_main_text_and_keeps_its_shape() -> None:
    page = ndcrawl.extract(
        HTML.replace("</body>", "<pre>a\n  b</pre><table><tr><th>x<th>y<tr><td>1<td>2</table></body>"),
        "http://docs.example/guide/",
    )
    assert page.text.endswith("\na\n  b\n\nx\ty\n1\t2")
    assert page.full_text == "Menu\n\n" + page.text
    assert page.markdown.startswith("# Sockets\n\nA socket [talks TCP](http://docs.example/guide/tcp.html#top), not")
    assert page.markdown.endswith("\n\n```\na\n  b\n```\n\n| x | y |\n| --- | --- |\n| 1 | 2 |")


def test_text_is_decoded_already_and_bytes_are_not() -> None:
    html = "<meta charset=iso-8859-5><title>Ünïcode</title><p>žluťoučký"
    assert ndcrawl.extract(html).title == "Ünïcode"
    assert ndcrawl.extract(html).charset == "UTF-8"
    assert ndcrawl.extract("<title>Straße</title>".encode("latin-1")).title == "Straße"
    cyrillic = "<title>Привет</title>".encode("iso-8859-5")
    assert ndcrawl.extract(cyrillic, content_type="text/html; charset=iso-8859-5").title == "Привет"


def test_other_types() -> None:
    assert ndcrawl.extract("one\r\ntwo <b>", content_type="text/plain").text == "one\r\ntwo <b>"
    assert ndcrawl.extract(b"\x89PNG\r\n\x1a\n\x00\x00", content_type="image/png").text == ""
    assert ndcrawl.extract(b"\x89PNG\r\n\x1a\n\x00\x00", content_type="image/png").markdown == ""
    assert ndcrawl.extract("").text == ""


def test_errors() -> None:
    with pytest.raises(ValueError, match="url 'no url': "):
        ndcrawl.extract(HTML, "no url")
    with pytest.raises(TypeError, match="a page is bytes or a str, not int"):
        ndcrawl.extract(5)  # type: ignore[arg-type]
