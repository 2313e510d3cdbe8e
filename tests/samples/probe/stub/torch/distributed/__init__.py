# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of one real rank, whose others do as it does, or of which some never come (`absent`, STUB_ABSENT)."""

import os
import time
import types

import torch

absent = [int(rank) for rank in os.environ.get("STUB_ABSENT", "").split(",") if rank]
hangs = os.environ.get("STUB_HANGS", "")  # the call that does not come back
fails_at = 0  # the collective of this number raises
collectives = []  # (operation, size, ranks)
new_groups = []
ReduceOp = types.SimpleNamespace(MIN="min", MAX="max", SUM="sum")
group = types.SimpleNamespace(WORLD=None)
hosts = None
was_destroyed = False


class TCPStore:
    def __init__(self, host, port, world, is_master, timeout, wait_for_workers):
        assert not wait_for_workers
        if hangs == "store":
            time.sleep(1000)
        self.world, self.values = world, {}

    def add(self, key, amount):
        if amount == 0 and key in ("came", "done", "left"):
            return self.world - len(absent) - (key == "left")
        if amount == 0 and key.startswith("here/"):
            return 0 if int(key[5:]) in absent else 1
        self.values[key] = self.values.get(key, 0) + amount
        return self.values[key]


def PrefixStore(prefix, store):
    return store


def is_available():
    return True


is_nccl_available = is_available


def init_process_group(backend, store, rank, world_size, timeout):
    assert not absent
    globals()["world"] = world_size


def all_gather_object(into, own):
    into[:] = hosts or [own] * len(into)


def new_group(ranks):
    new_groups.append(list(ranks))
    return ranks


def destroy_process_group():
    globals()["was_destroyed"] = True


def called(operation, size, ranks):
    collectives.append((operation, size, len(ranks) if ranks else world))
    if hangs == operation:
        time.sleep(1000)
    if len(collectives) == fails_at:
        raise RuntimeError("Connection closed by peer")
    if torch.gpu.is_there:
        torch.gpu.launch(20e-6 + size / 200e9)


def all_reduce(one, op=None, group=None):
    called("all_reduce", one.bytes(), group)


def all_to_all_single(into, one, group=None):
    called("all_to_all", one.bytes(), group)


def all_gather(into, one, group=None):
    called("all_gather", one.bytes() * len(into), group)
    for each in into:
        each.values = one.values


def reduce_scatter(into, parts, group=None):
    called("reduce_scatter", into.bytes() * len(parts), group)


def all_gather_into_tensor(into, one, group=None):
    called("all_gather", into.bytes(), group)


def reduce_scatter_tensor(into, one, group=None):
    called("reduce_scatter", one.bytes(), group)


def send(one, to):
    called("send", one.bytes(), (0, 1))


def recv(one, of):
    called("recv", one.bytes(), (0, 1))
