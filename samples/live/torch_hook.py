# SPDX-License-Identifier: GPL-3.0-or-later
"""A PyTorch training loop that tells Trainyard its steps, forward and backward passes, optimizer and collectives.

    live = Stream("127.0.0.1:4318", rank=rank, world_size=world)
    hook = TorchHook(live, model, optimizer)
    for number, batch in enumerate(loader):
        loss = model(batch).sum(); loss.backward(); optimizer.step(); optimizer.zero_grad()
        hook.step(number, loss=loss.item())

Times on a GPU are those of CUDA events, read a step later so that nothing waits for them; on a processor those of the
call. What C++ calls by itself (DDP's gradient buckets) no wrapper sees: hook.watch_ddp(model) tells of these.
PyTorch 1.13 or later.
"""
import contextlib
import time

import torch
import torch.distributed as dist

WORKS = {"forward": "compute", "backward": "compute", "optimizer": "compute"}
COLLECTIVES = {  # name in torch.distributed: name of nccl-tests, and which argument is the message
    "all_reduce": ("all_reduce", 0), "broadcast": ("broadcast", 0), "reduce": ("reduce", 0),
    "all_gather": ("all_gather", 1), "all_gather_into_tensor": ("all_gather", 0), "_all_gather_base": ("all_gather", 0),
    "reduce_scatter": ("reduce_scatter", 0), "reduce_scatter_tensor": ("reduce_scatter", 1),
    "_reduce_scatter_base": ("reduce_scatter", 1), "all_to_all_single": ("alltoall", 1), "barrier": ("barrier", None),
    "send": ("send", 0), "recv": ("recv", 0), "isend": ("send", 0), "irecv": ("recv", 0),
}


class Clock:
    """Moments of the device, as Unix nanoseconds: events are recorded now and read when they have happened."""

    def __init__(self):
        self._cuda = torch.cuda.is_available()
        if self._cuda:
            self._anchor, self._at = self.now(), 0
            torch.cuda.synchronize()
            self._at = time.time_ns()

    def now(self):
        if not self._cuda:
            return time.time_ns()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def has(self, moment):
        return not self._cuda or moment.query()

    def read(self, moment):
        return self._at + int(self._anchor.elapsed_time(moment) * 1e6) if self._cuda else moment

    def anchor(self, moment):  # counts from here on: a float of milliseconds is fine for minutes, not for hours
        if self._cuda:
            self._anchor, self._at = moment, self.read(moment)


class Pending:
    """An asynchronous collective: it ends where somebody waits for it."""

    def __init__(self, work, ended):
        self._work, self._ended = work, ended

    def __getattr__(self, name):
        return getattr(self._work, name)

    def wait(self, *args, **kwargs):
        result = self._work.wait(*args, **kwargs)
        if self._ended:
            self._ended, ended = None, self._ended
            ended()
        return result


class TorchHook:
    def __init__(self, live, model=None, optimizer=None):
        self._live, self._clock, self._groups, self._sequence = live, Clock(), {}, {}
        self._spans, self._collectives, self._waiting = [], [], []
        self._began = self._clock.now()
        self._undo = []
        self._wrap(torch.autograd, "backward", "backward")
        if model is not None:
            starts = []
            self._handles = [model.register_forward_pre_hook(lambda *_: starts.append(self._clock.now())),
                             model.register_forward_hook(lambda *_: self._add("forward", starts.pop()))]
        if optimizer is not None:
            self._wrap(optimizer, "step", "optimizer")
        if dist.is_available():
            for name, (operation, message) in COLLECTIVES.items():
                if hasattr(dist, name):
                    self._wrap_collective(name, operation, message)

    @contextlib.contextmanager
    def span(self, name, work="compute"):
        """Anything else that takes time: `with hook.span("data", "wait"):`"""
        start = self._clock.now()
        try:
            yield
        finally:
            self._add(name, start, work)

    def step(self, number, **samples):
        """At the end of an iteration, with figures of it: loss=2.3."""
        ended = self._clock.now()
        self._waiting.append((number, self._began, ended, self._spans, self._collectives, samples))
        self._began, self._spans, self._collectives = ended, [], []
        while self._waiting and self._clock.has(self._waiting[0][2]):
            self._tell(*self._waiting.pop(0))

    def close(self):
        """Everything as it was; the last steps are told."""
        for undo in self._undo:
            undo()
        for handle in getattr(self, "_handles", []):
            handle.remove()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        while self._waiting:
            self._tell(*self._waiting.pop(0))

    def watch_ddp(self, model):
        """Gradient buckets of DistributedDataParallel, all-reduced as it does without this."""
        from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

        def reduce(group, bucket):
            tensor, start = bucket.buffer(), self._clock.now()

            def ended(future):
                self._add_collective("all_reduce", None, tensor.numel() * tensor.element_size(), start)
                return future.value()[0] if isinstance(future.value(), list) else future.value()

            return allreduce_hook(group, bucket).then(ended)

        model.register_comm_hook(None, reduce)

    def _add(self, name, start, work=None):
        self._spans.append((name, work or WORKS.get(name, "other"), start, self._clock.now()))

    def _add_collective(self, operation, group, size, start, peer=None):
        name, way = (self._group(group), None) if peer is None else self._pair(operation, peer)
        self._collectives.append((operation, name, size, start, self._clock.now(), way))

    def _pair(self, operation, peer):
        """A group of the two, and which way the message goes: both ends count those of a way alike."""
        own = dist.get_rank()
        first, second = sorted((own, peer))
        name = "pair %d,%d" % (first, second)
        if name not in self._groups:
            self._groups[name] = name
            self._live.keep("group", name=name, ranks=[first, second])
        return name, int((own if operation == "send" else peer) == second)

    def _wrap(self, owner, name, span):
        original, had = getattr(owner, name), name in vars(owner)

        def timed(*args, **kwargs):
            start = self._clock.now()
            result = original(*args, **kwargs)
            self._add(span, start)
            return result

        timed.__wrapped__ = original
        setattr(owner, name, timed)
        self._undo.append(lambda: setattr(owner, name, original) if had else delattr(owner, name))

    def _wrap_collective(self, name, operation, message):
        original = getattr(dist, name)

        def timed(*args, **kwargs):
            start = self._clock.now()
            tensor = args[message] if len(args) > message else kwargs.get("tensor")
            size = tensor.numel() * tensor.element_size() if isinstance(tensor, torch.Tensor) else 0
            peer = None
            if operation in ("send", "recv"):  # of any source it is not known before it ended, and has no pair then
                peer = args[1] if len(args) > 1 else kwargs.get("dst", kwargs.get("src"))
            ended = lambda: self._add_collective(operation, kwargs.get("group"), size, start, peer)
            result = original(*args, **kwargs)
            if hasattr(result, "wait"):
                return Pending(result, ended)
            ended()
            return result

        setattr(dist, name, timed)
        self._undo.append(lambda: setattr(dist, name, original))

    def _group(self, group):
        key = id(group)
        if key not in self._groups:
            world = dist.is_initialized()
            ranks = list(range(dist.get_world_size())) if world else [0]
            if group is not None and world and hasattr(dist, "get_process_group_ranks"):
                ranks = dist.get_process_group_ranks(group)
            self._groups[key] = "ranks " + ",".join(map(str, ranks)) if len(ranks) < 9 else "group %d" % len(self._groups)
            self._live.keep("group", name=self._groups[key], ranks=ranks)
        return self._groups[key]

    def _tell(self, number, began, ended, spans, collectives, samples):
        read = self._clock.read
        if spans:
            self._live.send("spans", stream="compute", name=[one[0] for one in spans], work=[one[1] for one in spans],
                            start_ns=[read(one[2]) for one in spans], end_ns=[read(one[3]) for one in spans])
        if collectives:
            sequence = []
            for one in collectives:
                key, ways = (one[1], one[5]), 1 if one[5] is None else 2
                self._sequence[key] = self._sequence.get(key, -1) + 1
                sequence.append(self._sequence[key] * ways + (one[5] or 0))
            self._live.send("collectives", stream="communication", operation=[one[0] for one in collectives],
                            group=[one[1] for one in collectives], bytes=[one[2] for one in collectives],
                            sequence=sequence, start_ns=[read(one[3]) for one in collectives],
                            end_ns=[read(one[4]) for one in collectives])
        for name, value in samples.items():
            self._live.send("sample", name=name, unit="1", value=float(value), step=number)
        if torch.cuda.is_available():
            self._live.send("sample", name="memory_allocated", unit="B", value=torch.cuda.max_memory_allocated(),
                            step=number)
        self._live.send("step", number=number, start_ns=read(began), end_ns=read(ended))
        self._clock.anchor(ended)
