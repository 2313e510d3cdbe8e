// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/prefetch.h"

#include <algorithm>
#include <limits>

namespace trainyard {

Seconds loadStall(const std::vector<ReturningModule> &modules, const LoadWay &way)
{
    std::vector<Seconds> groupStarts; // of groups with something to load, as the backward reaches them
    int group = std::numeric_limits<int>::min();
    Seconds now, loaded = Seconds {} - way.handOver, stall;
    for (std::size_t i = modules.size(); i-- > 0;) {
        const ReturningModule &module = modules[i];
        if (module.offloaded.value > 0) {
            if (groupStarts.empty() || module.group != group)
                groupStarts.push_back(now);
            group = module.group;
            const auto ahead = static_cast<std::size_t>(std::max(1, way.ahead)), own = groupStarts.size() - 1;
            const Seconds asked = own >= ahead ? groupStarts[own - ahead] : Seconds {} - way.handOver;
            loaded = std::max(loaded, asked) + module.offloaded / way.read;
            const Seconds wait = std::max(Seconds {}, loaded - now);
            stall += wait;
            now += wait;
        }
        now += module.backward;
    }
    return stall;
}

} // namespace trainyard
