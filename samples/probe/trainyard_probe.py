#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures one machine, or one job of many, for Trainyard: one JSON that `trainyard-cli import` and calibration read.

    python3 trainyard_probe.py --out probe.json                          one GPU, or the processor where there is none
    torchrun --nproc_per_node 8 trainyard_probe.py --out probe.json      collectives of the GPUs of a node too

PyTorch 1.13 or later is all it needs. Every figure is a time of something that a training step does: matrix products,
attention, kernels that move memory, copies to and from the host, collectives, a drive, the launch of a kernel. It stops
after --minutes; what tells most comes first, so that a short run is a coarser one. Form of the file: docs/probe.md.
"""

import argparse
import datetime
import json
import math
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

BEGAN = time.monotonic()

try:
    import torch
except ImportError as problem:
    print("The probe measures with PyTorch, which this Python (%s) does not have: %s.\n"
          "Install it with `pip install torch`, on Debian or Ubuntu `apt install python3-torch` (then run "
          "/usr/bin/python3), or\nrun the probe with the Python of the environment that trains: "
          "https://pytorch.org/get-started/locally." % (sys.executable, problem), file=sys.stderr)
    sys.exit(2)

MIB = 1 << 20
PRECISIONS = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Unavailable(Exception):
    """Something that this machine or this PyTorch does not have; the message is the reason."""


class Device:
    """The GPU of this rank, or the processor, with its clock."""

    def __init__(self, local_rank):
        self.is_gpu = torch.cuda.is_available()
        self.torch = torch.device("cuda", local_rank % torch.cuda.device_count()) if self.is_gpu else torch.device("cpu")
        if self.is_gpu:
            torch.cuda.set_device(self.torch)

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

    def times(self, work, seconds, most=20):
        """Seconds of one call, as often as `seconds` allow; calls shorter than 100 us are timed several at a time."""
        work()
        self.wait()
        began = time.perf_counter()
        work()
        self.wait()
        one = max(time.perf_counter() - began, 1e-7)
        inner = max(1, min(200, math.ceil(1e-4 / one)))
        samples = []
        deadline = time.perf_counter() + seconds
        while len(samples) < most and (len(samples) < 3 or time.perf_counter() < deadline):
            if self.is_gpu:
                first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                first.record()
                for _ in range(inner):
                    work()
                last.record()
                last.synchronize()
                samples.append(first.elapsed_time(last) * 1e-3 / inner)
            else:
                began = time.perf_counter()
                for _ in range(inner):
                    work()
                samples.append((time.perf_counter() - began) / inner)
        return samples


class Probe:
    def __init__(self, options):
        self.options = options
        self.rank = int(os.environ.get("RANK", "0"))
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        self.local_world = int(os.environ.get("LOCAL_WORLD_SIZE", str(self.world)))
        self.device = Device(int(os.environ.get("LOCAL_RANK", "0")))
        self.limit = options.minutes * 60
        self.deadline = BEGAN + 0.92 * self.limit  # the rest is for the last point and for writing
        self.most = max(0.1, min(4.0, self.limit / 80))  # seconds a point may take
        self.samples, self.skipped, self.notes = [], {}, []
        self.rates = {}  # (what, precision) -> work a second, to see what a point would take
        self.lock = threading.Lock()
        self.backend = ""
        self.ended = "complete"
        if self.world > 1:
            self.join()

    def join(self):
        import torch.distributed as dist
        if not dist.is_available():
            sys.exit("This PyTorch has no torch.distributed: run the probe without torchrun.")
        self.backend = "nccl" if self.device.is_gpu and dist.is_nccl_available() else "gloo"
        dist.init_process_group(self.backend, timeout=datetime.timedelta(seconds=self.limit + 600))
        names = [None] * self.world
        if hasattr(dist, "all_gather_object"):
            dist.all_gather_object(names, socket.gethostname())
        self.nodes = len(set(names))

    nodes = 1

    # -- telling -------------------------------------------------------------------------------------------------------
    def say(self, text):
        if self.rank == 0:
            print("[%5.1f s] %s" % (time.monotonic() - BEGAN, text), flush=True)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)
            self.say(text)

    def skip(self, what, reason):
        self.skipped[(what, reason)] = self.skipped.get((what, reason), 0) + 1

    def add(self, samples, **sample):
        sample.update(least_s=min(samples), median_s=statistics.median(samples), repeats=len(samples))
        with self.lock:
            self.samples.append(sample)

    def left(self):
        return self.deadline - time.monotonic()

    # -- what fits into the time ---------------------------------------------------------------------------------------
    def timed(self, work, what, precision, amount):
        """Times of `work`, or Unavailable where its like was too slow for it to end in time."""
        rate = self.rates.get((what, precision))
        if rate and 5 * amount / rate > min(self.most * 2, self.left()):
            raise Unavailable("would take longer than a point may")
        samples = self.device.times(work, self.most / 2, 10 if self.options.quick else 20)
        self.rates[(what, precision)] = max(amount / min(samples), rate or 0)
        return samples

    def room(self, needed):
        if needed > 0.6 * self.device.free_bytes():
            raise Unavailable("does not fit into free memory")

    # -- kernels -------------------------------------------------------------------------------------------------------
    def gemm(self, precision, m, n, k):
        size = 1 if precision == "fp8" else torch.empty((), dtype=PRECISIONS[precision]).element_size()
        flops, traffic = 2.0 * m * n * k, float(size * k * (m + n) + max(size, 2) * m * n)
        self.room(traffic * 2)
        if self.device.is_gpu:
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        if precision == "fp8":
            work = self.fp8(m, n, k)
        else:
            a = torch.randn(m, k, device=self.device.torch).to(PRECISIONS[precision])
            b = torch.randn(n, k, device=self.device.torch).to(PRECISIONS[precision])
            c = torch.empty(m, n, device=self.device.torch, dtype=PRECISIONS[precision])
            work = lambda: torch.mm(a, b.t(), out=c)  # as a linear layer: weights are n by k
        samples = self.timed(work, "gemm", precision, flops)
        self.add(samples, what="gemm", precision=precision, m=m, n=n, k=k, flops=flops, bytes=traffic)

    def fp8(self, m, n, k):
        if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
            raise Unavailable("this PyTorch has no products of 8-bit operands")
        a = torch.randn(m, k, device=self.device.torch).to(torch.float8_e4m3fn)
        b = torch.randn(n, k, device=self.device.torch).to(torch.float8_e4m3fn).t()
        one = torch.ones((), device=self.device.torch)
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    def attention(self, precision, batch, heads, sequence, head_dim):
        kind = PRECISIONS[precision]
        fused = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
        size = torch.empty((), dtype=kind).element_size()
        width = batch * heads * sequence * head_dim
        self.room(8.0 * width * size + (0 if fused and self.device.is_gpu else 3.0 * size * batch * heads * sequence ** 2))
        q, k, v = (torch.randn(batch, heads, sequence, head_dim, device=self.device.torch).to(kind) for _ in range(3))
        if fused:
            work = lambda: fused(q, k, v, is_causal=True)
        else:
            self.note("This PyTorch has no scaled_dot_product_attention: attention is timed as product, softmax, product.")
            mask = torch.full((sequence, sequence), float("-inf"), device=self.device.torch, dtype=kind).triu(1)
            scale = head_dim ** -0.5
            work = lambda: torch.matmul(torch.softmax(torch.matmul(q, k.transpose(-2, -1)) * scale + mask, -1), v)
        flops = 2.0 * batch * heads * sequence * sequence * head_dim  # two products over the pairs that the mask leaves
        with torch.no_grad():
            samples = self.timed(work, "attention", precision, flops)
        self.add(samples, what="attention", precision=precision, batch=batch, heads=heads, sequence=sequence,
                 head_dim=head_dim, causal=True, fused=bool(fused), flops=flops, bytes=4.0 * width * size)

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
            began = time.perf_counter()
            for _ in range(200):
                a.add_(1)
            samples.append((time.perf_counter() - began) / 200)
            self.device.wait()
        self.add(samples[1:], what="launch", operation="launch")

    # -- copies --------------------------------------------------------------------------------------------------------
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

    def all_agree(self, own):
        import torch.distributed as dist
        flag = torch.tensor([1.0 if own else 0.0], device=self.device.torch)
        dist.all_reduce(flag, op=dist.ReduceOp.MIN)
        return bool(flag.item())

    # -- collectives ---------------------------------------------------------------------------------------------------
    def collective(self, operation, size):
        """Every rank times every call; the shortest is the collective's, the others also waited for it to begin."""
        import torch.distributed as dist
        count = max(1, size // 4 // self.world) * self.world
        whole = part = other = None
        try:  # on the CPU the ranks of a node share its memory
            self.room(3.0 * 4 * count * (1 if self.device.is_gpu else self.local_world))
            whole = torch.zeros(count, device=self.device.torch)
            part = torch.zeros(count // self.world, device=self.device.torch)
            other = torch.empty_like(whole) if operation == "all_to_all" else None
            has_room = True
        except (Unavailable, RuntimeError, MemoryError):
            has_room = False
        if not self.all_agree(has_room):  # a rank that left alone would leave the others waiting
            del whole, part, other
            raise Unavailable("does not fit into free memory of all ranks")
        try:
            if operation == "all_reduce":
                work = lambda: dist.all_reduce(whole)
            elif operation == "all_to_all":
                work = lambda: dist.all_to_all_single(other, whole)
            elif operation == "all_gather":
                parts = list(whole.chunk(self.world))
                into = getattr(dist, "all_gather_into_tensor", None) if self.backend == "nccl" else None
                work = (lambda: into(whole, part)) if into else (lambda: dist.all_gather(parts, part))
            else:
                parts = list(whole.chunk(self.world))
                into = getattr(dist, "reduce_scatter_tensor", None) if self.backend == "nccl" else None
                work = (lambda: into(part, whole)) if into else (lambda: dist.reduce_scatter(part, parts))
            work()
        except (RuntimeError, AttributeError, NotImplementedError) as problem:
            raise Unavailable("%s has no such collective (%s)" % (self.backend, str(problem).splitlines()[0][:80]))
        self.device.wait()
        repeats = 5 if self.options.quick else 10
        rate = self.rates.get(("collective", operation))
        inner = 1 if size > MIB else 4
        if rate and size / rate * repeats * inner > self.most:
            repeats = 5
        mine = torch.zeros(repeats, dtype=torch.float64)
        for i in range(repeats):
            self.device.wait()
            began = time.perf_counter()
            for _ in range(inner):
                work()
            self.device.wait()
            mine[i] = (time.perf_counter() - began) / inner
        first, total = mine.clone().to(self.device.torch), mine.clone().to(self.device.torch)
        dist.all_reduce(first, op=dist.ReduceOp.MIN)
        dist.all_reduce(total, op=dist.ReduceOp.SUM)
        samples = first.cpu().tolist()
        self.rates[("collective", operation)] = count * 4 / min(samples)
        if self.rank == 0:
            self.add(samples, what="collective", operation=operation, ranks=self.world, nodes=self.nodes,
                     bytes=float(count * 4), mean_s=float(total.mean()) / self.world)

    # -- storage -------------------------------------------------------------------------------------------------------
    def storage(self, size, block):
        folder = self.options.path
        free = shutil.disk_usage(folder).free
        if free < 4 * size:
            raise Unavailable("%s has too little free space" % folder)
        data = os.urandom(block)  # no drive compresses it
        file, name = tempfile.mkstemp(prefix="trainyard-probe-", dir=folder)
        try:
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
                self.note("Reads of %s came from the host's page cache, not from the drive: they are marked so." % folder)
            self.add([cold], what="storage", operation="read", bytes=float(written), block_bytes=block,
                     filesystem=kind, cached=cached)
        finally:
            os.close(file)
            os.unlink(name)

    # -- in which order ------------------------------------------------------------------------------------------------
    def precisions(self):
        """Those that a small product runs in; why the others do not is said."""
        names = ["bf16", "fp32", "fp16"]
        if self.device.is_gpu:
            names = ["bf16", "fp16", "fp8", "tf32", "fp32"]
        found = []
        for name in names:
            try:
                if name == "tf32" and (getattr(torch.version, "hip", None) or torch.cuda.get_device_capability()[0] < 8):
                    raise Unavailable("the GPU has no such unit")
                self.gemm(name, 256, 256, 256)
                found.append(name)
            except (Unavailable, RuntimeError, TypeError, ValueError) as problem:
                self.skip("gemm in " + name, str(problem).splitlines()[0][:120])
        return found

    def rounds(self, precisions):
        """Rounds of points, each finer than the one before: (explanation, [(what, function, arguments)])."""
        gpu, first = self.device.is_gpu, precisions[:2]
        big = [(8192, 4096), (4096, 8192)] if gpu else [(1024, 512), (512, 1024)]
        fine = [(2048, 1024), (2048, 4096), (8192, 8192), (16384, 4096), (1024, 12288), (4096, 16384)] if gpu else \
            [(256, 256), (2048, 256), (2048, 512), (1024, 768), (2048, 1024), (512, 2048), (2048, 2048)]
        sizes = [1 << 10, 8 * MIB, 64 * MIB, 256 << 10, 256 * MIB, 32 << 10, 2 * MIB, 1 << 30]
        sizes = [s for s in sizes if s <= (1 << 30 if gpu else 64 * MIB)]
        disk = (256 if gpu else 96) * MIB >> (2 if self.options.quick else 0)

        def layers(shapes, kinds):
            return [("gemm", self.gemm, (p, t, n, k)) for p in kinds for t, h in shapes
                    for n, k in ((3 * h, h), (h, h), (4 * h, h), (h, 4 * h))]

        def heads(shapes, kinds):
            kinds = [p for p in kinds if p in ("bf16", "fp16")] if gpu else kinds[:2]
            return [("attention", self.attention, (p,) + shape) for p in kinds[:1] + kinds[1:] for shape in shapes]

        def together(operations, chosen):
            return [("collective", self.collective, (o, s)) for s in chosen for o in operations] if self.world > 1 else []

        def moved(chosen):
            return [("memory", self.memory, (o, s)) for s in chosen for o in ("copy", "add")]

        def across(chosen):
            return [("copy", self.copy, (d, s)) for s in chosen for d in ("host_to_gpu", "gpu_to_host", "gpu_to_gpu")]

        yield "what a plan needs first: collectives, products of a layer, memory, the drive, copies", \
            together(["all_reduce", "all_to_all"], sizes[:3]) + layers(big[:1], first) + moved(
                [256 * MIB, 128 * MIB, 512 * MIB]) + [
                ("storage", self.storage, (disk, 8 * MIB)), ("launch", self.launch, ())] + across([64 * MIB]) + heads(
                [(1, 32, 4096, 128)] if gpu else [(1, 16, 512, 64)], first)
        yield "the other shapes of layers, and sizes between", \
            layers(big[1:] + fine[:2], first) + together(
                ["all_reduce", "all_to_all", "all_gather", "reduce_scatter"], sizes[3:5]) + across([256 * MIB, MIB, 16 * MIB]) + heads(
                [(4, 32, 4096, 128), (1, 32, 8192, 128), (8, 16, 4096, 64), (2, 32, 4096, 128)] if gpu else
                [(1, 4, 1024, 64), (2, 8, 512, 64), (1, 8, 512, 128), (1, 8, 1024, 64)], first) + [
                ("storage", self.storage, (disk, block)) for block in (MIB, 8 * MIB, MIB, 8 * MIB)]
        if not self.options.quick:
            yield "finer grids, for better averages", \
                layers(fine[2:], first) + layers(big + fine[:2], precisions[2:]) + together(
                    ["all_gather", "reduce_scatter", "all_reduce", "all_to_all"], sizes[:3] + sizes[5:]) + moved(
                    [MIB, 8 * MIB, 64 * MIB]) + heads(
                    [(8, 32, 2048, 128), (1, 16, 16384, 128), (16, 16, 1024, 64), (2, 32, 4096, 256)] if gpu else
                    [(1, 16, 1024, 64), (4, 4, 512, 64), (2, 4, 1024, 64)], first) + [
                    ("storage", self.storage, (disk * 2, 4 * MIB))]

    def goes_on(self, is_shared):
        """Whether there is time; of a collective rank 0 decides for all."""
        go = self.left() > 0
        if is_shared:
            import torch.distributed as dist
            flag = torch.tensor([1.0 if go else 0.0], device=self.device.torch)
            dist.broadcast(flag, 0)
            go = bool(flag.item())
        return go

    def measure(self):
        self.say("Trying the precisions of products, to see which this machine has.")
        precisions = self.precisions() if self.rank == 0 else []
        if self.rank == 0 and not precisions:
            self.note("No precision of products works here.")
        for explanation, points in self.rounds(precisions or ["fp32"]):
            self.say("Measuring %s." % explanation)
            told = ""
            for what, function, arguments in points:
                is_shared = what == "collective"
                if self.rank != 0 and not is_shared:
                    continue  # one rank measures what is its own: others would take memory and drive from it
                if not self.goes_on(is_shared):
                    if self.rank == 0:
                        if self.ended == "complete":
                            self.ended = "time"
                            self.say("The time is used up; what is left would have made it finer.")
                        self.skip(what, "no time was left")
                        if is_shared:
                            return
                        continue
                    return
                if what != told:
                    self.say(WHY[what])
                    told = what
                try:
                    function(*arguments)
                except Unavailable as problem:
                    self.skip(what, str(problem))
                except (RuntimeError, OSError, MemoryError) as problem:
                    if is_shared:
                        raise  # the others would wait for this rank
                    self.skip(what, str(problem).splitlines()[0][:120])

    # -- the file ------------------------------------------------------------------------------------------------------
    def machine(self):
        found = {"host": "" if self.options.anonymous else socket.gethostname(),
                 "system": "%s %s" % (platform.system(), platform.machine()), "python": platform.python_version(),
                 "torch": torch.__version__, "device": "gpu" if self.device.is_gpu else "cpu", "world": self.world,
                 "nodes": self.nodes, "ranks_per_node": self.local_world, "backend": self.backend,
                 "cpu": {"name": cpu_name(), "cores": os.cpu_count() or 1, "threads": torch.get_num_threads(),
                         "memory_bytes": memory_bytes()}, "devices": []}
        if self.device.is_gpu:
            found["cuda"], found["hip"] = torch.version.cuda or "", getattr(torch.version, "hip", None) or ""
            found["driver"] = driver_version()
            for i in range(torch.cuda.device_count()):
                of = torch.cuda.get_device_properties(i)
                found["devices"].append({"name": of.name, "memory_bytes": of.total_memory,
                                         "multiprocessors": of.multi_processor_count})
        return found

    def write(self, ended):
        if self.rank != 0:
            return
        with self.lock:
            samples = list(self.samples)
        result = {"format": "trainyard.probe", "version": 1,
                  "made": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                  "seconds": round(time.monotonic() - BEGAN, 1), "ended": ended, "machine": self.machine(),
                  "samples": samples, "notes": list(self.notes),
                  "skipped": [{"what": w, "reason": r, "count": n} for (w, r), n in list(self.skipped.items())]}
        folder = os.path.dirname(os.path.abspath(self.options.out))
        file, name = tempfile.mkstemp(prefix=".trainyard-probe-", suffix=".tmp", dir=folder)
        try:
            with os.fdopen(file, "w", encoding="utf-8") as out:
                # a sample a line, so that people can read it
                samples_text = ",\n".join(json.dumps(s) for s in result.pop("samples"))
                head = json.dumps(result, indent=1)
                out.write(head[:-2] + ',\n "samples": [\n' + samples_text + "\n ]\n}\n")
                out.flush()
                os.fsync(out.fileno())
            os.chmod(name, 0o644)
            os.replace(name, self.options.out)
        except BaseException:
            if os.path.exists(name):
                os.unlink(name)
            raise


WHY = {
    "gemm": "Matrix products of transformer layers: most of a training step.",
    "attention": "Causal attention, forward.",
    "memory": "Copies and sums inside the device's memory: what norms, residuals and optimizers are bound by.",
    "copy": "Copies between host and GPU, pinned, both ways: what offloading is bound by.",
    "collective": "Collectives over all ranks, small to large: latency and bandwidth of the links.",
    "storage": "A temporary file, written with fsync and read back: what checkpoints and offloading to drives see.",
    "launch": "Launching empty kernels: the host's part of a step.",
}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, help="it ends after so many, whatever happens (default 2)")
    parser.add_argument("--out", default="probe.json", help="the file to write (default probe.json)")
    parser.add_argument("--path", default=".", help="folder whose drive is measured (default: this one)")
    parser.add_argument("--quick", action="store_true", help="two coarse rounds only, fewer repeats")
    parser.add_argument("--anonymous", action="store_true", help="leaves the host's name out")
    options = parser.parse_args()
    if not 0.05 <= options.minutes <= 60:
        parser.error("--minutes has to be between 0.05 and 60")
    if not os.path.isdir(options.path):
        parser.error("--path has to be a folder: %s is none" % options.path)

    if os.environ.get("RANK", "0") == "0":  # which writes; before anything is measured
        folder = os.path.dirname(os.path.abspath(options.out))
        if os.path.isdir(options.out) or not os.path.isdir(folder) or not os.access(folder, os.W_OK):
            parser.error("--out has to be a file in a folder that can be written: %s" % options.out)

    probe = Probe(options)

    def out_of_time():
        # One kernel or collective hangs: what was measured is written, and the process ends here.
        probe.write("hung")
        if probe.rank == 0:
            print("The probe ended by its own clock; a point did not come back.", flush=True)
        os._exit(0 if probe.samples or probe.rank != 0 else 3)

    clock = threading.Timer(max(0.5, BEGAN + probe.limit - 1 - time.monotonic()), out_of_time)
    clock.daemon = True
    clock.start()
    name = torch.cuda.get_device_name() if probe.device.is_gpu else cpu_name()
    probe.say("Probing %s with PyTorch %s, %d rank%s, for at most %g minutes."
              % (name, torch.__version__, probe.world, "" if probe.world == 1 else "s", options.minutes))
    try:
        probe.measure()
    except KeyboardInterrupt:
        clock.cancel()
        probe.write("interrupted")
        probe.say("Interrupted: the %d points before are in %s." % (len(probe.samples), options.out))
        return 130
    except Exception as problem:  # points of minutes are not to be lost with one that fails
        clock.cancel()
        reason = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        probe.note("Rank %d ended early: %s" % (probe.rank, reason))
        probe.write("failed")
        print("The probe failed (%s); the %d points before are in %s." % (reason, len(probe.samples), options.out),
              file=sys.stderr, flush=True)
        os._exit(1)  # other ranks may wait in a collective: so would the end of the process group
    clock.cancel()
    probe.write(probe.ended)
    probe.say("%d points are in %s. `trainyard-cli import %s` reads it." % (len(probe.samples), options.out, options.out))
    if probe.world > 1:
        torch.distributed.barrier()  # all ranks end together: who leaves first would break the connections of the others
    return 0


if __name__ == "__main__":
    sys.exit(main())
