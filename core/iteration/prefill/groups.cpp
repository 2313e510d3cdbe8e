// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

/// GPUs one after the other until a group is full; what is left stays in `open`.
void addGpus(std::vector<InferenceGroup> &groups, std::vector<GroupMember> &open, int location, int from, int to,
    int size, bool isAligned)
{
    for (int gpu = from; gpu < to; ++gpu) {
        open.push_back({ location, gpu });
        if (int(open.size()) < size)
            continue;
        groups.push_back({ std::move(open), isAligned });
        open.clear();
    }
}

} // namespace

std::vector<InferenceGroup> formGroups(const FreeWindows &free, int size, bool chaining)
{
    std::vector<InferenceGroup> groups;
    const auto alike = [&](const AdmissionWindows &location) {
        return std::tie(location.location.datacenter, location.location.pool, location.windows);
    };
    std::map<std::tuple<int, int, std::vector<FreeWindow>>, std::vector<GroupMember>> open;
    for (int s = 0; s < int(free.locations.size()); ++s) {
        const AdmissionWindows &location = free.locations[std::size_t(s)];
        if (!location.windows.empty())
            addGpus(groups, open[alike(location)], s, 0, location.gpus, size, true);
    }
    if (!chaining)
        return groups;
    std::map<int, std::vector<GroupMember>> left; // by datacenter
    for (const auto &[key, members] : open) {
        auto &here = left[std::get<0>(key)];
        here.insert(here.end(), members.begin(), members.end());
    }
    for (auto &[datacenter, members] : left) {
        std::ranges::stable_sort(members, {}, [&](const GroupMember &m) {
            const AdmissionWindows &location = free.locations[std::size_t(m.location)];
            return std::tuple(location.stage, location.pipelineClass, m.gpu);
        });
        std::vector<GroupMember> chain;
        for (const GroupMember &member : members)
            addGpus(groups, chain, member.location, member.gpu, member.gpu + 1, size, false);
    }
    return groups;
}

} // namespace trainyard
