# SPDX-License-Identifier: GPL-3.0-or-later
"""Megatron-LM tells Trainyard its iterations, its timers as spans, and its losses, without a patch of its sources:

    import megatron_hook; megatron_hook.install("10.0.0.5:4318", token="…")      # before pretrain(…)

It wraps two functions of Megatron-LM: Timer.stop() of megatron.core.timers, and training_log() of
megatron.training.training, which runs at the end of every iteration on every rank. Timers tell as much as
--timing-log-level (0, 1, 2) has them measure; 2 tells of each forward, backward, send and receive. They wait for the
GPU, as they do without this.
"""
import inspect
import os
import time

from trainyard_live import Stream

ALL = {"interval-time", "forward-backward", "train/valid/test-data-iterators-setup"}  # hold others: drawn above them
COMPUTE = ("forward-compute", "backward-compute", "optimizer")
COMMUNICATION = ("send", "recv", "all-gather", "reduce", "all-grads-sync", "alltoall", "params-")


def work_of(name):
    if name in ALL:
        return "annotation"
    if any(part in name for part in COMMUNICATION):
        return "communication"
    return "compute" if name.startswith(COMPUTE) else "other"


def plain(value):
    return value.item() if hasattr(value, "item") else value


def install(address, token="", live=None, **hello):
    """`live`: a Stream that is there already. Answers the stream."""
    from megatron.core import timers
    from megatron.training import training

    rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    live = live or Stream(address, token=token, **{"rank": rank, "world_size": world, **hello})
    spans, state = [], {"began": time.time_ns(), "told": False}
    stop, log = timers.Timer.stop, training.training_log
    signature = inspect.signature(log)

    def timed_stop(timer, *args, **kwargs):
        result = stop(timer, *args, **kwargs)
        try:
            if len(spans) < 100_000:
                spans.append((timer.name, int(timer._start_time * 1e9), time.time_ns()))
        except Exception:  # training goes on
            pass
        return result

    def timed_log(*args, **kwargs):
        result = log(*args, **kwargs)
        try:
            told = signature.bind(*args, **kwargs).arguments
            tell(int(told["iteration"]), told)
        except Exception:
            pass
        return result

    def tell(number, told):
        ended = time.time_ns()
        if not state["told"]:
            state["told"] = True
            try:
                from megatron.training import get_args
                live.keep("arguments", values={key: str(value) for key, value in vars(get_args()).items()})
            except Exception:
                pass
        for stream, wanted in (("compute", "compute"), ("communication", "communication"), ("timers", "annotation"),
                               ("others", "other")):
            some = [one for one in spans if work_of(one[0]) == wanted]
            if some:
                live.send("spans", stream=stream, work=wanted, gpu_stream=wanted in ("compute", "communication"),
                          name=[one[0] for one in some], start_ns=[one[1] for one in some],
                          end_ns=[one[2] for one in some])
        spans.clear()
        if told.get("learning_rate") is not None:
            live.send("sample", name="learning_rate", unit="1", value=plain(told["learning_rate"]), step=number)
        if told.get("grad_norm") is not None:
            live.send("sample", name="grad_norm", unit="1", value=plain(told["grad_norm"]), step=number)
        for name, value in (told.get("loss_dict") or {}).items():
            live.send("sample", name="loss" if name == "lm loss" else "log." + name, unit="1", value=plain(value),
                      step=number)
        live.send("step", number=number, start_ns=state["began"], end_ns=ended)
        state["began"] = ended

    timers.Timer.stop, training.training_log = timed_stop, timed_log
    return live
