#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the costs of an iteration lie in the duration, lag and flow classes of its graph, and which topology they ask
// for. Shared by building and updating, so that both agree on every index.

#include "core/timeline/pipeline_graph.h"

namespace trainyard {

inline constexpr std::uint32_t kOverheadDuration = 0, kNoDuration = 1, kNoLag = 0;

/// First indices of one class of pipelines.
struct ClassCosts {
    std::uint32_t ops = 0;         // durations [(device * chunks + chunk) * 5 + OpKind]
    std::uint32_t serializations = 0;       // durations [boundary * 2 + direction]
    std::uint32_t syncAndStep = 0;        // durations [device * 3 + {reduce, optimizer, gather}]
    std::uint32_t boundary = 0;    // lags [boundary * 2 + direction]
    std::uint32_t reduce = 0;      // lags [device * classes + class whose last backward is awaited]
    std::uint32_t flows = 0;       // flows [boundary * 2 + direction]
    std::uint32_t pairs = 0;       // durations, as PipelineCosts::pairs
    std::uint32_t pieces = 0;      // durations [(boundary * 2 + direction) * 2 + {scatter, gather}]; of members only
    std::uint32_t segments = 0;    // durations [segment * 5 + {forward, recompute, backward, store, load}], ops in turn
    std::uint32_t paths = 0;       // flows [device * 2 + {store, load}]
    std::uint32_t states = 0;      // durations [(device * chunks + chunk) * 5 + StateMoves::Kind], then those of the steps, device by device
    // lags: minus each duration from `ops` to `states`, from the end of a task back to its begin; where a task begins with another
    std::uint32_t begins = 0;
    std::uint32_t stepLags = 0;    // lags of the steps' tasks, device by device
};

inline constexpr std::uint32_t kTimesOfSegment = 5, kTimesOfMoves = 5;
enum SegmentTime : std::uint32_t { kSegmentForward, kSegmentRecompute, kSegmentBackward, kSegmentStore, kSegmentLoad };

[[nodiscard]] std::vector<ClassCosts> layOutCosts(const IterationCosts &costs);

/// Writes durations, lags, flows and link capacities.
void writeCosts(TaskGraph &graph, const IterationCosts &costs);

/// Equal for costs that share a topology; never 0.
[[nodiscard]] std::uint64_t topologyFingerprint(const IterationCosts &costs);

} // namespace trainyard
