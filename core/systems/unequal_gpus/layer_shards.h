#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Uneven shares of the states, layer by layer: as long as every rank has some of its quota left a layer is sharded
// evenly, then the rank whose quota is used up is masked and later layers are divided over the others. Only layers that
// are not even pay for uneven collectives. Pure functions. docs/model.md, "Mixed GPUs".

#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard {

/// Consecutive layers that are sharded alike.
struct LayerShards {
    int layers = 0;
    std::vector<double>
        shards; // of one layer, for each entry of Shares::ranks what each of its ranks holds; adds up to 1
    bool isEven = true;

    bool operator==(const LayerShards &) const = default;
};

/// Of `layers` equal layers that hold all states. Quotas r · L in layers; in each layer min(what is left of the quota,
/// λ), the one λ for which its shards add up (released rule: within the layer in which a quota ends, ours).
[[nodiscard]] std::vector<LayerShards> layerShards(const Shares &shares, int layers);

/// Seconds of all layers: Σ over layers of max over ranks of T, with the penalty in uneven layers alone and for all
/// ranks (ours; Shares::layerTime charges a rank that cannot hold an even share in every layer, and no other).
[[nodiscard]] double layersTime(
    const ShareProblem &problem, const Shares &shares, const std::vector<LayerShards> &layers);

} // namespace trainyard
