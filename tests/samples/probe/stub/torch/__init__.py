# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of PyTorch as the probe asks for, with a GPU and a clock of its own, both steered by tests. The GPU works off
its queue beside the host: launching costs the host `gpu.launching`, a kernel starts when it is launched and the ones
before are done, and its clock is slow until it has worked for `gpu.ramp` seconds without a pause of `gpu.falls`.
Without `gpu.is_there` it is a processor in real time, whose work takes none."""

import contextlib
import ctypes
import math
import os
import time as real_time
import types

if os.environ.get("STUB_IMPORT_HANGS") == "lock":  # in C, with Python's lock in hand
    ctypes.PyDLL(None).sleep(1000)
elif os.environ.get("STUB_IMPORT_HANGS"):
    real_time.sleep(1000)

__version__ = "2.9.0+stub"


class Dtype:
    def __init__(self, name, size):
        self.name, self.size = name, size


float64, float32, int32 = Dtype("float64", 8), Dtype("float32", 4), Dtype("int32", 4)
float16, bfloat16, uint8 = Dtype("float16", 2), Dtype("bfloat16", 2), Dtype("uint8", 1)
float8_e4m3fn, float8_e5m2 = Dtype("float8_e4m3fn", 1), Dtype("float8_e5m2", 1)
float8_e4m3fnuz, float8_e5m2fnuz = Dtype("float8_e4m3fnuz", 1), Dtype("float8_e5m2fnuz", 1)
version = types.SimpleNamespace(cuda="12.8", hip=None)


class Clock:
    """Seconds of the host: what modules call `time`."""

    now = 0.0

    def perf_counter(self):
        return self.now

    monotonic = perf_counter

    def sleep(self, seconds):
        self.now += seconds


clock = Clock()


class Gpu:
    is_there = False
    name, arch, capability = "Stub GPU", "", (9, 0)
    launching = 5e-6  # seconds of the host
    hiccups = 0.0  # more of it, every hundredth launch
    ramp, falls, idle_clock = 0.2, 0.05, 0.3
    rate, bandwidth = 500e12, 3e12  # FLOP/s, B/s
    settles, keeps = 3.0, 1.0  # after so many seconds of work the clock keeps this share of itself
    free_at = busy_since = 0.0
    launches, calls = 0, ()

    def launch(self, seconds):
        self.launches += 1
        clock.now += self.launching + (self.hiccups if self.launches % 100 == 0 else 0)
        start = max(self.free_at, clock.now)
        if start > self.free_at + self.falls:
            self.busy_since = start
        worked = start - self.busy_since
        speed = self.idle_clock if worked < self.ramp else self.keeps if worked > self.settles else 1.0
        self.free_at = start + seconds / speed

    def true_seconds(self, flops, traffic=0.0):
        return 1e-6 + max(flops / self.rate, traffic / self.bandwidth)


gpu = Gpu()


def work(flops, traffic=0.0):
    if gpu.is_there:
        gpu.launch(gpu.true_seconds(flops, traffic))


class Tensor:
    def __init__(self, shape, dtype=float32, values=None):
        self.shape, self.dtype, self.values = tuple(shape), dtype, values

    def numel(self):
        return math.prod(self.shape)

    def bytes(self):
        return self.numel() * self.dtype.size

    def element_size(self):
        return self.dtype.size

    def to(self, dtype):
        return Tensor(self.shape, dtype, self.values)

    def t(self):
        return Tensor(self.shape[::-1], self.dtype)

    def transpose(self, a, b):
        shape = list(self.shape)
        shape[a], shape[b] = shape[b], shape[a]
        return Tensor(shape, self.dtype)

    def view(self, *shape):
        return Tensor(shape, self.dtype)

    def triu(self, _):
        return self

    def requires_grad_(self, _):
        return self

    def pin_memory(self):
        return self

    def chunk(self, parts):
        return [Tensor([self.numel() // parts], self.dtype) for _ in range(parts)]

    def copy_(self, other, non_blocking=False):
        work(0, 2 * self.bytes())

    def add_(self, _):
        work(0, 2 * self.bytes())

    def tolist(self):
        cuda.synchronize()
        return list(self.values)

    def item(self):
        cuda.synchronize()
        return self.values[0]


def made(*shape, device=None, dtype=float32):
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return Tensor(shape, dtype, [0.0] * shape[0] if len(shape) == 1 and shape[0] < 1000 else None)


randn = empty = ones = zeros = made


def full(shape, _, device=None, dtype=float32):
    return Tensor(shape, dtype)


def tensor(values, dtype=float32, device=None):
    return Tensor([len(values)], dtype, list(values))


def like(other):
    return Tensor(other.shape, other.dtype, None if other.values is None else [0.0] * len(other.values))


ones_like = empty_like = zeros_like = like


def product(a, b, out=None):
    batch, m, k, n = math.prod(a.shape[:-2]), a.shape[-2], a.shape[-1], b.shape[-1]
    assert b.shape[-2] == k, "shapes %s and %s" % (a.shape, b.shape)
    assert out is None or out.shape == (m, n), "result of %s" % (out.shape,)
    work(2.0 * batch * m * n * k, a.bytes() + b.bytes() + 2.0 * batch * m * n)
    return Tensor(a.shape[:-1] + (n,), a.dtype)


mm = bmm = matmul = product


def softmax(a, _):
    return a


def add(a, b, out=None):
    work(0, 3 * a.bytes())


scaled = []  # (formats, fast accumulation) of every product of 8 bits


def _scaled_mm(a, b, scale_a, scale_b, out_dtype, use_fast_accum=False):
    scaled.append((a.dtype.name, b.dtype.name, use_fast_accum))
    return product(a, b)


def grouped_mm(a, b, offs):
    assert offs.values[-1] == a.shape[0] and len(offs.values) == b.shape[0]
    work(2.0 * a.shape[0] * a.shape[1] * b.shape[2])


def scaled_dot_product_attention(q, k, v, is_causal):
    work(2.0 * math.prod(q.shape[:3]) * q.shape[2] * q.shape[3])
    return Tensor(q.shape, q.dtype)


def grad(result, of, gradient, retain_graph):
    work(5.0 * math.prod(result.shape[:3]) * result.shape[2] * result.shape[3])


nn = types.SimpleNamespace(functional=types.SimpleNamespace(
    scaled_dot_product_attention=scaled_dot_product_attention, grouped_mm=grouped_mm))
autograd = types.SimpleNamespace(grad=grad)
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)))
no_grad = enable_grad = contextlib.nullcontext


def device(kind, index=0):
    return types.SimpleNamespace(type=kind, index=index)


def get_num_threads():
    return 1


class Event:
    at = None

    def __init__(self, enable_timing):
        pass

    def record(self):
        self.at = max(gpu.free_at, clock.now)

    def query(self):
        return clock.now >= self.at

    def synchronize(self):
        clock.now = max(clock.now, self.at)

    def elapsed_time(self, other):
        return (other.at - self.at) * 1e3


def synchronize():
    clock.now = max(clock.now, gpu.free_at)


cuda = types.SimpleNamespace(
    is_available=lambda: gpu.is_there, device_count=lambda: 1, set_device=lambda _: None, synchronize=synchronize,
    empty_cache=lambda: None, mem_get_info=lambda: (80 << 30, 80 << 30), Event=Event, _sleep=lambda cycles: gpu.launch(
        cycles / 2e9), get_device_capability=lambda: gpu.capability, get_device_name=lambda: gpu.name,
    get_device_properties=lambda _: types.SimpleNamespace(name=gpu.name, total_memory=80 << 30,
                                                          multi_processor_count=132, gcnArchName=gpu.arch))
