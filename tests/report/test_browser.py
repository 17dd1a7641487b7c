"""The page in a real browser: nothing runs, nothing is fetched, nothing overflows.

Chromium is driven over its debugging pipe, which needs no package beyond the
standard library. Where there is no Chromium, the tests are skipped.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import http.server
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from isthmus import MDRE, compare

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-default-apps --disable-extensions --remote-debugging-pipe"
).split()
# The browser reads from 3 and writes to 4.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
SCRIPT, LEVEL = "<script>alert(1)</script>", "<img src=x onerror=alert(2)>"
LABELS = ("<b>p</b> & 'june'.csv", "q_$may$.csv")
# Long enough for a busy machine; nothing is measured by it.
PATIENCE = 120.0


class Browser:
    """One browser with one tab, spoken to by messages of JSON that end in a zero byte."""

    def __init__(self, folder):
        to_browser, from_browser = os.pipe(), os.pipe()
        # Away from 3 and 4, where the launcher puts them.
        read = fcntl.fcntl(to_browser[0], fcntl.F_DUPFD, 20)
        write = fcntl.fcntl(from_browser[1], fcntl.F_DUPFD, 20)
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(read), str(write), CHROMIUM, *FLAGS,
             f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(read, write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        for fd in (read, write, to_browser[0], from_browser[1]):
            os.close(fd)
        self.out, self.inn = to_browser[1], from_browser[0]
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command and return its result; events that come meanwhile are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            assert time.monotonic() < deadline, "the browser does not answer"
            if select.select([self.inn], [], [], 1.0)[0]:
                part = os.read(self.inn, 1 << 16)
                assert part, "the browser has gone"
                self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, address, width=1280, dark=False):
        """Load a page in a window of that width, and wait until it is complete."""
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.receive()

    def ask(self, expression):
        """Value of a JavaScript expression on the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def seen(self, *methods):
        return [e["params"] for e in self.events if e["method"] in methods]

    def close(self):
        with contextlib.suppress(OSError, AssertionError):
            self.session = None
            self.call("Browser.close")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.out)
        os.close(self.inn)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two pages on a local server that writes down what it is asked for."""
    folder = tmp_path_factory.mktemp("site")
    rng = np.random.default_rng(0)
    normal = MDRE(auxiliaries="bridge", critic="quadratic", anchor="gaussian", maps=None, l2=np.inf)

    def table(n, shift):
        return {
            SCRIPT: rng.normal(shift, 1, n),
            "kind": rng.choice([LEVEL, "plain"], n, p=[0.3 + 0.3 * shift, 0.7 - 0.3 * shift]),
            "w" * 300: rng.normal(0, 1, n),
            "$x_1$ and $x_2$": rng.normal(0, 1, n),
            '"><svg onload=alert(3)>': rng.normal(0, 1, n),
        }

    wild = compare(table(200, 1.0), table(200, 0.0), estimator=normal, folds=2, random_state=0)
    wild.report(folder / "wild.html", labels=LABELS, notes=["</style><script>alert(4)</script>"])
    p, q = rng.normal(-1, 0.1, 300), rng.normal(1, 0.2, 300)
    chasm = compare(p, q, estimator=normal, folds=2, random_state=0)
    chasm.report(folder / "chasm.html", title="</title><script>alert(5)</script>")

    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, *_):
            asked.append(self.path)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder)
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


PAGES = ["wild", "chasm"]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_runs_and_nothing_leaves(browser, site, name):
    address, asked = site
    asked.clear()
    browser.open(f"{address}/{name}.html")
    # Whatever would still be on its way has come by now.
    browser.ask("document.body.innerText.length")
    assert asked == [f"/{name}.html"]
    requests = [event["request"]["url"] for event in browser.seen("Network.requestWillBeSent")]
    # The icon and the colour bar are within the page.
    assert {url for url in requests if not url.startswith("data:")} == {f"{address}/{name}.html"}
    assert browser.seen("Page.javascriptDialogOpening") == []
    told = browser.seen("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
    assert told == []
    assert browser.ask("document.scripts.length + document.images.length") == 0


def test_names_are_text(browser, site):
    browser.open(f"{site[0]}/wild.html")
    assert browser.ask(
        "Array.from(document.querySelectorAll('tbody th'))"
        f".filter(e => e.textContent === {json.dumps(SCRIPT)} && !e.children.length).length"
    )
    # In a figure a level has less room; it is text of an SVG, with no element within.
    levels = browser.ask(
        "Array.from(document.querySelectorAll('svg text')).map(e => e.textContent.trim())"
    )
    assert "plain" in levels and any(t.startswith("<img src=") for t in levels)
    assert "$x_1$ and $x_2$" in levels
    assert browser.ask("document.querySelector('h1').textContent") == (
        f"{LABELS[0]} against {LABELS[1]}"
    )
    assert "</style><script>alert(4)</script>" in browser.ask("document.body.textContent")
    # The document that the browser made of it has no element that a name brought in.
    assert (
        browser.ask("document.querySelectorAll('[onload], [onerror], body b b, img').length") == 0
    )
    dom = browser.ask("document.documentElement.outerHTML")
    assert SCRIPT not in dom and "&lt;script&gt;alert(1)&lt;/script&gt;" in dom


def test_a_title_is_a_title(browser, site):
    browser.open(f"{site[0]}/chasm.html")
    assert browser.ask("document.title") == "</title><script>alert(5)</script>"


WIDER = """
Array.from(document.querySelectorAll('body *'))
  .filter(e => !e.closest('pre') && !e.closest('svg') && !e.closest('.unseen'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || e.getBoundingClientRect().left < -0.5)
  .map(e => e.outerHTML.slice(0, 120))
"""  # noqa: E501


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(browser, site, name, width):
    browser.open(f"{site[0]}/{name}.html", width)
    assert browser.ask("innerWidth") == width
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask(WIDER) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_letters_in_figures_can_be_read(browser, site, width):
    browser.open(f"{site[0]}/wild.html", width)
    sizes = browser.ask(
        "Array.from(document.querySelectorAll('figure svg')).map(s => "
        "  s.getBoundingClientRect().width / s.viewBox.baseVal.width *"
        "  Math.min(...Array.from(s.querySelectorAll('text'))"
        "    .map(t => parseFloat(getComputedStyle(t).fontSize))))"
    )
    # The smallest letters that are drawn are nine, and a pixel of the page is the reader's.
    assert min(sizes) > 8.5 and max(sizes) < 20, sizes


CONTRAST = """
(() => {
  const channel = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const parse = s => s.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const least = {};
  for (const e of document.querySelectorAll('body *')) {
    const own = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest('.unseen')) continue;
    const style = getComputedStyle(e);
    const ink = e.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(parse(ink)), light(behind(e))].sort((x, y) => y - x);
    least[e.closest('svg') ? 'figures' : 'text'] = Math.min(
      least[e.closest('svg') ? 'figures' : 'text'] ?? 99, (a + 0.05) / (b + 0.05));
  }
  return least;
})()
"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_from_its_background(browser, site, dark):
    """The Web Content Accessibility Guidelines ask for 4.5 to 1."""
    browser.open(f"{site[0]}/wild.html", dark=dark)
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") != dark
    least = browser.ask(CONTRAST)
    assert set(least) == {"text", "figures"}
    assert min(least.values()) >= 4.5, least


def test_can_be_printed(browser, site):
    browser.open(f"{site[0]}/wild.html", dark=True)
    assert len(browser.call("Page.printToPDF", printBackground=True)["data"]) > 10_000
    browser.call("Emulation.setEmulatedMedia", media="print")
    # Black on white, also for those who read on black.
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.ask("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert min(browser.ask(CONTRAST).values()) >= 4.5


def test_can_be_opened_as_a_file(browser, site, tmp_path):
    rng = np.random.default_rng(0)
    estimator = MDRE([], critic="quadratic", anchor="gaussian", maps=None, l2=1.0)
    p, q = rng.normal(0, 1, 100), rng.normal(1, 1, 100)
    path = compare(p, q, estimator=estimator, random_state=0).report(tmp_path / "a b#c?.html")
    browser.open(path.as_uri())
    assert "The two samples" in browser.ask("document.querySelector('.answer').textContent")
    assert browser.seen("Runtime.exceptionThrown", "Log.entryAdded") == []
