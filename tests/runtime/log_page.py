"""log_page.py TWO_RUNS.html ONE_RUN.html LOG.csv: the page of --log html in a real browser. One line a test on standard output, "ok name" or
"not_ok name"; what went wrong on standard error."""
import os
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "views"))
from browser import Browser

two, one, csv = sys.argv[1:4]
b = Browser()


def charts():
    return b.js("[...document.querySelectorAll('#charts h2')].map(h => h.textContent)")


def curves():
    return b.js("[...document.querySelectorAll('#charts figure')].map(f => f.querySelectorAll('path.curve').length)")


def add(path):
    node = b.call("DOM.querySelector", nodeId=b.call("DOM.getDocument")["root"]["nodeId"], selector="#files")["nodeId"]
    b.call("DOM.setFileInputFiles", files=[os.path.abspath(path)], nodeId=node)
    b.js("new Promise(done => setTimeout(done, 200))")
    b.settle()


def draws_all():
    """draws loss, metric and times of each run, and marks the best epochs"""
    b.open(two)
    assert charts()[:3] == ["loss", "accuracy", "time of an epoch"], charts()
    assert curves()[:3] == [2, 6, 2], curves()
    assert b.js("document.querySelectorAll('#charts figure:nth-child(1) circle.best').length") == 2
    told = b.js("logs[0].runs.map(r => r.best.epoch)")
    assert b.js("[...document.querySelectorAll('#runs tr')].map(r => Number(r.querySelector('[data-what=\"best epoch\"]').textContent))") == told
    sizes = b.js("[...document.querySelectorAll('#charts svg')].map(s => [s.viewBox.baseVal.width, s.getBoundingClientRect().width])")
    assert all(abs(drawn - shown) < 20 for drawn, shown in sizes), sizes  # none is drawn for a column that got narrower behind it; 20: a scroll bar
    assert b.requests == [r for r in b.requests if r.startswith("file:")] and not b.complaints, (b.requests, b.complaints)


def adds_runs():
    """takes further logs, each with its runs, and leaves out those that are switched off"""
    b.open(two)
    add(one)
    add(csv)
    assert b.js("logs.length") == 3 and b.js("document.getElementById('said').textContent") == "", b.js("document.getElementById('said').textContent")
    assert curves()[0] == 5, curves()
    b.js("document.querySelector('#runs input').click()")
    assert curves()[0] == 4, curves()
    add(sys.argv[0])
    assert "no column" in b.js("document.getElementById('said').textContent") and curves()[0] == 4
    assert not b.complaints, b.complaints


def fits():
    """is not wider than 400 pixels"""
    b.resize(400, 900)
    b.open(two)
    wide = b.js("[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.outerHTML.slice(0, 80))")
    assert b.js("document.documentElement.scrollWidth <= innerWidth") and not wide, wide
    assert b.js("Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))") > 10
    b.resize(1280, 900)


def darkens():
    """is dark where the user wants that"""
    paper = lambda: b.js("getComputedStyle(document.body).backgroundColor")
    b.open(two)
    light = paper()
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert paper() != light
    b.call("Emulation.setEmulatedMedia", features=[])


def reads():
    """says the numbers under the pointer"""
    b.open(two)
    b.js("(s => { const r = s.getBoundingClientRect(); s.dispatchEvent(new PointerEvent('pointermove', {clientX: r.right - 5, clientY: r.top + 50})); })(document.querySelector('#charts svg'))")
    text = b.js("document.querySelector('figcaption').textContent")
    last = b.js("logs[0].runs[0].rows[logs[0].runs[0].rows.length - 1]")
    assert text.startswith(f"epoch {last['epoch']}: run 0 {last['loss']:.4f}"), text


for test in (draws_all, adds_runs, fits, darkens, reads):
    try:
        test()
        print("ok", test.__doc__, flush=True)
    except Exception:
        traceback.print_exc()
        print("not_ok", test.__doc__, flush=True)
b.close()
