# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells Trainyard what a training run does while it goes on: lines of JSON over TCP (docs/live-stream.md). Never blocks
and never raises: what finds no room is dropped and counted, and a lost listener is looked for again.
    live = Stream("10.0.0.5:4318", rank=3, world_size=16, token="…")
    live.send("step", number=1240, start_ns=began, end_ns=time.time_ns())"""
import atexit, json, queue, random, select, socket, ssl, threading, time

class Stream:
    def __init__(self, address, token="", tls=False, size=20_000, **hello):
        host, _, port = address.rpartition(":")
        self._peer, self._tls = (host.strip("[]") or "127.0.0.1", int(port)), tls and ssl.create_default_context()
        self._hello = {**dict(event="hello", format="trainyard.stream", version=1, host=socket.gethostname()),
                       "token": token, **hello}
        self._kept, self._unsent = [], b""  # told at each connection; on its way when the last one broke
        self._queue, self.dropped, self._stopping = queue.Queue(size), 0, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        atexit.register(self.close), self._thread.start()

    def send(self, event, **values):
        try:
            self._queue.put_nowait(dict(event=event, **values))
        except queue.Full:
            self.dropped += 1

    def keep(self, event, **values):  # groups and arguments: told again to whoever listens later
        self._kept.append(dict(event=event, **values))
        self.send(event, **values)

    def close(self, seconds=2):
        self.send("end")
        self._stopping.set()
        self._thread.join(seconds)

    def _text(self, events):
        return "".join(json.dumps(one, default=str) + "\n" for one in events).encode()

    def _run(self):
        wait = 1
        while wait == 1 or not self._stopping.is_set():
            began = time.monotonic()
            try:
                with socket.create_connection(self._peer, 10) as plain:
                    tls = self._tls and self._tls.wrap_socket(plain, server_hostname=self._peer[0])
                    return self._talk(tls or plain)
            except Exception:  # whatever it is: training goes on
                wait = 2 if time.monotonic() > began + 60 else min(2 * wait, 60)
                self._stopping.wait(wait * random.uniform(0.25, 0.5))

    def _talk(self, peer):
        peer.sendall(self._text([self._hello] + self._kept) + self._unsent)
        while not self._stopping.is_set() or not self._queue.empty():
            events = [self._queue.get()]
            while len(events) < 500 and not self._queue.empty():
                events.append(self._queue.get())
            if self.dropped:
                events.append(dict(event="sample", name="stream.dropped", unit="1", value=self.dropped))
            self._unsent = self._text(events)
            if select.select([peer], [], [], 0)[0]: raise ConnectionError  # a listener says nothing: it has gone
            peer.sendall(self._unsent)
            self._unsent = b""
