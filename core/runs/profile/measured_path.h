#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The critical path of a measured step: from its end back to its start, each time to what had to be over before. A
// kernel waits for what ended or was launched last before it began: the work before it on its stream, work of another
// stream of its GPU, or the call of its host. A collective waits for the rank that enters it last, and the path goes on
// there. A host waits for its GPU where it synchronises. The pieces follow each other without a gap, so that their
// times add up to the step. Derived here: docs/plan-against-run.md, "What the step waited for".

#include "core/runs/overlay/run_steps.h"

#include <array>
#include <string>

namespace trainyard {

enum class PathKind : std::uint8_t {
    Compute,
    Communication,
    Copy,
    /// kernels of no known kind
    Other,
    /// from the call of the host to the start of its kernel, with nothing before it in the way
    Launch,
    /// from the end of what it waited for to the start of a kernel that was launched in time
    Gap,
    /// of the host, with what nobody recorded
    Host
};
inline constexpr std::size_t kPathKinds = static_cast<std::size_t>(PathKind::Host) + 1;
/// "compute", "communication", …
[[nodiscard]] const char *nameOf(PathKind kind);

struct PathPiece {
    PathKind kind = PathKind::Host;
    /// of Recording::ranks
    std::uint32_t rank = 0;
    /// of the rank and of the stream; of what is launched or waits, the kernel that follows; of the host kNoIndex
    std::uint32_t stream = kNoIndex, span = kNoIndex;
    /// on the job's clock (Run::clockShift added)
    Moment start = 0, end = 0;
    bool operator==(const PathPiece &) const = default;
};

struct MeasuredPath {
    /// of the step, on the job's clock
    Moment start = 0, end = 0;
    /// In order; each begins where the one before ends. Empty: no spans show the step.
    std::vector<PathPiece> pieces;
    /// ns, by kind; they add up to end - start
    std::array<std::int64_t, kPathKinds> nanoseconds {};
    /// how often it goes on on another rank
    std::int64_t rankChanges = 0;
};
[[nodiscard]] MeasuredPath measuredPath(const Run &run, const RunStep &step);

/// What runs on the path, by name: the longest first.
struct PathShare {
    /// empty: of a kind without kernels
    std::string name;
    PathKind kind = PathKind::Host;
    std::int64_t count = 0;
    double seconds = 0;
};
[[nodiscard]] std::vector<PathShare> sharesOfPath(const Recording &recording, const MeasuredPath &path);

} // namespace trainyard
