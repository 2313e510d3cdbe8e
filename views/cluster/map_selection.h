#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is selected, focused or carried on the map: small values that gestures make and painters show.

#include "core/facts/cluster/edits.h"

#include <vector>

namespace trainyard {

/// One thing of the map that can be selected, focused and edited.
struct MapItem {
    enum class Kind { None, Island, Pool, Gpus, Link };
    Kind kind = Kind::None;
    int island = -1, pool = -1;
    /// Gpus
    int firstGpu = 0, gpus = 0;
    /// Link
    int link = -1;
    bool operator==(const MapItem &) const = default;
};

using MapSelection = std::vector<MapItem>;

/// GPUs in the hand of a drag, by mouse or by keyboard.
struct Carry {
    /// empty: `amount` GPUs of whatever pools of `island`
    std::vector<GpuSelection> what;
    int island = -1, amount = 0;
    bool operator==(const Carry &) const = default;

    [[nodiscard]] bool isEmpty() const { return what.empty() && amount == 0; }
    [[nodiscard]] int gpus() const
    {
        int sum = what.empty() ? amount : 0;
        for (const GpuSelection &part : what)
            sum += part.gpus;
        return sum;
    }
};

} // namespace trainyard
