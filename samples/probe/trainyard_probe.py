#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures one machine, or one job of many, for Trainyard: one JSON that `trainyard-cli import` and calibration read.

    python3 trainyard_probe.py --out probe.json                          one GPU, or the processor where there is none
    torchrun --nproc_per_node 8 trainyard_probe.py --out probe.json      collectives of the GPUs of a node too

PyTorch 1.13 or later is all it needs. Every figure is a time of something that a training step does: matrix products
forward and backward, attention, experts' products, kernels that move memory, copies to and from the host, collectives,
sends, a drive, the launch of a kernel. It stops after --minutes, whatever hangs and whoever is missing; what tells most
comes first, so that a short run is a coarser one. Form of the file: docs/probe.md.
"""

import time

BEGAN = time.monotonic()  # --minutes counts from here: loading PyTorch and meeting the other ranks are within it

import argparse
import datetime
import faulthandler
import json
import math
import os
import platform
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

torch = None  # load_torch(), once the clock runs

MIB = 1 << 20
LEAST_INSIDE = 1e-3  # seconds that a sample has inside: what the clock of events and of the host tells well
MOST_QUEUED = 800  # calls of a sample; a GPU's queue of launches holds about a thousand
WARM = 0.5  # seconds of work that bring an idle GPU to its clock
IDLE = 0.1  # seconds without work after which its clock may have fallen
LOAD = 6.0  # seconds of a sustained point; 5 at least
REST = 1.5  # seconds without work before its burst, in which power and heat recover
MOST_GROUPS = 64  # communicators of one size that are made
LOST = (RuntimeError, OSError, ValueError)  # what PyTorch raises where another rank or its store is gone


class Unavailable(Exception):
    """Something that this machine or this PyTorch does not have; the message is the reason."""


class Parted(Exception):
    """Another rank is gone or never came: there are no collectives any more."""


def load_torch():
    global torch
    try:
        import torch as found
    except ImportError as problem:
        print("The probe measures with PyTorch, which this Python (%s) does not have: %s.\n"
              "Install it with `pip install torch`, on Debian or Ubuntu `apt install python3-torch` (then run "
              "/usr/bin/python3), or\nrun the probe with the Python of the environment that trains: "
              "https://pytorch.org/get-started/locally." % (sys.executable, problem), file=sys.stderr)
        sys.exit(2)
    torch = found


def kind_of(precision):
    return {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]


def first_line(problem, most=120):
    return (str(problem).splitlines() or [type(problem).__name__])[0][:most]


class Watch(threading.Thread):
    """Ends the process in time and when it is told to, also while its main thread waits for something that hangs."""

    def __init__(self, seconds):
        super().__init__(daemon=True)
        self.ends = BEGAN + seconds
        self.at_end = lambda why: 3  # writes what there is and gives the exit status; why: "hung" or "interrupted"
        self.lock, self.is_over = threading.Lock(), False
        self.told, self.tells = socket.socketpair()
        self.tells.setblocking(False)

    def begin(self):
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, self.interrupt)
        signal.set_wakeup_fd(self.tells.fileno(), warn_on_full_buffer=False)
        # Beneath this thread, which needs Python's lock: a clock of C, for a library that hangs and holds it.
        faulthandler.dump_traceback_later(max(0.1, self.ends - time.monotonic()), exit=True)
        self.start()

    @staticmethod
    def interrupt(number, frame):
        raise KeyboardInterrupt

    def run(self):
        left = self.ends - 1 - time.monotonic()  # a second to write
        told, _, _ = select.select([self.told], [], [], max(0.2, left))
        if told:
            time.sleep(max(0.0, min(2.0, self.ends - 1 - time.monotonic())))  # the main thread may end by itself
        with self.lock:
            if not self.is_over:
                status = self.at_end("interrupted" if told else "hung")
                sys.stdout.flush()
                os._exit(status)

    def end(self):
        with self.lock:
            self.is_over = True
        faulthandler.cancel_dump_traceback_later()


class Device:
    """The GPU of this rank, or the processor, with its clock."""

    def __init__(self, local_rank):
        self.is_gpu = torch.cuda.is_available()
        self.torch = torch.device("cpu")
        if self.is_gpu:
            self.torch = torch.device("cuda", local_rank % torch.cuda.device_count())
            torch.cuda.set_device(self.torch)
        self.busy_until = -math.inf  # of the host's clock: when the GPU last had work
        self.cycles = 0.0  # of a waiting kernel, a second

    def wait(self):
        if self.is_gpu:
            torch.cuda.synchronize()

    def free_bytes(self):
        if self.is_gpu:
            torch.cuda.empty_cache()  # what PyTorch keeps of earlier points is free too
            return torch.cuda.mem_get_info()[0]
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (ValueError, OSError, AttributeError):
            return 2 << 30

    # A GPU that idles lowers its clock, and one whose host launches too slowly waits between kernels: neither is what a
    # kernel takes within a training step. So a sample is taken of a GPU that has just worked, and all of its calls are
    # queued behind other work before the first of them begins; where that was not so it does not count.
    def times(self, work, seconds, most=20):
        """Seconds of one call, as often as `seconds` allow, with LEAST_INSIDE or more in each sample."""
        one, launching = self.warm(work, seconds)
        most_inside = MOST_QUEUED if self.is_gpu else 100000
        inner = calls_inside(one, most_inside)
        ahead, samples, dry = 2 * inner * launching + 5e-4, [], 0
        deadline, least = time.perf_counter() + seconds, 3 if one < seconds else 1
        while len(samples) < most and (len(samples) < least or time.perf_counter() < deadline):
            took = self.queued(work, inner, ahead) if self.is_gpu else host_time(work, inner)
            if took is None:  # the queue ran dry
                dry += 1
                if dry > 6:
                    raise Unavailable("the host launches too slowly to keep the GPU busy")
                ahead = min(0.5, 2 * ahead)
            elif took < LEAST_INSIDE and inner < most_inside:
                inner = max(inner + 1, calls_inside(took / inner, most_inside))
            elif took < 0.8 * LEAST_INSIDE:
                raise Unavailable("is too short to be timed: %.1f us" % (took / inner * 1e6))
            else:
                samples.append(took / inner)
        return samples

    def warm(self, work, seconds):
        """Works until the clock is up: two batches in a row that take alike. Seconds of a call, and of its launch."""
        least = WARM if time.perf_counter() - self.busy_until > IDLE else 0.04
        least, before, began = min(least, seconds) if self.is_gpu else 0.0, math.inf, time.perf_counter()
        work()
        self.wait()
        one, launching = self.batch(work, 1)
        for _ in range(60):
            done = time.perf_counter() - began
            if done >= least and (abs(one / before - 1) < 0.02 or done >= 3 * least):
                break
            before = one
            one, launching = self.batch(work, max(1, min(MOST_QUEUED, int(0.02 / max(one, 1e-7)))))
        return one, launching

    def batch(self, work, calls):
        """Seconds of a call and of its launch, by the host's clock."""
        began = time.perf_counter()
        for _ in range(calls):
            work()
        launched = time.perf_counter()
        self.wait()
        self.busy_until = time.perf_counter()
        return max((self.busy_until - began) / calls, 1e-7), (launched - began) / calls

    def queued(self, work, inner, ahead, before=lambda: None):
        """Seconds of `inner` calls, queued behind `ahead` seconds of other work; None where the queue ran dry."""
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.occupy(ahead)
        before()
        first.record()
        for _ in range(inner):
            work()
        last.record()
        is_dry = first.query()  # it had begun before all of it was launched: there may be gaps inside
        last.synchronize()
        self.busy_until = time.perf_counter()
        return None if is_dry else first.elapsed_time(last) * 1e-3

    def occupy(self, seconds):
        """Keeps the GPU busy for about so long, without the host waiting."""
        sleep = getattr(torch.cuda, "_sleep", None)
        if not self.cycles:
            if sleep:
                self.filler = lambda: sleep(1000000)
            else:
                full = torch.ones(2048, 2048, device=self.torch)
                self.filler = lambda: torch.mm(full, full)
            self.batch(self.filler, 3)
            self.cycles = 1 / self.batch(self.filler, 5)[0]
        if sleep:
            sleep(int(1000000 * seconds * self.cycles))
        else:
            for _ in range(math.ceil(seconds * self.cycles)):
                self.filler()

    def load(self, work, seconds):
        """Seconds of a call, by windows of a tenth of a second, while `work` runs without a pause for `seconds`."""
        one, _ = self.warm(work, 1.0)
        calls = max(1, min(MOST_QUEUED // 3, math.ceil(0.1 / one)))
        windows, marks, began = [], [], time.perf_counter()
        if not self.is_gpu:
            while time.perf_counter() - began < seconds:
                windows.append(host_time(work, calls) / calls)
            return windows
        while time.perf_counter() - began < seconds:
            mark = torch.cuda.Event(enable_timing=True)
            mark.record()
            marks.append(mark)
            for _ in range(calls):
                work()
            if len(marks) > 2:
                marks[-2].synchronize()  # a window is ahead in the queue
        self.wait()
        self.busy_until = time.perf_counter()
        return [a.elapsed_time(b) * 1e-3 / calls for a, b in zip(marks, marks[1:])]


def calls_inside(one, most):
    return max(1, min(most, math.ceil(1.2 * LEAST_INSIDE / max(one, 1e-7))))


def host_time(work, calls):
    began = time.perf_counter()
    for _ in range(calls):
        work()
    return time.perf_counter() - began


def settled(windows):
    """The second half of a load: what comes before is a clock that falls."""
    return windows[len(windows) // 2:]


class Job:
    """The ranks that were started together. They meet in a store, where nobody waits for one that does not come; a
    communicator is made only where all are there."""

    def __init__(self, rank, world, local_world):
        self.rank, self.world, self.local_world = rank, world, local_world
        self.store = self.backend = None
        self.hosts, self.missing, self.groups, self.asked = [socket.gethostname()] * world, [], {}, 0
        self.is_together = False

    def meet(self, seconds, is_gpu):
        """Of all ranks, within so many seconds; else Parted."""
        import torch.distributed as dist
        if not dist.is_available():
            raise Parted("this PyTorch has no torch.distributed")
        until = time.monotonic() + seconds
        bound = datetime.timedelta(seconds=max(1.0, seconds))
        try:
            # torchrun's own agent keeps a store; else rank 0 does
            own = self.rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
            address, port = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", "29500"))
            whole = dist.TCPStore(address, port, self.world, own, timeout=bound, wait_for_workers=False)
            self.store = dist.PrefixStore("probe/" + os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"), whole)
            self.store.add("here/%d" % self.rank, 1)
            self.store.add("came", 1)
        except LOST as problem:
            raise Parted("rank 0 cannot be reached (%s)" % first_line(problem, 80))
        if self.rank == 0:
            while self.store.add("came", 0) < self.world and time.monotonic() < until:
                time.sleep(0.02)
            if self.store.add("came", 0) < self.world:
                self.missing = [r for r in range(self.world) if not self.store.add("here/%d" % r, 0)]
            self.store.add("verdict", 2 if self.missing else 1)
        elif self.answer("verdict", until + seconds) != 1:
            raise Parted("not all ranks came")
        if self.missing:
            raise Parted("rank%s %s of %d did not come within %.0f s" % (
                "s" if len(self.missing) > 1 else "", listed(self.missing), self.world, seconds))
        self.backend = "nccl" if is_gpu and dist.is_nccl_available() else "gloo"
        return dist

    def connect(self, dist, seconds):
        try:
            dist.init_process_group(self.backend, store=dist.PrefixStore("group", self.store), rank=self.rank,
                                    world_size=self.world, timeout=datetime.timedelta(seconds=seconds))
            if hasattr(dist, "all_gather_object"):
                dist.all_gather_object(self.hosts, socket.gethostname())
        except LOST as problem:
            raise Parted("the ranks do not reach each other (%s)" % first_line(problem, 80))
        self.is_together = True

    @property
    def nodes(self):
        return len(set(self.hosts))

    def answer(self, key, until):
        """What rank 0 says: more than 0. 0: nothing until then."""
        while time.monotonic() < until:
            said = self.store.add(key, 0)
            if said:
                return said
            time.sleep(max(0.005, self.world * 2e-5))
        return 0

    def decide(self, choose, until):
        """What rank 0 chooses (a number above 0), the same for all. Parted where it does not say."""
        self.asked += 1
        try:
            if self.rank == 0:
                return self.store.add("go/%d" % self.asked, choose())
            said = self.answer("go/%d" % self.asked, until)
        except LOST as problem:
            raise Parted("rank 0 is gone (%s)" % first_line(problem, 80))
        if not said:
            raise Parted("rank 0 said nothing more")
        return said

    def part(self):
        """Without the others from here on: those that ask are told to end."""
        if self.rank == 0 and self.store is not None:
            try:
                self.store.add("go/%d" % (self.asked + 1), Probe.END)
            except LOST:
                pass
        self.is_together = False

    def leave(self, until):
        """All ranks end together: who leaves first would break the connections of the others, and rank 0 the store."""
        if not self.is_together:
            return
        try:
            self.store.add("done", 1)
            self.all_at("done", self.world, until)
            torch.distributed.destroy_process_group()
            if self.rank:
                self.store.add("left", 1)
            else:
                self.all_at("left", self.world - 1, until)
        except LOST:
            pass  # the others are gone already

    def all_at(self, key, count, until):
        while self.store.add(key, 0) < count and time.monotonic() < until:
            time.sleep(0.02)

    # -- which ranks work together -------------------------------------------------------------------------------------
    def teams(self, kind):
        """All groups of a kind, which work at the same time, as those of a training do."""
        by_host = {}
        for rank, host in enumerate(self.hosts):
            by_host.setdefault(host, []).append(rank)
        nodes = list(by_host.values())
        if kind == "world":
            return [list(range(self.world))]
        if kind == "node":
            return nodes if len(nodes) > 1 else []
        if kind == "across":  # one rank of each node: data parallel beside tensor parallel
            return [list(group) for group in zip(*nodes)] if len(nodes) > 1 else []
        if kind == "stages":  # a node sends to the next
            return [list(pair) for a, b in zip(nodes[::2], nodes[1::2]) for pair in zip(a, b)]
        size = int(kind)  # neighbours in a node
        return [node[at:at + size] for node in nodes for at in range(0, len(node) - size + 1, size)]

    def group_of(self, kind):
        """This rank's communicator of the kind (None: it has no part) and all teams. All ranks call it together."""
        if kind not in self.groups:
            teams = self.teams(kind)
            if kind == "world":
                self.groups[kind] = (torch.distributed.group.WORLD, teams)
            else:
                mine = None
                for team in teams:
                    made = torch.distributed.new_group(team)
                    mine = made if self.rank in team else mine
                self.groups[kind] = (mine, teams)
        return self.groups[kind]


def listed(numbers, most=12):
    text = ", ".join(str(number) for number in numbers[:most])
    return text + (" and %d more" % (len(numbers) - most) if len(numbers) > most else "")


def team_times(table, teams):
    """By repeat: of each team the shortest of its ranks (the others waited for it to begin), of all teams the median.
    Repeats in which some rank's queue ran dry (-1) do not count."""
    times = []
    for repeat in zip(*table):
        if min(repeat) > 0:
            times.append(statistics.median(min(repeat[rank] for rank in team) for team in teams))
    return times


class Probe:
    def __init__(self, options):
        self.options = options
        self.job = Job(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")),
                       int(os.environ.get("LOCAL_WORLD_SIZE", os.environ.get("WORLD_SIZE", "1"))))
        self.rank, self.world = self.job.rank, self.job.world
        self.limit = options.minutes * 60
        self.deadline = BEGAN + 0.92 * self.limit  # the rest is for the last point and for writing
        self.most = max(0.1, min(4.0, self.limit / 80))  # seconds a point may take
        self.samples, self.skipped, self.notes = [], {}, []
        self.rates = {}  # (what, precision) -> work a second, to see what a point would take
        self.lock = threading.RLock()
        self.device = None
        self.ended, self.status, self.kept_at = "complete", None, time.monotonic()

    def begin(self):
        self.device = Device(int(os.environ.get("LOCAL_RANK", "0")))
        if self.world > 1:
            try:
                dist = self.job.meet(min(self.limit / 3, max(1.0, self.left())), self.device.is_gpu)
                self.job.connect(dist, self.limit + 600)
            except Parted as problem:
                self.part(problem)

    def part(self, problem):
        """Goes on without the others: rank 0 with what is its own, the others not at all."""
        self.job.part()
        self.note("No collectives%s: %s." % (
            "" if not self.samples else " from here on", problem))
        if self.rank != 0:
            raise problem

    # -- telling -------------------------------------------------------------------------------------------------------
    def say(self, text):
        if self.rank == 0:
            print("[%5.1f s] %s" % (time.monotonic() - BEGAN, text), flush=True)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            self.say(text)

    def skip(self, what, reason):
        with self.lock:
            self.skipped[(what, reason)] = self.skipped.get((what, reason), 0) + 1

    def add(self, samples, **sample):
        sample.update(least_s=min(samples), median_s=statistics.median(samples), repeats=len(samples))
        with self.lock:
            self.samples.append(sample)

    def left(self):
        return self.deadline - time.monotonic()

    # -- what fits into the time ---------------------------------------------------------------------------------------
    def would_be_long(self, what, precision, amount):
        rate = self.rates.get((what, precision)) or self.rates.get(("gemm", precision))
        return bool(rate) and 7 * amount / rate > min(self.most * 2, self.left())

    def timed(self, work, what, precision, amount):
        """Times of `work`, or Unavailable where its like was too slow for it to end in time."""
        if self.would_be_long(what, precision, amount):
            raise Unavailable("would take longer than a point may")
        samples = self.device.times(work, self.most / 2, 10 if self.options.quick else 20)
        self.rates[(what, precision)] = max(amount / min(samples), self.rates.get((what, precision), 0))
        return samples

    def room(self, needed):
        if needed > 0.6 * self.device.free_bytes():
            raise Unavailable("does not fit into free memory")

    def random(self, precision, *shape):
        return torch.randn(*shape, device=self.device.torch).to(kind_of(precision))

    # -- products ------------------------------------------------------------------------------------------------------
    def gemm(self, precision, tokens, wide, deep, what="gemm", seconds=0):
        """A linear layer of `deep` inputs and `wide` outputs: y = x Wt forward (gemm), dx = dy W (gemm_dgrad) and
        dW = dyt x (gemm_wgrad) backward, each in the layout in which it finds its operands. `seconds`: under load."""
        m, n, k = {"gemm": (tokens, wide, deep), "gemm_dgrad": (tokens, deep, wide),
                   "gemm_wgrad": (wide, deep, tokens)}[what]
        size = 1 if precision == "fp8" else torch.empty((), dtype=kind_of(precision)).element_size()
        flops, traffic = 2.0 * m * n * k, float(size * k * (m + n) + max(size, 2) * m * n)
        self.room(traffic * 2)
        if self.device.is_gpu:
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        sample = dict(precision=precision, m=m, n=n, k=k, flops=flops, bytes=traffic)
        if precision == "fp8":
            work, more = self.fp8(what, m, n, k)
            sample.update(more)
        else:
            c = torch.empty(m, n, device=self.device.torch, dtype=kind_of(precision))
            x = self.random(precision, tokens, wide if what == "gemm_dgrad" else deep)  # what has a row a token
            w = self.random(precision, *((tokens, wide) if what == "gemm_wgrad" else (wide, deep)))
            work = {"gemm": lambda: torch.mm(x, w.t(), out=c), "gemm_dgrad": lambda: torch.mm(x, w, out=c),
                    "gemm_wgrad": lambda: torch.mm(w.t(), x, out=c)}[what]
        if seconds:
            return self.loaded(work, seconds, kernel=what, **sample)
        self.add(self.timed(work, what, precision, flops), what=what, **sample)

    def fp8(self, what, m, n, k):
        """As training has it: gradients in e5m2, all else in e4m3; fast accumulation forward, full backward. 8-bit
        products know one layout alone, for which training casts and transposes its operands."""
        if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
            raise Unavailable("this PyTorch has no products of 8-bit operands")
        fnuz = "fnuz" if self.device.is_gpu and has_fnuz(torch.cuda.get_device_properties(self.device.torch)) else ""
        names = ["float8_" + ("e4m3" + (fnuz or "fn") if what == "gemm" else "e5m2" + fnuz),
                 "float8_e4m3" + (fnuz or "fn")]
        if not all(hasattr(torch, name) for name in names):
            raise Unavailable("this PyTorch has no %s" % " or ".join(names))
        a = torch.randn(m, k, device=self.device.torch).to(getattr(torch, names[0]))
        b = torch.randn(n, k, device=self.device.torch).to(getattr(torch, names[1])).t()
        one = torch.ones((), device=self.device.torch)
        fast = what == "gemm"
        work = lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast)
        try:
            work()
        except TypeError:  # before PyTorch 2.2
            fast = False
            work = lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        return work, {"format": names[0][7:], "fast_accum": fast}

    def grouped(self, precision, groups, tokens, wide, deep):
        """The same layer of every expert on a GPU, `tokens` each, in one kernel."""
        size = torch.empty((), dtype=kind_of(precision)).element_size()
        traffic = float(size * groups * (tokens * deep + wide * deep + tokens * wide))
        self.room(traffic * 2)
        x, w = self.random(precision, groups * tokens, deep), self.random(precision, groups, wide, deep)
        ends = torch.tensor([tokens * (g + 1) for g in range(groups)], dtype=torch.int32, device=self.device.torch)
        kernel = getattr(torch.nn.functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
        work, name = (lambda: kernel(x, w.transpose(-2, -1), offs=ends)), "grouped_mm"
        try:
            if kernel is None:
                raise Unavailable("this PyTorch has none")
            work()
        except (Unavailable, RuntimeError, TypeError, NotImplementedError) as problem:
            self.note("Grouped products are timed as batched ones (bmm): %s." % first_line(problem, 80))
            apart = x.view(groups, tokens, deep)
            work, name = (lambda: torch.bmm(apart, w.transpose(-2, -1))), "bmm"
        flops = 2.0 * groups * tokens * wide * deep
        self.add(self.timed(work, "gemm_grouped", precision, flops), what="gemm_grouped", precision=precision,
                 groups=groups, m=tokens, n=wide, k=deep, kernel=name, flops=flops, bytes=traffic)

    def loaded(self, work, seconds, **sample):
        """Without a pause for so long that clocks fall to what power and heat allow; beside it the burst before."""
        if self.left() < REST + seconds + 2 * self.most:
            raise Unavailable("--minutes leaves no %.0f s for it" % seconds)
        time.sleep(REST)
        burst = self.device.times(work, self.most / 4, 10)
        windows = self.device.load(work, seconds)
        self.add(settled(windows), what="sustained", seconds=seconds, burst_s=min(burst), first_s=windows[0], **sample)

    # -- attention -----------------------------------------------------------------------------------------------------
    def attention(self, precision, batch, heads, sequence, head_dim, what="attention", seconds=0):
        """Causal. `what`: attention forward, or attention_backward alone."""
        kind = kind_of(precision)
        fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
        size = torch.empty((), dtype=kind).element_size()
        width = batch * heads * sequence * head_dim
        is_back = what == "attention_backward"
        scores = 0.0 if fused and self.device.is_gpu else size * float(batch * heads * sequence ** 2)
        self.room((16.0 if is_back else 8.0) * width * size + (6 if is_back else 3) * scores)
        q, k, v = (self.random(precision, batch, heads, sequence, head_dim) for _ in range(3))
        if fused:
            forward = lambda: fused(q, k, v, is_causal=True)
        else:
            self.note("This PyTorch has no scaled_dot_product_attention: "
                      "attention is timed as product, softmax, product.")
            mask = torch.full((sequence, sequence), float("-inf"), device=self.device.torch, dtype=kind).triu(1)
            scale = head_dim ** -0.5
            forward = lambda: torch.matmul(torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * scale + mask, -1), v)
        flops = 2.0 * batch * heads * sequence * sequence * head_dim  # two products over the pairs that the mask leaves
        traffic = 4.0 * width * size
        if is_back:  # five products for the forward's two, gradients beside what they are of
            flops, traffic = 2.5 * flops, 2 * traffic
        sample = dict(precision=precision, batch=batch, heads=heads, sequence=sequence, head_dim=head_dim, causal=True,
                      fused=bool(fused), flops=flops, bytes=traffic)
        with torch.enable_grad() if is_back else torch.no_grad():
            work = forward
            if is_back:
                of = tuple(one.requires_grad_(True) for one in (q, k, v))
                result = forward()
                gradient = torch.ones_like(result)
                work = lambda: torch.autograd.grad(result, of, gradient, retain_graph=True)
            if seconds:
                return self.loaded(work, seconds, kernel=what, **sample)
            samples = self.timed(work, what, precision, flops)
        self.add(samples, what=what, **sample)

    # -- memory, launches, copies --------------------------------------------------------------------------------------
    def memory(self, operation, size):
        self.room(3.5 * size)
        a = torch.ones(size // 4, device=self.device.torch)
        b, c = torch.ones_like(a), torch.empty_like(a)
        passes = 2 if operation == "copy" else 3
        work = (lambda: c.copy_(a)) if operation == "copy" else (lambda: torch.add(a, b, out=c))
        samples = self.timed(work, "memory", operation, passes * size)
        self.add(samples, what="memory", operation=operation, precision="fp32", bytes=float(passes * size))

    def launch(self):
        a = torch.ones(1, device=self.device.torch)
        samples = []
        for _ in range(11):
            self.device.wait()
            samples.append(host_time(lambda: a.add_(1), 200) / 200)
            self.device.wait()
        self.add(samples[1:], what="launch", operation="launch")

    def copy(self, direction, size):
        if not self.device.is_gpu:
            raise Unavailable("there is no GPU to copy to")
        here = torch.empty(size, dtype=torch.uint8, device=self.device.torch)
        if direction == "gpu_to_gpu":
            if torch.cuda.device_count() < 2:
                raise Unavailable("this process sees one GPU only")
            other = (self.device.torch.index + 1) % torch.cuda.device_count()
            there = torch.empty(size, dtype=torch.uint8, device=torch.device("cuda", other))
        else:
            there = torch.empty(size, dtype=torch.uint8).pin_memory()
        work = (lambda: here.copy_(there, non_blocking=True)) if direction == "host_to_gpu" else (
            lambda: there.copy_(here, non_blocking=True))
        samples = self.timed(work, "copy", direction, size)
        self.add(samples, what="copy", direction=direction, pinned=direction != "gpu_to_gpu", bytes=float(size))

    # -- collectives ---------------------------------------------------------------------------------------------------
    def reduced(self, value, operation):
        import torch.distributed as dist
        one = torch.tensor([float(value)], dtype=torch.float64, device=self.device.torch)
        dist.all_reduce(one, op=getattr(dist.ReduceOp, operation))
        return float(one.item())

    def collective(self, operation, size, kind="world"):
        """Of all groups of the kind at once. The shortest over its ranks is a group's time: the others waited for it
        to begin."""
        group, teams = self.job.group_of(kind)
        ranks, mine = len(teams[0]), next((team for team in teams if self.rank in team), None)
        count = max(1, size // 4 // ranks) * ranks
        whole = part = other = None
        try:  # on the CPU the ranks of a node share its memory
            self.room(3.0 * 4 * count * (1 if self.device.is_gpu else self.job.local_world))
            whole = torch.zeros(count, device=self.device.torch)
            part = torch.zeros(count // ranks, device=self.device.torch)
            other = torch.empty_like(whole) if operation == "all_to_all" else None
            has_room = True
        except (Unavailable, RuntimeError, MemoryError):
            has_room = False
        if not self.reduced(has_room, "MIN"):  # a rank that left alone would leave the others waiting
            del whole, part, other
            raise Unavailable("does not fit into free memory of all ranks")
        work, problem = (lambda: None), ""
        if mine:
            try:
                work = self.operation(operation, group, mine, whole, part, other)
                work()
            except (RuntimeError, AttributeError, NotImplementedError, ValueError) as caught:
                problem = first_line(caught, 80)
        if self.reduced(bool(problem), "MAX"):
            raise Unavailable("%s has no such collective (%s)" % (self.job.backend, problem or "on another rank"))
        self.device.wait()
        samples, mean = self.shared_times(work, teams)
        self.rates[("collective", operation, kind)] = (count * 4, min(samples))
        if self.rank == 0:
            more = {} if kind == "world" else {"groups": len(teams)}
            nodes = len({self.job.hosts[rank] for rank in teams[0]})
            self.add(samples, what="collective", operation=operation, ranks=ranks, nodes=nodes, bytes=float(count * 4),
                     mean_s=mean, **more)

    def operation(self, operation, group, team, whole, part, other):
        import torch.distributed as dist
        is_nccl = self.job.backend == "nccl"
        if operation == "send_recv":
            at = team.index(self.rank)
            return (lambda: dist.send(whole, team[1])) if at == 0 else (lambda: dist.recv(whole, team[0]))
        if operation == "all_reduce":
            return lambda: dist.all_reduce(whole, group=group)
        if operation == "all_to_all":
            return lambda: dist.all_to_all_single(other, whole, group=group)
        parts = list(whole.chunk(len(team)))
        if operation == "all_gather":
            into = getattr(dist, "all_gather_into_tensor", None) if is_nccl else None
            return (lambda: into(whole, part, group=group)) if into else (
                lambda: dist.all_gather(parts, part, group=group))
        into = getattr(dist, "reduce_scatter_tensor", None) if is_nccl else None
        return (lambda: into(part, whole, group=group)) if into else (
            lambda: dist.reduce_scatter(part, parts, group=group))

    def shared_times(self, work, teams):
        """Times of what all ranks do together, and their mean over ranks. On GPUs between events of the stream, all
        calls queued ahead; the ranks are brought together by a tiny all-reduce that comes before them in the queue."""
        import torch.distributed as dist
        meeting = torch.zeros(1, device=self.device.torch)
        meet = lambda: dist.all_reduce(meeting)
        self.device.batch(work, 1)
        own = self.device.batch(work, 2)
        one, launching = (self.reduced(value, "MAX") for value in own)  # so that all agree on how many calls
        repeats = 5 if self.options.quick or 10 * max(one, LEAST_INSIDE) > self.most else 10
        inner = calls_inside(one, MOST_QUEUED // 4)
        ahead = 2 * inner * launching + 1e-3
        for _ in range(3):
            mine = []
            for _ in range(repeats):
                if self.device.is_gpu:
                    took = self.device.queued(work, inner, ahead, before=meet)
                    mine.append(-1.0 if took is None else took / inner)
                else:
                    meet()
                    mine.append(host_time(work, inner) / inner)
            row = torch.tensor(mine, dtype=torch.float64, device=self.device.torch)
            rows = [torch.zeros_like(row) for _ in range(self.world)]
            dist.all_gather(rows, row)
            table = [each.tolist() for each in rows]
            times = team_times(table, teams)
            if len(times) >= 3 and statistics.median(times) * inner >= 0.8 * LEAST_INSIDE:
                took_part = [value for team in teams for rank in team for value in table[rank] if value > 0]
                return times, statistics.mean(took_part)
            if len(times) >= 3:
                inner = calls_inside(statistics.median(times), MOST_QUEUED // 2)
            ahead = min(0.5, 2 * inner * launching + 4 * ahead)
        if len(times) >= 3:
            raise Unavailable("is too short to be timed")
        raise Unavailable("the hosts launch too slowly to keep the GPUs busy")

    # -- storage -------------------------------------------------------------------------------------------------------
    def storage(self, size, block):
        folder = self.options.path
        free = shutil.disk_usage(folder).free
        if free < 4 * size:
            raise Unavailable("%s has too little free space" % folder)
        data = os.urandom(block)  # no drive compresses it
        file, name = tempfile.mkstemp(prefix="trainyard-probe-", dir=folder)
        try:
            os.unlink(name)  # nothing is left of it, however the probe ends
            began, written = time.perf_counter(), 0
            while written < size and (time.perf_counter() - began < self.most or written < 4 * block):
                written += os.write(file, data)
            os.fsync(file)
            seconds = time.perf_counter() - began
            kind = filesystem(folder)
            self.add([seconds], what="storage", operation="write", bytes=float(written), block_bytes=block,
                     filesystem=kind, cached=kind in ("tmpfs", "ramfs"))
            dropped = hasattr(os, "posix_fadvise")
            if dropped:
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            cold = read_all(file, block)
            warm = read_all(file, block)
            # What was dropped and yet comes back as fast as from memory was never dropped.
            cached = not dropped or kind in ("tmpfs", "ramfs") or cold < 1.3 * warm
            if cached:
                self.note("Reads of %s came from the host's page cache, not from the drive: "
                          "they are marked so." % folder)
            self.add([cold], what="storage", operation="read", bytes=float(written), block_bytes=block,
                     filesystem=kind, cached=cached)
        finally:
            os.close(file)

    # -- in which order ------------------------------------------------------------------------------------------------
    def precisions(self):
        """Those that a small product runs in; why the others do not is said."""
        names = ["bf16", "fp32", "fp16"]
        if self.device.is_gpu:
            names = ["bf16", "fp16", "fp8", "tf32", "fp32"]
        small = 1024 if self.device.is_gpu else 256
        found = []
        for name in names:
            try:
                is_amd = getattr(torch.version, "hip", None)
                if name == "tf32" and (is_amd or torch.cuda.get_device_capability()[0] < 8):
                    raise Unavailable("the GPU has no such unit")
                self.gemm(name, small, small, small)
                found.append(name)
            except (Unavailable, RuntimeError, TypeError, ValueError) as problem:
                self.skip("gemm in " + name, first_line(problem))
        return found

    def team_kinds(self):
        """Groups smaller than the world, and why others are left out."""
        sizes = [str(size) for size in (2, 4, 8) if size < self.job.local_world and self.job.local_world % size == 0]
        kinds = sizes[-2:] + (["node", "across"] if self.job.nodes > 1 else [])
        fit = [kind for kind in kinds if len(self.job.teams(kind)) <= MOST_GROUPS
               and len({len(team) for team in self.job.teams(kind)}) == 1 and len(self.job.teams(kind)[0]) > 1]
        for kind in kinds:
            if kind not in fit:
                self.skip("collective", "groups of kind %s are more than %d, or unequal" % (kind, MOST_GROUPS))
        return fit

    def rounds(self, precisions):
        """Rounds of points, each finer than the one before: (explanation, [(what, function, arguments)])."""
        gpu, first = self.device.is_gpu, precisions[:2]
        if "fp8" in precisions:
            first = precisions[:1] + ["fp8"]
        big = [(8192, 4096), (4096, 8192)] if gpu else [(1024, 512), (512, 1024)]
        fine = [(2048, 1024), (2048, 4096), (8192, 8192), (16384, 4096), (1024, 12288), (4096, 16384)] if gpu else \
            [(256, 256), (2048, 256), (2048, 512), (1024, 768), (2048, 1024), (512, 2048), (2048, 2048)]
        experts = [(8, 2048, 14336, 4096), (8, 2048, 4096, 14336), (32, 512, 4096, 7168), (32, 512, 7168, 2048),
                   (16, 1024, 3072, 4096), (16, 4096, 4096, 1536)] if gpu else \
            [(4, 128, 1024, 512), (4, 128, 512, 1024), (8, 64, 512, 512), (8, 128, 512, 256), (2, 256, 1024, 512)]
        sizes = [1 << 10, 8 * MIB, 64 * MIB, 256 << 10, 256 * MIB, 32 << 10, 2 * MIB, 1 << 30] if gpu else \
            [1 << 10, 2 * MIB, 256 << 10, 8 * MIB, 64 * MIB, 32 << 10]
        disk = (256 if gpu else 96) * MIB >> (2 if self.options.quick else 0)
        kinds = self.team_kinds() if self.job.is_together else []

        def layers(shapes, names, whats=("gemm",)):
            return [(w, self.gemm, (p, t, n, k, w)) for p in names for w in whats for t, h in shapes
                    for n, k in ((3 * h, h), (h, h), (4 * h, h), (h, 4 * h))]

        def heads(shapes, names, whats=("attention", "attention_backward")):
            names = [p for p in names if p in ("bf16", "fp16")] if gpu else names[:2]
            return [(w, self.attention, (p,) + shape + (w,)) for p in names for w in whats for shape in shapes]

        def together(operations, chosen, kind="world"):
            return [("collective", self.collective, (o, s, kind)) for s in chosen for o in operations] \
                if self.job.is_together else []

        def smaller(operations, chosen):
            return [one for kind in kinds for one in together(operations, chosen, kind)]

        def sent(chosen):
            ways = ["2"] * (self.job.local_world > 1) + ["stages"] * (self.job.nodes > 1)
            return [one for way in ways if self.job.is_together and self.job.teams(way)
                    for one in together(["send_recv"], chosen, way)]

        def moved(chosen):
            return [("memory", self.memory, (o, s)) for s in chosen for o in ("copy", "add")]

        def across(chosen):
            return [("copy", self.copy, (d, s)) for s in chosen for d in ("host_to_gpu", "gpu_to_host", "gpu_to_gpu")]

        def under_load(names):
            t, h = big[0]
            return [("sustained", self.gemm, (p, t, 4 * h, h, "gemm", LOAD)) for p in names]

        one = [(1, 32, 4096, 128)] if gpu else [(1, 16, 512, 64)]
        backward = ("gemm_dgrad", "gemm_wgrad")
        yield "what a plan needs first: collectives, products of a layer, memory, the drive, copies", \
            together(["all_reduce", "all_to_all"], sizes[:3]) + layers(
                big[:1], first[:1], ("gemm",) + backward) + moved([256 * MIB, 128 * MIB, 512 * MIB]) + [
                ("storage", self.storage, (disk, 8 * MIB)), ("launch", self.launch, ())] + across([64 * MIB]) + heads(
                one, first) + layers(big[:1], first[1:], ("gemm",) + backward) + under_load(first[:1])
        yield "the other shapes of layers, experts, smaller groups, and sizes between", \
            layers(big[1:] + fine[:2], first) + layers(big[1:], first, backward) + together(
                ["all_reduce", "all_to_all", "all_gather", "reduce_scatter"], sizes[3:5]) + sent(
                [8 * MIB, 64 * MIB, 256 << 10, 32 << 10]) + smaller(
                ["all_reduce", "all_gather", "reduce_scatter"], sizes[1:4]) + across(
                [256 * MIB, MIB, 16 * MIB]) + heads(
                [(4, 32, 4096, 128), (1, 32, 8192, 128), (8, 16, 4096, 64), (2, 32, 4096, 128)] if gpu else
                [(1, 4, 1024, 64), (2, 8, 512, 64), (1, 8, 512, 128), (1, 8, 1024, 64)], first) + [
                ("gemm_grouped", self.grouped, (first[0],) + shape) for shape in experts] + [
                ("storage", self.storage, (disk, block)) for block in (MIB, 8 * MIB, MIB, 8 * MIB)] + under_load(
                [p for p in first[1:] if gpu]) + [
                ("sustained", self.attention, (first[0],) + shape + ("attention", LOAD)) for shape in one if gpu]
        if not self.options.quick:
            yield "finer grids, for better averages", \
                layers(fine[2:], first) + layers(fine[:4], first, backward) + layers(
                    big + fine[:2], [p for p in precisions if p not in first]) + together(
                    ["all_gather", "reduce_scatter", "all_reduce", "all_to_all"], sizes[:3] + sizes[5:]) + smaller(
                    ["all_reduce", "all_to_all", "all_gather", "reduce_scatter"], sizes[3:7]) + moved(
                    [MIB, 8 * MIB, 64 * MIB]) + heads(
                    [(8, 32, 2048, 128), (1, 16, 16384, 128), (16, 16, 1024, 64), (2, 32, 4096, 256)] if gpu else
                    [(1, 16, 1024, 64), (4, 4, 512, 64), (2, 4, 1024, 64)], first) + [
                    ("storage", self.storage, (disk * 2, 4 * MIB))]

    GO, END, LEAVE_OUT = 1, 2, 3

    def choice(self, what, arguments):
        """Of rank 0: whether a point is begun."""
        if self.left() <= 0:
            return self.END
        if what == "collective":
            known = self.rates.get(("collective", arguments[0], arguments[2]))
            # the time of small messages tells nothing of large ones
            if known and known[0] >= MIB and 20 * known[1] * arguments[1] / known[0] > min(self.most * 4, self.left()):
                return self.LEAVE_OUT
        return self.GO

    def measure(self):
        self.say("Trying the precisions of products, to see which this machine has.")
        precisions = self.precisions() if self.rank == 0 else []
        if self.rank == 0 and not precisions:
            self.note("No precision of products works here.")
        for explanation, points in self.rounds(precisions or ["fp32"]):
            self.say("Measuring %s." % explanation)
            self.measure_round(points)

    def measure_round(self, points):
        told = ""
        for what, function, arguments in points:
            is_shared = what == "collective"
            if self.rank != 0 and not is_shared:
                continue  # one rank measures what is its own: others would take memory and drive from it
            if is_shared and not self.job.is_together:
                self.skip(what, "the ranks are no longer together")
                continue
            try:
                choose = lambda: self.choice(what, arguments)
                choice = self.job.decide(choose, self.deadline + 0.05 * self.limit) if is_shared else choose()
                if choice != self.GO:
                    self.leave_out(what, choice)
                    continue
                if what != told:
                    self.say(WHY[what])
                    told = what
                function(*arguments)
            except Unavailable as problem:
                self.skip(what, str(problem))
            except Parted as problem:
                self.part(problem)
            except (RuntimeError, OSError, MemoryError) as problem:
                if is_shared:  # the others wait for this rank, or it for them
                    self.part(Parted("a collective failed (%s)" % first_line(problem)))
                else:
                    self.skip(what, first_line(problem))
            self.keep()

    def leave_out(self, what, choice):
        if choice == self.END and self.rank == 0 and self.ended == "complete":
            self.ended = "time"
            self.say("The time is used up; what is left would have made it finer.")
        self.skip(what, "no time was left" if choice == self.END else "would take longer than a point may")

    # -- the file ------------------------------------------------------------------------------------------------------
    def machine(self):
        found = {"host": "" if self.options.anonymous else socket.gethostname(),
                 "system": "%s %s" % (platform.system(), platform.machine()), "python": platform.python_version(),
                 "torch": torch.__version__, "device": "gpu" if self.device.is_gpu else "cpu", "world": self.world,
                 "nodes": self.job.nodes, "ranks_per_node": self.job.local_world, "backend": self.job.backend or "",
                 "missing": self.job.missing,
                 "cpu": {"name": cpu_name(), "cores": os.cpu_count() or 1, "threads": torch.get_num_threads(),
                         "memory_bytes": memory_bytes()}, "devices": []}
        if self.device.is_gpu:
            found["cuda"], found["hip"] = torch.version.cuda or "", getattr(torch.version, "hip", None) or ""
            found["driver"] = self.driver()
            for i in range(torch.cuda.device_count()):
                of = torch.cuda.get_device_properties(i)
                found["devices"].append({"name": of.name, "memory_bytes": of.total_memory,
                                         "multiprocessors": of.multi_processor_count})
        return found

    def driver(self):
        if not hasattr(self, "known_driver"):
            self.known_driver = driver_version()
        return self.known_driver

    def keep(self):
        """What there is so far, for an end that no program sees coming; now and then."""
        if self.rank == 0 and time.monotonic() - self.kept_at > max(5.0, self.limit / 12):
            self.write("running")

    def write(self, ended):
        if self.rank != 0:
            return
        with self.lock:
            self.kept_at = time.monotonic()
            result = {"format": "trainyard.probe", "version": 1,
                      "made": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                      "seconds": round(time.monotonic() - BEGAN, 1), "ended": ended, "machine": self.machine(),
                      "timing": {"least_inside_s": LEAST_INSIDE, "queued_ahead": self.device.is_gpu},
                      "notes": list(self.notes),
                      "skipped": [{"what": w, "reason": r, "count": n} for (w, r), n in self.skipped.items()]}
            # a sample a line, so that people can read it
            samples = ",\n".join(json.dumps(sample) for sample in self.samples)
            text = json.dumps(result, indent=1)[:-2] + ',\n "samples": [\n' + samples + "\n ]\n}\n"
            write_whole(self.options.out, text)

    def finish(self, ended, status):
        """Writes the file for the last time; what comes after changes neither it nor the status."""
        with self.lock:
            if self.status is None:
                self.write(ended)
                self.status = status
            return self.status

    def at_end(self, why):
        """Of the clock: the main thread waits for something that does not come back."""
        if self.status is not None:
            return self.status
        if self.rank != 0:
            return 0 if why == "hung" else 130
        if self.device is None:
            print("The probe ended by its own clock before anything was measured.", flush=True)
            return 3
        status = self.finish(why, 130 if why == "interrupted" else 0 if self.samples else 3)
        print("Interrupted." if why == "interrupted" else
              "The probe ended by its own clock; a point did not come back.", flush=True)
        return status


WHY = {
    "gemm": "Matrix products of transformer layers: most of a training step.",
    "gemm_dgrad": "Their backward: gradients of the inputs.",
    "gemm_wgrad": "Their backward: gradients of the weights.",
    "gemm_grouped": "Grouped products: a layer of all experts of a GPU.",
    "sustained": "The same for seconds without a pause: what power and heat leave of the clock.",
    "attention": "Causal attention, forward.",
    "attention_backward": "Causal attention, backward.",
    "memory": "Copies and sums inside the device's memory: what norms, residuals and optimizers are bound by.",
    "copy": "Copies between host and GPU, pinned, both ways: what offloading is bound by.",
    "collective": "Collectives and sends, of all ranks and of smaller groups: latency and bandwidth of the links.",
    "storage": "A temporary file, written with fsync and read back: what checkpoints and offloading to drives see.",
    "launch": "Launching empty kernels: the host's part of a step.",
}


def has_fnuz(properties):
    """MI300 has 8-bit formats of its own, without infinities and negative zero; later AMD GPUs the common ones."""
    return getattr(properties, "gcnArchName", "").startswith("gfx94")


def write_whole(path, text):
    """All of it or nothing, whenever this process ends."""
    file, name = tempfile.mkstemp(prefix=".trainyard-probe-", suffix=".tmp", dir=os.path.dirname(os.path.abspath(path)))
    try:
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        if os.path.exists(name):
            os.unlink(name)
        raise


def filesystem(path):
    best, kind = "", "unknown"
    try:
        with open("/proc/mounts", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                parts = line.split()
                at = parts[1].replace("\\040", " ")
                here = os.path.realpath(path)
                if len(parts) > 2 and (here == at or here.startswith(at.rstrip("/") + "/")) and len(at) >= len(best):
                    best, kind = at, parts[2]
    except OSError:
        pass
    return kind


def read_all(file, block):
    os.lseek(file, 0, os.SEEK_SET)
    began = time.perf_counter()
    while os.read(file, block):
        pass
    return time.perf_counter() - began


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as told:
            for line in told:
                if line.lower().startswith(("model name", "cpu model")):
                    return " ".join(line.split(":", 1)[1].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_bytes():
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0


def driver_version():
    try:
        told = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], timeout=10,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        return told.stdout.decode().splitlines()[0].strip()
    except (OSError, subprocess.SubprocessError, IndexError):
        return ""


def options_of(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, help="it ends after so many, whatever happens (default 2)")
    parser.add_argument("--out", default="probe.json", help="the file to write (default probe.json)")
    parser.add_argument("--path", default=".", help="folder whose drive is measured (default: this one)")
    parser.add_argument("--quick", action="store_true", help="two coarse rounds only, fewer repeats")
    parser.add_argument("--anonymous", action="store_true", help="leaves the host's name out")
    options = parser.parse_args(arguments)
    if not 0.05 <= options.minutes <= 60:
        parser.error("--minutes has to be between 0.05 and 60")
    if not os.path.isdir(options.path):
        parser.error("--path has to be a folder: %s is none" % options.path)
    if os.environ.get("RANK", "0") == "0":  # which writes; before anything is measured
        folder = os.path.dirname(os.path.abspath(options.out))
        if os.path.isdir(options.out) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            parser.error("--out has to be a file in a folder that can be written: %s" % options.out)
    return options


def run(probe):
    """Measures, writes and says how it ended; the exit status."""
    try:
        probe.begin()
        name = torch.cuda.get_device_name() if probe.device.is_gpu else cpu_name()
        probe.say("Probing %s with PyTorch %s, %d rank%s, for at most %g minutes."
                  % (name, torch.__version__, probe.world, "" if probe.world == 1 else "s", probe.options.minutes))
        probe.measure()
        status = probe.finish(probe.ended, 0)
        probe.say("%d points are in %s. `trainyard-cli import %s` reads it."
                  % (len(probe.samples), probe.options.out, probe.options.out))
        probe.job.leave(BEGAN + probe.limit - 1.5)
        return status
    except KeyboardInterrupt:
        status = probe.finish("interrupted", 130) if probe.device else 130
        probe.say("Interrupted: the %d points before are in %s." % (len(probe.samples), probe.options.out))
        return status
    except Parted as problem:  # of a rank that is not 0
        print("Rank %d ends: %s." % (probe.rank, problem), file=sys.stderr, flush=True)
        return probe.finish("failed", 1 if probe.left() > 0 else 0)  # with its time rank 0 may have ended as it should
    except Exception as problem:  # points of minutes are not to be lost with one that fails
        reason = first_line(problem, 200)
        probe.note("Rank %d ended early: %s" % (probe.rank, reason))
        status = probe.finish("failed", 1) if probe.device else 1
        print("The probe failed (%s); the %d points before are in %s."
              % (reason, len(probe.samples), probe.options.out), file=sys.stderr, flush=True)
        return status


def main():
    options = options_of()
    watch = Watch(options.minutes * 60)
    watch.begin()
    load_torch()
    probe = Probe(options)
    watch.at_end = probe.at_end
    status = run(probe)
    watch.end()
    sys.stdout.flush()
    if probe.world > 1 and (status or not probe.job.is_together):
        os._exit(status)  # others may wait in a collective: so would the end of the process group
    return status


if __name__ == "__main__":
    sys.exit(main())
