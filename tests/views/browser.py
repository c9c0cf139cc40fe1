"""A headless Chromium over the DevTools protocol, with nothing but the standard library."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    return None


class Socket:
    """The client's side of a WebSocket (RFC 6455), text frames only."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.socket.recv(1)
        assert b" 101 " in head, head

    def send(self, text):
        data = text.encode()
        size = len(data)
        head = b"\x81" + (bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size))
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError("the browser hung up")
            data += more
        return data

    def receive(self):
        text = b""
        while True:
            first, second = self.exactly(2)
            size = second & 127
            if size == 126:
                size = struct.unpack(">H", self.exactly(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.exactly(8))[0]
            text += self.exactly(size)
            if first & 0x80:
                return text.decode()


class Browser:
    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(self.folder, "DevToolsActivePort")
        for _ in range(600):
            if os.path.exists(port_file) and open(port_file).read().count("\n") >= 1:
                break
            time.sleep(0.1)
        port = open(port_file).readline().strip()
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json"))
        self.socket = Socket(next(p for p in pages if p["type"] == "page")["webSocketDebuggerUrl"])
        self.count = 0
        self.complaints = []  # errors of the console, of scripts and of the network
        self.requests = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", params["exceptionDetails"]["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]
            self.note(message)

    def open(self, path):
        self.complaints.clear()
        self.requests.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while self.js("document.readyState") != "complete":
            time.sleep(0.05)
        self.settle()

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]["exception"]["description"]
        return result["result"].get("value")

    def settle(self):
        self.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def key(self, key):
        named = {"ArrowLeft": 37, "ArrowRight": 39, "Escape": 27, "Enter": 13}
        text = {} if key in named and key != "Enter" else {"text": "\r" if key == "Enter" else key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=named.get(key, 0), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=named.get(key, 0))
        self.settle()

    def point(self, selector):
        """The middle of what a selector finds, brought into view, once the page has left it in one place for two frames."""
        self.js(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        middle = f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        before = None
        for _ in range(100):
            self.settle()
            here = self.js(middle)
            if here == before:
                break
            before = here
        return here

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector):
        self.mouse("mouseMoved", *self.point(selector))
        self.settle()

    def click(self, selector):
        x, y = self.point(selector)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        time.sleep(0.05)
        self.settle()

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])
        self.settle()

    def screenshot(self, path, clip=None):
        """The whole page, or its rectangle (x, y, width, height)."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = dict(zip(("x", "y", "width", "height"), clip or (0, 0, size["width"], size["height"])), scale=1)
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
