#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// When the GPUs of a training plan have nothing to compute: the bubbles that prefill may use. Read from a simulated
// timeline; pure functions of values. An iteration repeats, so a window may run on from its end into the next one; the
// run of some jobs does not.

#include "core/engine/timeline/timeline.h"
#include "core/iteration/placement/layout.h"

#include <vector>

namespace trainyard {

struct FreeWindow { // half-open; starts inside the iteration, ends in the next one where it wraps around
    Nanoseconds start = 0, end = 0;
    [[nodiscard]] Nanoseconds length() const { return end - start; }
    auto operator<=>(const FreeWindow &) const = default;
};

/// GPUs whose compute streams are alike: one stage of a class of equal pipelines.
struct AdmissionWindows {
    int pipelineClass = 0, stage = 0;
    StageLocation location;
    int gpus = 0;
    /// in order of start, disjoint on the circle of the iteration
    std::vector<FreeWindow> windows;
    /// their sum
    Nanoseconds idle = 0;
};

/// What follows a timeline: the same again, or nothing.
enum class Afterwards : std::uint8_t { Again, Nothing };

struct FreeWindows {
    /// the iteration, or the whole run
    Nanoseconds period = 0;
    Afterwards afterwards = Afterwards::Again;
    std::vector<AdmissionWindows> locations;
};

/// Gaps of every compute stream, exposed transfers and collectives included; `gpusPerLocation`: tensor x context, where
/// a location has no tensor parallel degree of its own.
[[nodiscard]] FreeWindows freeWindows(const Timeline &timeline, const Layout &layout, int gpusPerLocation,
    int context = 1, Afterwards afterwards = Afterwards::Again);

/// What of the windows a slice may use, `guard` before the training that follows kept free.
[[nodiscard]] std::vector<FreeWindow> usable(const std::vector<FreeWindow> &windows, Nanoseconds guard);

} // namespace trainyard
