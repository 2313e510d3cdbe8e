#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A recording of single kernels and collectives of a dense model on tensor and data parallel ranks, as machines would
// leave it that are what the plan's calibration says: every product, attention and element-wise kernel of every layer
// under a name as libraries give it, collectives of many sizes, gaps of the host. Laid out by hand from the equations
// of docs/model.md (machine_equations.h); with what fits it shares the catalogue's constants, counts of parameters and
// where ranks are.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/telemetry/recording.h"
#include "tests/core/runs/overlay/recorded_run.h"

#include <string>
#include <vector>

namespace trainyard::test {

struct KernelRunOptions {
    int steps = 11;
    unsigned seed = 1;
    double noise = 0.05; // of the logarithm of each duration
    double outlierShare = 0.01, outlierFactor = 5;
    double clockOffset = 5e7, clockDrift = 2e-5;
    bool hasSmallMessages = true; // what frameworks exchange beside the plan's model: norms, losses, counters
    int straggler = -1; // rank whose kernels take a third longer
};

struct KernelRun {
    Recording recording, onTrueClock; // as the ranks' own clocks show it, and had all of them been right
    std::vector<TrueRank> ranks; // how wrong they are
    double middle = 0; // ns: TrueRank::shown
    std::vector<double> stepSeconds;
    double kernelSeconds = 0; // of one rank and step, without noise
};

/// Of a plan with one stage, whose truth is in its calibration.
[[nodiscard]] KernelRun recordKernels(const Evaluation &truth, const KernelRunOptions &options);

} // namespace trainyard::test
