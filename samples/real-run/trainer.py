# SPDX-License-Identifier: GPL-3.0-or-later
"""One process of the run: one stage of one replica of a small transformer over the bytes of a text, trained with
PyTorch and Gloo. Two stages, one in either datacenter; gradients are reduced between the replicas of a stage.

Receives are posted a step ahead, as the channels of NCCL stand ready: Gloo sends nothing before it knows that the other
side waits, which would cost a round trip else. A message carries when it was sent and when the message before it from
the other side arrived, so that both ends know how long each transfer took (their clocks are one: it is one machine)."""

import argparse
import json
import os
import queue
import threading
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

from outputs import MegatronLog, Recorder

HEADER = 8  # elements: four int64


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attention, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def forward(self, x, mask):
        batch, length, hidden = x.shape
        parts = self.attention(self.first(x)).view(batch, length, 3, self.heads, hidden // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        scores = query @ key.transpose(-1, -2) * (hidden // self.heads) ** -0.5 + mask
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, length, hidden)
        x = x + self.out(mixed)
        return x + self.down(functional.gelu(self.up(self.second(x))))


class Stage(nn.Module):
    """The layers of one stage, with the embedding before the first or the head behind the last."""

    def __init__(self, options, stage):
        super().__init__()
        self.is_first, self.is_last = stage == 0, stage == 1
        if self.is_first:
            self.words = nn.Embedding(256, options.hidden)
            self.places = nn.Embedding(options.sequence, options.hidden)
        self.layers = nn.ModuleList(Layer(options.hidden, options.heads) for _ in range(options.layers // 2))
        if self.is_last:
            self.norm, self.head = nn.LayerNorm(options.hidden), nn.Linear(options.hidden, 256, bias=False)
        mask = torch.full((options.sequence, options.sequence), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, x, targets=None):
        if self.is_first:
            x = self.words(x) + self.places.weight
        for layer in self.layers:
            x = layer(x, self.mask)
        return functional.cross_entropy(self.head(self.norm(x)).view(-1, 256), targets.view(-1)) if self.is_last else x


class Channel:
    """Messages of equal size to and from one other rank, a step's receives posted a step ahead. Only its own threads
    call Gloo: they are never slowed down, and whoever is slowed down must not hold a lock of Gloo's, whose thread would
    turn round and round until it is given back."""

    def __init__(self, peer, group, count, elements):
        self.peer, self.group, self.count, self.elements = peer, group, count, elements
        self.outgoing = [torch.empty(elements + HEADER) for _ in range(2 * count)]
        self.incoming = [torch.empty(elements + HEADER) for _ in range(2 * count)]
        self.asked, self.posted, self.arrived = queue.SimpleQueue(), queue.SimpleQueue(), queue.SimpleQueue()
        for work in (self._call, self._wait):
            threading.Thread(target=work, daemon=True).start()

    def post(self, step):
        for i in range(self.count):
            self.asked.put((True, step % 2 * self.count + i))

    def _call(self):
        sends = {}
        while True:
            is_receive, slot = self.asked.get()
            if is_receive:
                self.posted.put((slot, dist.irecv(self.incoming[slot], self.peer, group=self.group, tag=slot)))
                continue
            # A slot is used again two steps later, when its message has been answered.
            self.outgoing[slot][-HEADER:].view(torch.int64)[0] = time.time_ns()
            sends[slot] = dist.isend(self.outgoing[slot], self.peer, group=self.group, tag=slot)

    def _wait(self):
        while True:
            slot, work = self.posted.get()
            try:
                work.wait()
            except RuntimeError as problem:  # the other side has gone: at the end of the run, or too early
                self.arrived.put((None, problem))
                return
            self.arrived.put((slot, time.time_ns()))

    def receive(self):
        """The next message, its header and when it came."""
        slot, at = self.arrived.get()
        if slot is None:
            raise at
        message = self.incoming[slot]
        return message[:-HEADER], message[-HEADER:].view(torch.int64).tolist(), at

    def send(self, step, i, tensor, answered_sent, answered_at):
        """`answered`: when the message that this one answers was sent and came."""
        slot = step % 2 * self.count + i
        message = self.outgoing[slot]
        message[:-HEADER].copy_(tensor.reshape(-1))
        message[-HEADER:].view(torch.int64).copy_(torch.tensor([0, answered_sent, answered_at, step]))
        self.asked.put((False, slot))


class Trainer:
    def __init__(self, options, settings, pipe):
        self.options = options
        self.rank, self.count = options.rank, options.micro_batches
        self.stage, self.replica = divmod(self.rank, 2)
        self.record = Recorder(self.rank, options.host, settings, pipe)
        dist.init_process_group("gloo", rank=self.rank, world_size=4, init_method="tcp://%s:29500" % options.master)
        groups = {}
        for name, ranks in (("pp_0", [0, 2]), ("pp_1", [1, 3]), ("dp_0", [0, 1]), ("dp_1", [2, 3])):
            groups[name] = dist.new_group(ranks)
            if self.rank in ranks:
                self.record.group(name, ranks)
        self.data_name, self.pair_name = "dp_%d" % self.stage, "pp_%d" % self.replica
        self.data_group = groups[self.data_name]
        torch.manual_seed(self.stage)
        self.model = Stage(options, self.stage)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.elements = options.micro_batch * options.sequence * options.hidden
        self.channel = Channel((self.rank + 2) % 4, groups[self.pair_name], self.count, self.elements)
        with open(options.text, "rb") as file:
            self.text = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).long()
        self.answers = {}  # micro-batch -> when the last message about it was sent and came
        self.channel.post(0)
        dist.barrier()

    def order(self):
        """Forwards and backwards of this stage, by the names of plans."""
        forwards, backwards = [("F", i) for i in range(self.count)], [("B", i) for i in range(self.count)]
        if self.options.schedule == "gpipe":
            return forwards + backwards
        ahead = 1 - self.stage
        mixed = [one for pair in zip(forwards[ahead:], backwards) for one in pair]
        return forwards[:ahead] + mixed + backwards[self.count - ahead:]

    def load(self, step):
        """All micro-batches of a step, the same on both stages of a replica: bytes and those that follow them."""
        begun = time.time_ns()
        draw = torch.Generator().manual_seed(step * 2 + self.replica)
        starts = torch.randint(len(self.text) - self.options.sequence - 1,
                               (self.count, self.options.micro_batch, 1), generator=draw)
        at = starts + torch.arange(self.options.sequence)
        loaded = list(zip(self.text[at], self.text[at + 1]))
        self.record.compute("load batch", begun, time.time_ns())
        return loaded

    def receive(self, i):
        """Waits for the other stage's message about a micro-batch; tells both transfers that are known by it."""
        tensor, (sent, own_sent, own_at, step), at = self.channel.receive()
        number = step * self.count + i
        self.record.transfer("recv", self.pair_name, "recv", self.elements + HEADER, number, sent, at)
        if own_at:  # gradients answer activations of their step, activations gradients of the step before
            self.record.transfer("send", self.pair_name, "send", self.elements + HEADER,
                                 number - self.stage * self.count, own_sent, own_at)
        self.answers[i] = (sent, at)
        return tensor.view(self.options.micro_batch, self.options.sequence, self.options.hidden)

    def send(self, step, i, tensor):
        self.channel.send(step, i, tensor, *self.answers.get(i, (0, 0)))

    def forward(self, step, i, words, targets):
        entering = words if self.stage == 0 else self.receive(i).requires_grad_()
        begun = time.time_ns()
        leaving = self.model(entering, targets)
        if self.stage == 0:
            self.send(step, i, leaving.detach())
        self.record.compute("forward", begun, time.time_ns())
        return entering, leaving

    def backward(self, step, i, entering, leaving):
        gradient = self.receive(i) if self.stage == 0 else torch.tensor(1 / self.count)
        begun = time.time_ns()
        leaving.backward(gradient)
        if self.stage == 1:
            self.send(step, i, entering.grad)
        self.record.compute("backward", begun, time.time_ns())
        return leaving.item() if self.stage == 1 else 0

    def reduce(self, step):
        begun = time.time_ns()
        gradients = [parameter.grad for parameter in self.model.parameters()]
        flat = torch.cat([gradient.view(-1) for gradient in gradients])
        started = time.time_ns()
        dist.all_reduce(flat, group=self.data_group)
        ended = time.time_ns()
        self.record.transfer("data parallel", self.data_name, "allreduce", len(flat), step, started, ended)
        for gradient, part in zip(gradients, flat.split([one.numel() for one in gradients])):
            gradient.copy_(part.view_as(gradient)).mul_(0.5)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.record.compute("gather gradients", begun, started)
        self.record.compute("optimizer", ended, time.time_ns())

    def step(self, step):
        kept, loss = {}, 0.0
        self.channel.post(step + 1)
        loaded = self.load(step)
        for kind, i in self.order():
            if kind == "F":
                kept[i] = self.forward(step, i, *loaded[i])
            else:
                loss += self.backward(step, i, *kept.pop(i)) / self.count
        self.reduce(step)
        return loss

    def train(self):
        """Settings of the link take turns: each a few steps, the first of which do not count."""
        options, settings = self.options, self.record.settings
        folders, settle = settings["folders"], settings["settle"]
        logs = [MegatronLog(os.path.join(folder, "train.log"), settings["arguments"]) for folder in folders] \
            if self.rank == 3 else None
        each = settle + options.steps
        for step in range(settings["warm_up"] + settings["rounds"] * len(folders) * each):
            turn, within = divmod(step - settings["warm_up"], each)
            at = max(turn, 0) % len(folders)
            if step == 0 or (turn >= 0 and within == 0):
                self.change_link(at)
                begun = time.time_ns()
            loss = self.step(step)
            ended = time.time_ns()
            counts = turn >= 0 and within >= settle
            self.record.step(step + 1, begun, ended, loss if self.stage == 1 else None, at if counts else None)
            if logs and counts:
                logs[at].step(step + 1, (ended - begun) / 1e9, loss)
            begun = ended
        for at, folder in enumerate(folders):
            self.record.write_trace(os.path.join(folder, "rank%d.trace.json" % self.rank), at)
        self.record.end()
        for log in logs or []:
            log.close()
        dist.barrier()

    def change_link(self, at):
        """Asks whoever made the link, and goes on with all others when it is done."""
        dist.barrier()
        if self.rank == 0:
            self.record.ask_for_link(at)
            os.read(self.options.go, 1)
        dist.barrier()


def slow_down(tasks, core):
    """The computing thread shares its core evenly by the scheduler's quota; threads that move data keep theirs."""
    os.sched_setaffinity(0, {core})
    if tasks >= 0:
        os.write(tasks, b"0")  # this thread


def main():
    parser = argparse.ArgumentParser()
    for name in ("rank", "core", "micro-batch", "micro-batches", "sequence", "hidden", "heads", "layers", "steps",
                 "pipe", "tasks", "go"):
        parser.add_argument("--" + name, type=int)
    for name in ("host", "master", "schedule", "text", "settings"):
        parser.add_argument("--" + name)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with open(options.settings, encoding="utf-8") as file:
        settings = json.load(file)
    trainer = Trainer(options, settings, os.fdopen(options.pipe, "w", encoding="utf-8"))
    slow_down(options.tasks, options.core)
    trainer.train()
    os._exit(0)  # Gloo's threads may wait for ever for ranks that have gone


if __name__ == "__main__":
    main()
