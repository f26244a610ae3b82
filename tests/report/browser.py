# SPDX-License-Identifier: GPL-3.0-or-later
# A headless Chromium, driven through its DevTools protocol with nothing but Python's own library.
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


class Socket:
    """As much of a WebSocket as DevTools needs."""

    def __init__(self, address):
        host, path = address[len("ws://"):].split("/", 1)
        name, port = host.split(":")
        self.connection = socket.create_connection((name, int(port)), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.pending = b""
        while b"\r\n\r\n" not in self.pending:
            self.pending += self.connection.recv(4096)
        self.pending = self.pending.split(b"\r\n\r\n", 1)[1]

    def take(self, size):
        while len(self.pending) < size:
            part = self.connection.recv(1 << 16)
            if not part:
                raise EOFError("the browser is gone")
            self.pending += part
        data, self.pending = self.pending[:size], self.pending[size:]
        return data

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else (
            struct.pack("!BBH", 0x81, 0xfe, size) if size < 65536 else
            struct.pack("!BBQ", 0x81, 0xff, size))
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self.connection.sendall(head + mask + masked)

    def receive(self):
        whole = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7f
            if size == 126:
                size, = struct.unpack("!H", self.take(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.take(8))
            part = self.take(size)
            if first & 0x0f in (0, 1, 2):
                whole += part
                if first & 0x80:
                    return whole.decode()


class Browser:
    """One page. `complaints` are its console errors, exceptions and blocked loads, `loaded` the
    addresses it asked for."""

    def __init__(self):
        # There are sockets in it, and their names must be short.
        self.directory = tempfile.mkdtemp(prefix="ordeal-browser.", dir="/tmp")
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--hide-scrollbars", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--user-data-dir=" + self.directory, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.directory, TMPDIR=self.directory))
        self.complaints, self.loaded, self.events, self.number = [], [], [], 0
        try:
            self.socket = Socket(self.find_page())
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(domain + ".enable")
        except BaseException:
            self.close()
            raise

    def find_page(self):
        path = os.path.join(self.directory, "DevToolsActivePort")
        for _ in range(1200):
            if self.process.poll() is not None:
                raise RuntimeError("chromium does not start")
            if os.path.exists(path) and os.path.getsize(path):
                break
            time.sleep(0.1)
        with open(path, encoding="ascii") as file:
            port = file.readline().strip()
        for _ in range(100):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                for target in json.load(answer):
                    if target["type"] == "page":
                        return target["webSocketDebuggerUrl"]
            time.sleep(0.1)
        raise RuntimeError("chromium shows no page")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def note(self, message):
        name, values = message.get("method"), message.get("params", {})
        if name == "Runtime.exceptionThrown":
            self.complaints.append(values["exceptionDetails"].get("text", "exception"))
        elif name == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
            self.complaints.append(str(values["args"]))
        elif name == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.complaints.append(values["entry"]["text"])
        elif (name == "Network.requestWillBeSent" and
              values["request"]["url"] != "about:blank"):
            self.loaded.append(values["request"]["url"])
        return name

    def call(self, method, **values):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": values}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(self.note(message))

    def navigate(self, address):
        self.events = []
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.events.append(self.note(json.loads(self.socket.receive())))

    def open(self, address):
        # A change of the part behind # alone would load nothing.
        self.navigate("about:blank")
        self.navigate(address)

    def shape(self, width, height=800, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def scripts(self, allowed):
        self.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def ask(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def press(self, key, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=code, text="\r" if key == "Enter" else "")

    def picture(self, path):
        answer = self.call("Page.captureScreenshot")
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def html(self):
        root = self.call("DOM.getDocument", depth=0)["root"]["nodeId"]
        return self.call("DOM.getOuterHTML", nodeId=root)["outerHTML"]
