#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the kernels of each kind take in a step of a rank, robustly: a kernel is known by its place in the step (the
// i-th of its name on its stream), of which the steps are samples, so that one wild kernel in a hundred is found among
// its likes and does not lengthen a sum.

#include "core/runs/overlay/run_steps.h"

#include <algorithm>
#include <array>
#include <functional>
#include <stop_token>

namespace trainyard {

/// products, attention, memory: the first of CalibratedPart
inline constexpr int kKernelParts = 3;

struct PartSeconds {
    /// of a step
    double seconds = 0;
    /// standard; 0: one step alone does not tell
    double error = 0;
    /// samples: over all steps
    int kernels = 0;
};

struct RankKernels {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    std::array<PartSeconds, kKernelParts> parts;
    /// plain sums, of each that it shows
    std::vector<std::array<double, kKernelParts>> steps;
};

/// Of each rank that shows kernels in these steps (indices into Run::steps). `likes`: of each rank of
/// Recording::ranks the number of those that do the same work, whose kernels tell which of its own are wild; -1:
/// nobody. Stopped: none.
[[nodiscard]] std::vector<RankKernels> kernelSamples(
    const Run &run, const std::vector<int> &steps, const std::vector<int> &likes, const std::stop_token &stop = {});

/// A window of a rank on its own clock.
struct StepWindow {
    std::uint32_t rank = 0;
    Moment start = 0, end = 0;
};
[[nodiscard]] std::vector<StepWindow> windowsOf(const Run &run, const RunStep &step);

/// The one in which a moment lies, of windows of one rank in order of their starts; -1: none.
template <class Windows, class Projection>
[[nodiscard]] std::ptrdiff_t windowAt(const Windows &windows, Moment moment, Projection windowOf)
{
    const auto next = std::ranges::upper_bound(
        windows, moment, {}, [&](const auto &one) -> Moment { return std::invoke(windowOf, one).start; });
    const std::ptrdiff_t at = next - windows.begin() - 1;
    return at >= 0 && moment < std::invoke(windowOf, windows[std::size_t(at)]).end ? at : -1;
}

} // namespace trainyard
