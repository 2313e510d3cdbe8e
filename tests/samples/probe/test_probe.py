# SPDX-License-Identifier: GPL-3.0-or-later
"""The probe on a GPU of ours, whose clock, queue and missing ranks are known (stub/torch): what it measures has to be
what the GPU really takes, and it has to end in time. `python3 test_probe.py [CLASS]`; tests/samples/tst_probe.cpp runs
it."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
STUB = os.path.join(HERE, "stub")
SCRIPT = os.path.join(HERE, "../../../samples/probe/trainyard_probe.py")
STARTING = 10  # seconds that Python may take to start and to end on a busy machine; what hangs takes a thousand


def fresh():
    """The probe and a PyTorch of ours with its clock at 0, as a new process has them."""
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]
    if STUB not in sys.path:
        sys.path.insert(0, STUB)
    spec = importlib.util.spec_from_file_location("probe", SCRIPT)
    probe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probe)
    probe.load_torch()
    import torch.distributed
    probe.time, probe.BEGAN = probe.torch.clock, 0.0
    probe.torch.gpu.is_there = True
    return probe, probe.torch


class Timing(unittest.TestCase):
    def setUp(self):
        self.probe, self.torch = fresh()
        self.device, self.gpu = self.probe.Device(0), self.torch.gpu

    def times_of(self, seconds, budget=0.75):
        self.inside = []
        queued = self.device.queued

        def watched(work, inner, ahead, **more):
            took = queued(work, inner, ahead, **more)
            self.inside.append((took, inner))
            return took
        self.device.queued = watched
        return self.device.times(lambda: self.gpu.launch(seconds), budget)

    def assert_all_near(self, samples, right, share=0.01):
        for sample in samples:
            self.assertLess(abs(sample / right - 1), share, "%g instead of %g" % (sample, right))

    def test_no_sample_is_of_an_idle_clock(self):
        for pause in (0.0, 0.04, 10.0):
            self.torch.clock.sleep(pause)
            self.assert_all_near(self.times_of(2e-3), 2e-3)

    def test_a_clock_that_takes_long_to_come_up_is_waited_for(self):
        self.gpu.ramp = 0.45
        self.assert_all_near(self.times_of(2e-3, 2.0), 2e-3)

    def test_no_launch_gap_is_inside_a_sample(self):
        self.gpu.launching = 20e-6
        self.assert_all_near(self.times_of(5e-6), 5e-6)

    def test_hosts_that_stumble_leave_no_gap_either(self):
        self.gpu.launching, self.gpu.hiccups = 5e-6, 5e-3
        self.assert_all_near(self.times_of(8e-6), 8e-6)
        self.assertTrue(any(took is None for took, _ in self.inside), "no queue ran dry: the test tests nothing")

    def test_a_millisecond_or_more_is_inside(self):
        for kernel in (2e-6, 7e-6, 1e-4, 3e-3):
            samples = self.times_of(kernel)
            counted = self.inside[-len(samples):]  # what was too short came before
            self.assertEqual([took / inner for took, inner in counted], samples)
            self.assertGreaterEqual(min(took for took, _ in counted), 1e-3)

    def test_what_cannot_be_kept_busy_is_no_sample(self):
        self.gpu.launching = 2e-3
        with self.assertRaisesRegex(self.probe.Unavailable, "launches too slowly"):
            self.times_of(2e-6)

    def test_without_a_waiting_kernel_products_keep_the_queue_full(self):
        del self.torch.cuda._sleep
        self.gpu.launching = 20e-6
        self.assert_all_near(self.times_of(5e-6), 5e-6)

    def test_under_load_the_clock_that_is_left_is_measured_without_a_pause(self):
        self.gpu.keeps = 0.8  # after 3 s
        began = self.torch.clock.now
        windows = self.device.load(lambda: self.gpu.launch(2e-3), 6.0)
        self.assertGreater(self.torch.clock.now - began, 6.0)
        self.assertLess(self.gpu.busy_since, began + 0.01)  # it has worked since, without a pause
        self.assert_all_near(self.probe.settled(windows), 2e-3 / 0.8)
        self.assert_all_near(windows[:5], 2e-3)

    def test_a_processor_has_a_millisecond_inside_too(self):
        self.gpu.is_there = False
        clock, calls = self.torch.clock, []

        def work():
            clock.now += 3e-6
            calls.append(clock.now)
        samples = self.probe.Device(0).times(work, 0.05, 5)
        self.assert_all_near(samples, 3e-6)
        self.assertGreater(len(calls), 5 * 333)

    def test_of_groups_the_shortest_rank_and_of_teams_the_median_counts(self):
        table = [[4.0, 4.0], [2.0, 3.0], [9.0, -1.0], [8.0, 7.0], [5.0, 6.0], [6.0, 6.0]]
        # repeat 0: teams take 2, 8 and 5; repeat 1 holds a queue that ran dry
        self.assertEqual(self.probe.team_times(table, [[0, 1], [2, 3], [4, 5]]), [5.0])


class Run(unittest.TestCase):
    """A whole run in the stub's time."""

    def run_of(self, world=1, arguments=(), steer=lambda probe, torch: None, rank=0, local=None):
        self.probe, self.torch = fresh()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "probe.json")
        for key, value in dict(RANK=rank, WORLD_SIZE=world, LOCAL_RANK=rank, LOCAL_WORLD_SIZE=local or world).items():
            os.environ[key] = str(value)
            self.addCleanup(os.environ.pop, key, None)
        steer(self.probe, self.torch)
        options = self.probe.options_of(["--out", self.out, "--path", self.folder.name] + list(arguments))
        self.probe.Probe.storage = lambda own, size, block: None  # a drive of real time
        self.probe.Probe.say = lambda own, text: None
        self.one = self.probe.Probe(options)
        self.status = self.probe.run(self.one)
        if rank:
            return None
        with open(self.out, encoding="utf-8") as file:
            return json.load(file)

    def of(self, written, what):
        return [sample for sample in written["samples"] if sample["what"] == what]

    def test_every_kind_of_work_of_a_step_is_measured_as_it_is(self):
        written = self.run_of(world=8, arguments=["--minutes", "10"])
        self.assertEqual((self.status, written["ended"]), (0, "complete"))
        for what in ("gemm", "gemm_dgrad", "gemm_wgrad", "gemm_grouped", "attention", "attention_backward"):
            self.assertGreaterEqual(len(self.of(written, what)), 5, what)
            for sample in self.of(written, what):
                right = self.torch.gpu.true_seconds(sample["flops"], sample["bytes"] if "gemm" in what else 0)
                if what != "gemm_grouped" and sample["precision"] != "fp32":
                    self.assertLess(abs(sample["median_s"] / right - 1), 0.02, sample)
        self.assertEqual({s["kernel"] for s in self.of(written, "sustained")}, {"gemm", "attention"})
        self.assertEqual({s["kernel"] for s in self.of(written, "gemm_grouped")}, {"grouped_mm"})
        self.assertTrue(written["timing"]["queued_ahead"])
        self.assertEqual(os.listdir(self.folder.name), ["probe.json"])
        self.assertTrue(sys.modules["torch.distributed"].was_destroyed)

    def test_sustained_points_stand_beside_their_bursts(self):
        def steer(probe, torch):
            torch.gpu.keeps = 0.8
            torch.gpu.falls = 0.01
        for sample in self.of(self.run_of(arguments=["--minutes", "10"], steer=steer), "sustained"):
            self.assertTrue(5 <= sample["seconds"] <= 10)
            self.assertLess(abs(sample["burst_s"] / sample["median_s"] - 0.8), 0.01)

    def test_minutes_hold(self):
        for minutes in (0.5, 2):
            written = self.run_of(world=8, arguments=["--minutes", str(minutes)])
            self.assertLess(self.torch.clock.now, 60 * minutes)
            self.assertIn(written["ended"], ("time", "complete"))
            self.assertGreater(len(self.of(written, "gemm")), 3)

    def test_products_of_a_layer_stand_in_the_layouts_of_its_three_passes(self):
        written = self.run_of(arguments=["--minutes", "10"])
        shapes = {what: {(s["m"], s["n"], s["k"]) for s in self.of(written, what) if s["precision"] == "bf16"}
                  for what in ("gemm", "gemm_dgrad", "gemm_wgrad")}
        tokens, hidden = 8192, 4096
        self.assertIn((tokens, 4 * hidden, hidden), shapes["gemm"])  # y[t,n] = x[t,k] W[n,k]t
        self.assertIn((tokens, hidden, 4 * hidden), shapes["gemm_dgrad"])  # dx[t,k] = dy[t,n] W[n,k]
        self.assertIn((4 * hidden, hidden, tokens), shapes["gemm_wgrad"])  # dW[n,k] = dy[t,n]t x[t,k]

    def test_products_of_8_bits_are_those_of_training(self):
        for arch, tail in (("", "fn"), ("gfx942:sramecc+", "fnuz"), ("gfx950", "fn")):
            def steer(probe, torch):
                torch.gpu.arch = arch
            written = self.run_of(arguments=["--minutes", "5", "--quick"], steer=steer)
            eight = [s for s in self.of(written, "gemm") if s["precision"] == "fp8"]
            self.assertEqual({s["format"]: s["fast_accum"] for s in eight}, {"e4m3" + tail: True})
            back = "float8_e5m2" + ("fnuz" if tail == "fnuz" else "")
            self.assertEqual(set(self.torch.scaled), {("float8_e4m3" + tail, "float8_e4m3" + tail, True),
                                                      (back, "float8_e4m3" + tail, False)})

    def test_a_pytorch_without_fast_accumulation_says_so(self):
        def steer(probe, torch):
            newer = torch._scaled_mm
            torch._scaled_mm = lambda a, b, scale_a, scale_b, out_dtype: newer(a, b, scale_a, scale_b, out_dtype)
        written = self.run_of(arguments=["--minutes", "5", "--quick"], steer=steer)
        self.assertEqual({s["fast_accum"] for s in self.of(written, "gemm") if s["precision"] == "fp8"}, {False})

    def test_without_grouped_products_batched_ones_stand_for_them(self):
        def steer(probe, torch):
            del torch.nn.functional.grouped_mm
        written = self.run_of(arguments=["--minutes", "5", "--quick"], steer=steer)
        self.assertEqual({s["kernel"] for s in self.of(written, "gemm_grouped")}, {"bmm"})
        self.assertTrue(any("bmm" in note for note in written["notes"]))

    def test_groups_smaller_than_the_world_and_sends_are_measured(self):
        def steer(probe, torch):
            sys.modules["torch.distributed"].hosts = ["a"] * 8 + ["b"] * 8
        written = self.run_of(world=16, local=8, arguments=["--minutes", "10"], steer=steer)
        found = {(s["operation"], s["ranks"], s["nodes"], s.get("groups", 1)) for s in self.of(written, "collective")}
        for one in (("all_reduce", 16, 2, 1), ("all_reduce", 8, 1, 2), ("all_reduce", 4, 1, 4), ("all_gather", 2, 2, 8),
                    ("send_recv", 2, 1, 8), ("send_recv", 2, 2, 8)):
            self.assertIn(one, found)
        self.assertIn([0, 8], sys.modules["torch.distributed"].new_groups)
        for sample in self.of(written, "collective"):
            right = 20e-6 + sample["bytes"] / 200e9  # the stub's, whatever the host takes to launch it
            self.assertLess(abs(sample["median_s"] / right - 1), 0.01, sample)

    def test_without_a_rank_that_never_comes_rank_0_measures_what_is_its_own(self):
        def steer(probe, torch):
            sys.modules["torch.distributed"].absent = [3, 5]
        written = self.run_of(world=8, arguments=["--minutes", "2"], steer=steer)
        self.assertEqual((self.status, written["machine"]["missing"]), (0, [3, 5]))
        self.assertLess(self.torch.clock.now, 120)
        self.assertTrue(any("ranks 3, 5 of 8 did not come within 40 s" in note for note in written["notes"]))
        self.assertGreater(len(self.of(written, "gemm")), 8)
        self.assertEqual(self.of(written, "collective"), [])

    def test_the_others_leave_where_a_rank_does_not_come(self):
        def steer(probe, torch):
            store = sys.modules["torch.distributed"].TCPStore
            add = store.add
            store.add = lambda own, key, amount: 2 if key == "verdict" else add(own, key, amount)
        stderr, sys.stderr = sys.stderr, open(os.devnull, "w", encoding="utf-8")
        try:
            self.run_of(world=8, rank=1, steer=steer)
        finally:
            sys.stderr.close()
            sys.stderr = stderr
        self.assertEqual(self.status, 1)
        self.assertLess(self.torch.clock.now, 120)

    def test_the_others_end_with_the_time_where_rank_0_says_nothing_more(self):
        def steer(probe, torch):
            probe.Job.answer = lambda own, key, until: 1 if key == "verdict" else torch.clock.sleep(until) or 0
        stderr, sys.stderr = sys.stderr, open(os.devnull, "w", encoding="utf-8")
        try:
            self.run_of(world=8, rank=1, steer=steer)
        finally:
            sys.stderr.close()
            sys.stderr = stderr
        self.assertEqual(self.status, 0)

    def test_where_a_collective_fails_the_rest_is_still_measured(self):
        def steer(probe, torch):
            sys.modules["torch.distributed"].fails_at = 100
        written = self.run_of(world=8, arguments=["--minutes", "2"], steer=steer)
        self.assertEqual(self.status, 0)
        self.assertTrue(any("Connection closed by peer" in note for note in written["notes"]), written["notes"])
        self.assertGreater(len(self.of(written, "gemm")), 8)
        self.assertIn("the ranks are no longer together", [one["reason"] for one in written["skipped"]])


class Ending(unittest.TestCase):
    """Processes of their own, in real time, without a GPU."""

    def start(self, seconds, **steer):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "probe.json")
        environment = dict(os.environ, PYTHONPATH=STUB, PYTHONDONTWRITEBYTECODE="1", **steer)
        if "STUB_ABSENT" in steer or "STUB_HANGS" in steer:
            environment.update(RANK="0", WORLD_SIZE="4", LOCAL_RANK="0", LOCAL_WORLD_SIZE="4")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, SCRIPT, "--minutes", str(seconds / 60), "--out", self.out, "--path", self.folder.name],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end(self):
        said, problem = self.process.communicate(timeout=60)
        self.took = time.monotonic() - self.began
        left = os.listdir(self.folder.name)
        self.assertIn(left, ([], ["probe.json"]), "files are left behind: %s; %s" % (left, problem))
        written = None
        if left:
            with open(self.out, encoding="utf-8") as file:
                written = json.load(file)
        return self.process.returncode, written, said + problem

    def test_a_pytorch_that_does_not_load_ends_in_time(self):
        self.start(4, STUB_IMPORT_HANGS="1")
        status, written, said = self.end()
        self.assertEqual((status, written), (3, None), said)
        self.assertLess(self.took, 4 + STARTING)

    def test_a_library_that_hangs_with_pythons_lock_ends_in_time_too(self):
        self.start(4, STUB_IMPORT_HANGS="lock")
        status, written, said = self.end()
        self.assertEqual((status, written), (1, None), said)
        self.assertLess(self.took, 4 + STARTING)

    def test_a_store_that_does_not_answer_ends_in_time(self):
        self.start(4, STUB_HANGS="store")
        status, _, said = self.end()
        self.assertIn("own clock", said)
        self.assertLess(self.took, 4 + STARTING)

    def test_a_collective_that_hangs_ends_in_time_with_what_was_before(self):
        self.start(6, STUB_HANGS="all_to_all")
        status, written, said = self.end()
        self.assertEqual((status, written["ended"]), (0, "hung"), said)
        self.assertGreater(len(written["samples"]), 0)
        self.assertLess(self.took, 6 + STARTING)

    def test_a_missing_rank_ends_in_time_with_what_is_rank_0s_own(self):
        self.start(6, STUB_ABSENT="2")
        status, written, said = self.end()
        self.assertEqual((status, written["machine"]["missing"]), (0, [2]), said)
        self.assertGreater(len(written["samples"]), 2)
        self.assertLess(self.took, 6 + STARTING)

    def test_told_to_end_it_writes_what_it_has_even_where_a_call_hangs(self):
        for steer in ({}, {"STUB_HANGS": "all_to_all"}):
            self.start(60, **steer)
            line = self.process.stdout.readline()
            while "Measuring" not in line:
                line = self.process.stdout.readline()
            time.sleep(0.5)
            told = time.monotonic()
            self.process.send_signal(signal.SIGTERM)
            status, written, said = self.end()
            self.assertEqual((status, written["ended"]), (130, "interrupted"), said)
            self.assertLess(time.monotonic() - told, 5)


if __name__ == "__main__":
    unittest.main()
