"""The program as the wheel installs it."""

import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import ndcrawl

PROGRAM = Path(sysconfig.get_path("scripts")) / "ndcrawl"


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(PROGRAM), *arguments], capture_output=True, text=True, **options)


def test_the_version_is_that_of_the_module() -> None:
    told = run("--version")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"ndcrawl {ndcrawl.__version__}\n", "")
    module = subprocess.run([sys.executable, "-m", "ndcrawl", "--version"], capture_output=True, text=True)
    assert module.stdout == told.stdout


def test_the_demo_crawls(tmp_path: Path) -> None:
    done = run("demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "pages.jsonl").stat().st_size > 0


def test_errors_and_exit_codes_are_those_of_the_program(tmp_path: Path) -> None:
    wrong = run("crawl", "--no-such-flag")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: unexpected argument '--no-such-flag'")
    assert run("dedup", str(tmp_path / "none"), "--out", str(tmp_path / "out")).returncode == 2


def test_main_returns_the_exit_code_and_leaves_ctrl_c_to_python(tmp_path: Path, capfd) -> None:
    before = signal.getsignal(signal.SIGINT)
    assert ndcrawl.main(["completions", "bash"]) == 0
    assert "_ndcrawl()" in capfd.readouterr().out
    assert ndcrawl.main(["no-such-command"]) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_stops_a_crawl_cleanly(tmp_path: Path, site: str) -> None:
    crawl = subprocess.Popen(
        [str(PROGRAM), "crawl", site, "--allow-private", "--out", str(tmp_path / "out"), "-v"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    # Written once the program listens to signals.
    status = tmp_path / "out" / "status.json"
    wait_for(lambda: status.exists() or crawl.poll() is not None)
    crawl.send_signal(signal.SIGINT)
    out, err = crawl.communicate(timeout=60)
    assert crawl.returncode == 130, err
    assert "stopping: fetches in flight may end" in err
    assert "Traceback" not in err and "KeyboardInterrupt" not in err


def wait_for(condition) -> None:
    """Waits until a condition holds, for a minute at most."""
    import time

    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.02)
