"""The page of a run in a real browser: Chromium without a window, driven by its own protocol."""

import asyncio
import itertools
import json
import re
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest
from tornado.websocket import websocket_connect

from taskflow.cli.web import Page
from taskflow.output import Store
from tests.locks import ELSEWHERE, write_lock

pytestmark = pytest.mark.slow
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT = 300.0  # seconds, on a busy machine


class Tab:
    """A page in a browser, which is asked by JavaScript."""

    def __init__(self, debugger: str) -> None:
        self._loop, self._numbers = asyncio.new_event_loop(), itertools.count()
        self._socket = self._loop.run_until_complete(self._connect(debugger))
        self.problems: list[str] = []  # what the browser complains of
        for domain in ("Runtime", "Log", "Page", "Network"):
            self("enable", domain)

    async def _connect(self, debugger):
        return await websocket_connect(debugger, max_message_size=2**26)

    def __call__(self, method, domain="Runtime", **parameters):
        return self._loop.run_until_complete(self._ask(f"{domain}.{method}", parameters))

    async def _ask(self, method, parameters):
        number = next(self._numbers)
        await self._socket.write_message(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(await self._socket.read_message())
            if said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(said["params"]))
            if said.get("id") == number:
                return said["result"]

    def value(self, script):
        """What a piece of JavaScript gives."""
        result = self("evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script, expected):
        """Wait until a piece of JavaScript gives what is wanted."""
        end = time.monotonic() + LIMIT
        while (result := self.value(script)) != expected:
            assert time.monotonic() < end, (script, result, self.problems)
            time.sleep(0.1)

    def text(self, name):
        return self.value(f"document.getElementById('{name}')?.textContent")

    def close(self):
        self._socket.close()
        self._loop.run_until_complete(asyncio.sleep(0.2))  # the browser says goodbye
        self._loop.close()


@pytest.fixture
def browser(tmp_path):
    """A function that opens a page."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"there is no browser here: none of {', '.join(BROWSERS)}")
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"]
    process = subprocess.Popen([*command, f"--user-data-dir={tmp_path / 'profile'}", "about:blank"],
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)  # fmt: skip
    tabs, reader = [], []

    def open_page(address):
        import urllib.request

        result = next(match for said in process.stderr if (match := re.search(r"ws://([^/]+)/", said)))
        reader.append(threading.Thread(target=process.stderr.read))
        reader[0].start()
        with urllib.request.urlopen(f"http://{result[1]}/json/list", timeout=LIMIT) as answer:
            pages = [item for item in json.load(answer) if item["type"] == "page"]
        tabs.append(Tab(pages[0]["webSocketDebuggerUrl"]))
        tabs[0]("navigate", "Page", url=address)
        return tabs[0]

    yield open_page
    for tab in tabs:
        tab.close()
    process.terminate()
    process.wait(LIMIT)
    for thread in reader:
        thread.join(LIMIT)
    process.stderr.close()


@contextmanager
def served(directory):
    with Page(directory, 0) as page:
        threading.Thread(target=page.serve_forever, kwargs={"poll_interval": 0.05}).start()
        try:
            yield page
        finally:
            page.shutdown()


def test_the_page_follows_the_run(browser, run_directory, tmp_path):
    """A run of which half is there at first: what is shown changes as its files do, nobody touches the page."""
    directory = tmp_path / "run"
    shutil.copytree(run_directory, directory)
    log, report = directory / "log.jsonl", directory / "report.json"
    lines, finished = log.read_text().splitlines(keepends=True), json.loads(report.read_text())
    log.write_text("".join(lines[:6]))
    report.write_text(json.dumps({**finished, "ended": "running"}))
    write_lock(directory, ELSEWHERE)
    store = Store(directory / "fields.zarr")
    last = store.times[-1]
    store._time[2] = float("nan")
    with served(directory) as page:
        tab = browser(page.address)
        tab.wait("document.getElementById('number-step')?.textContent", "20")
        assert tab.text("heading") == "A small cavity: 16 x 2 x 16 cells, to 40 steps"
        assert tab.text("state").startswith("running, as far as this host can tell")
        assert tab.value("document.getElementById('progress').value") == 0.5
        assert tab.text("number-done") == "50 % of 40 steps"
        tab.wait("document.getElementById('caption').textContent.startsWith('speed at time')", True)
        first = tab.text("caption")
        curve = "document.querySelector('#curve-kinetic_energy path').getAttribute('d').split(/[ML]/).length - 1"
        assert tab.value(curve) == 6
        picture = "document.getElementById('picture').toDataURL()"
        seen = tab.value(picture)
        assert tab.value("document.getElementById('picture').width") == 16
        # the run goes on, and ends
        log.write_text("".join(lines))
        report.write_text(json.dumps(finished))
        store._time[2] = last
        tab.wait("document.getElementById('number-step')?.textContent", "40")
        assert tab.text("state").startswith("finished at time")
        tab.wait("document.getElementById('number-snapshots')?.textContent", "3")
        tab.wait(f"document.getElementById('caption').textContent === {json.dumps(first)}", False)
        assert tab.value(picture) != seen
        assert tab.value(curve) == len(lines)
        # somebody chooses
        field = "document.getElementById('field')"
        tab.value(f"{field}.value = 'w'; {field}.dispatchEvent(new Event('change'))")
        tab.wait("document.getElementById('caption').textContent.startsWith('w at time')", True)
        asked = tab.value("performance.getEntriesByType('resource').map((each) => new URL(each.name).host)")
        assert set(asked) <= {page.address.split("/")[2]}
        assert tab.problems == []


def test_a_run_of_a_folder_is_chosen(browser, run_directory, tmp_path):
    for name in ("0000", "0001"):
        shutil.copytree(run_directory, tmp_path / "runs" / name)
    with served(tmp_path / "runs") as page:
        tab = browser(page.address)
        tab.wait("document.getElementById('directory')?.textContent.endsWith('0000')", True)
        choice = "document.getElementById('run')"
        assert tab.value(f"{choice}.options.length") == 2
        tab.value(f"{choice}.value = '0001'; {choice}.dispatchEvent(new Event('change'))")
        tab.wait("document.getElementById('directory')?.textContent.endsWith('0001')", True)
        assert tab.problems == []
