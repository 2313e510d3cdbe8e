#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The type of GPU that a pool has: one of the catalogue, or the plan's own description. Pure functions.

#include "core/facts/plan/plan.h"

#include <set>
#include <string>

namespace trainyard {

struct Catalogue;

/// Null where the catalogue does not know it.
[[nodiscard]] const GpuSpec *gpuOf(const Pool &pool, const Catalogue &catalogue);

[[nodiscard]] inline const std::string &gpuIdOf(const Pool &pool)
{
    return pool.inlineGpu ? pool.inlineGpu->id : pool.gpu;
}

/// What a description of its own is called; the catalogue's id else.
[[nodiscard]] inline const std::string &gpuNameOf(const Pool &pool)
{
    return pool.inlineGpu ? pool.inlineGpu->name : pool.gpu;
}

/// Ids of the types of which there are GPUs.
[[nodiscard]] std::set<std::string> gpuIdsOf(const Cluster &cluster);

} // namespace trainyard
