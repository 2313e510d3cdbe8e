#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The 2K - 1 units of a mini-batch of a model that is cut into K shards: what each needs, what travels for it, how long
// it takes. Forward of shard k < K - 1: its weights as they are computed with, in and out again (Hydra's release
// writes them back too). The last shard's forward and backward are one. A backward brings the input of its shard that
// the forward left in host memory, runs its forward again, and updates: weights with optimizer states, both ways.
//   forward k             t = F(k)
//   last                  t = F(K-1) + B(K-1) + update + the host's work on a mini-batch
//   backward k            t = F(k) + B(k) + update

#include "core/iteration/job_shards/shard_model.h"

namespace trainyard {

[[nodiscard]] std::vector<JobUnit> unitsOf(ShardModel &model, const std::vector<Pieces> &shards);
/// Of each of them on that kind of GPU.
[[nodiscard]] std::vector<double> unitSecondsOf(ShardModel &model, const std::vector<Pieces> &shards, std::size_t kind);

/// The most boundaries that lie in host memory at once.
[[nodiscard]] double mostBoundaries(const std::vector<JobUnit> &units);

} // namespace trainyard
