#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a replica holds beside its states where micro-batches go through it layer by layer: counted once, for who deals
// shares and for who judges a plan without its timeline. Bytes on one GPU; docs/model.md, "Mixed GPUs".

#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// The fullest layer at work, of micro-batches as the workload has them. The last layer is not recomputed, since its
/// backward follows its own forward. Of inputs of layers that leave for the host a few are on their way.
[[nodiscard]] double layeredWork(const Workload &view);

/// What each micro-batch keeps from forward to backward: of all layers but the last, which is backward at once, less
/// what leaves for the host.
[[nodiscard]] double layeredKept(const Workload &view);

} // namespace trainyard
