# SPDX-License-Identifier: GPL-3.0-or-later
"""What one process of the run tells: spans and transfers as a trace (the form of PyTorch's profiler, which Debian's
PyTorch is built without), as lines of Trainyard's live stream (docs/live-stream.md), and a log like Megatron-LM's."""

import datetime
import json
import time

STREAMS = {"compute": 7, "send": 20, "recv": 21, "data parallel": 22}


class Recorder:
    """Spans of one rank, in Unix nanoseconds. Lines go to `pipe` at the end of each step, the trace to a file."""

    def __init__(self, rank, host, settings, pipe):
        self.rank, self.host, self.settings, self.pipe = rank, host, settings, pipe
        self.events, self.kept, self.groups = [], {}, {}
        self.base = time.time_ns() // 10**9 * 10**9
        self.spans, self.transfers = {}, []  # of the step at hand
        self._line(event="hello", format="trainyard.stream", version=1, run=settings["run"], rank=rank, world_size=4,
                   host=host, gpu=settings["gpu"])
        self._line(event="arguments", values=settings["arguments"])

    def _line(self, **event):
        self.pipe.write(json.dumps(event, separators=(",", ":")) + "\n")

    def ask_for_link(self, setting):
        """Not of the stream: a wish to whoever started this process."""
        self._line(event="link", setting=setting)
        self.pipe.flush()

    def group(self, name, ranks):
        self.groups[name] = ranks
        self._line(event="group", name=name, ranks=ranks)

    def compute(self, name, start, end):
        self.spans.setdefault(name, []).append((start, end))
        self._event("kernel", name, start, end, {"device": 0, "stream": STREAMS["compute"]})

    def transfer(self, stream, group, operation, elements, sequence, start, end):
        ranks = self.groups[group]
        self.transfers.append((stream, group, operation, 4 * elements, sequence, start, end))
        self._event("kernel", "gloo:" + operation, start, end, {
            "device": 0, "stream": STREAMS[stream], "Collective name": operation, "In msg nelems": elements,
            "Out msg nelems": elements, "Group size": len(ranks), "dtype": "Float", "Process Group Name": group,
            "Process Group Description": group, "Process Group Ranks": str(ranks), "Seq": sequence})

    def step(self, number, start, end, loss=None, trace=None):
        """`trace`: the one that the step goes to; None: it does not count."""
        self._event("user_annotation", "ProfilerStep#%d" % number, start, end, {}, host=True)
        for name, spans in self.spans.items():
            self._line(event="spans", stream="compute", work="compute", name=[name] * len(spans),
                       start_ns=[span[0] for span in spans], duration_ns=[span[1] - span[0] for span in spans])
        for stream, group, operation, size, sequence, begin, done in self.transfers:
            self._line(event="collective", stream=stream, group=group, operation=operation.replace("allreduce", "all_reduce"),
                       bytes=size, sequence=sequence, start_ns=begin, duration_ns=done - begin)
        self._line(event="step", number=number, start_ns=start, end_ns=end)
        if loss is not None:
            self._line(event="sample", name="loss", unit="1", value=loss, step=number)
        self.pipe.flush()
        if trace is not None:
            self.kept.setdefault(trace, []).extend(self.events)
        self.spans, self.transfers, self.events = {}, [], []

    def _event(self, category, name, start, end, arguments, host=False):
        self.events.append({
            "ph": "X", "cat": category, "name": name, "pid": 1000 + self.rank if host else 0,
            "tid": 1 if host else arguments["stream"], "ts": (start - self.base) / 1000, "dur": (end - start) / 1000,
            "args": arguments})

    def write_trace(self, path, name):
        trace = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": self.settings["gpu"], "totalGlobalMem": 8 << 30, "numSms": 1}],
            "distributedInfo": {"backend": "gloo", "rank": self.rank, "world_size": 4, "pg_count": len(self.groups),
                                "pg_config": [{"pg_name": name, "pg_desc": name, "backend_config": "cpu:gloo",
                                               "pg_size": len(ranks), "ranks": ranks}
                                              for name, ranks in self.groups.items()]},
            "host_name": self.host, "displayTimeUnit": "ms", "baseTimeNanoseconds": self.base,
            "traceEvents": sorted(self.kept.get(name, []), key=lambda event: event["ts"]),
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(trace, file, separators=(",", ":"))

    def end(self):
        self._line(event="end")
        self.pipe.close()


class MegatronLog:
    """The lines that Megatron-LM prints, as the last rank does."""

    def __init__(self, path, arguments):
        self.file = open(path, "w", encoding="utf-8")
        self.total, self.batch = int(arguments["train_iters"]), int(arguments["global_batch_size"])
        self.file.write("------------------------ arguments ------------------------\n")
        for name in sorted(arguments):
            self.file.write("  %s %s %s\n" % (name, "." * (48 - len(name)), arguments[name]))
        self.file.write("-------------------- end of arguments ---------------------\n")

    def step(self, number, seconds, loss):
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")
        self.file.write(
            " [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | "
            "learning rate: 1.000000E-03 | global batch size: %5d | lm loss: %.6E | loss scale: 1.0 | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |\n"
            % (now, number, self.total, number * self.batch, seconds * 1000, self.batch, loss))
        self.file.flush()

    def close(self):
        self.file.close()
