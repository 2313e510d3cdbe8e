# SPDX-License-Identifier: GPL-3.0-or-later
"""A few steps of a small model that tell Trainyard what they do: python3 train_toy.py 127.0.0.1:4318 [steps]

On one process, or under torchrun with as many as one likes (gloo where there is no GPU).
"""
import os
import sys

import torch
import torch.distributed as dist

from torch_hook import TorchHook
from trainyard_live import Stream

steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if world > 1:
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
live = Stream(sys.argv[1], rank=rank, world_size=world, run="toy", token=os.environ.get("TRAINYARD_TOKEN", ""))
hook = TorchHook(live, model, optimizer)
for number in range(steps):
    loss = model(torch.randn(64, 256, device=device)).square().mean()
    loss.backward()
    if world > 1:
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
    optimizer.step()
    optimizer.zero_grad()
    hook.step(number, loss=loss.item())
hook.close()
live.close()
