#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a replica holds beside its states where micro-batches go through it layer by layer: counted once, for who deals
// shares and for who judges a plan without its timeline. Bytes on one GPU; docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

#include <cstdint>

namespace trainyard {

/// What a count of a replica's memory takes as away: the inputs of layers where boundaries leave, and with
/// `ActivationOffload` what activation offload may let leave besides. How much that does only a timetable says.
enum class CountedAway : std::uint8_t { Boundaries, ActivationOffload };

/// The fullest layer at work, of micro-batches as the workload has them. The last layer is not recomputed, since its
/// backward follows its own forward. Of inputs of layers that leave for the host a few are on their way; so are the
/// modules of activation offload: one that is stored, and those that are loaded ahead.
[[nodiscard]] double layeredWork(const Workload &view, CountedAway away = CountedAway::Boundaries);

/// What each micro-batch keeps from forward to backward: of all layers but the last, which is backward at once, less
/// what leaves.
[[nodiscard]] double layeredKept(const Workload &view, CountedAway away = CountedAway::Boundaries);

/// Bytes of a micro-batch that leave each of the replica's layers, if activation offload lets all leave that may.
[[nodiscard]] double layeredLeaving(const Workload &view);

/// Whether SSDTrain's rule lets activations leave a layer loop, so that shares may be dealt with what that frees. MEMO,
/// KARMA and ProTrain decide by the room that a share has.
[[nodiscard]] bool offloadFreesShares(const Plan &plan);

} // namespace trainyard
