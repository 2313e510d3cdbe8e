// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/serving_plan_internal.h"

#include "core/iteration/placement/ranks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace trainyard {

namespace {

struct Kind { // of a member: its GPU and its way to the next one
    StageLocation location;
    bool isInNode = false;
    bool operator==(const Kind &) const = default;
};

class SetupBuilder {
public:
    SetupBuilder(const Workload &workload, const std::vector<StageMemory> &memory, const BubbleService &service,
        ServingSetup &setup)
        : m_workload(workload)
        , m_memory(memory)
        , m_service(service)
        , m_setup(setup)
        , m_fill(workload.plan->bubbleFill)
    {
    }

    void build()
    {
        ServingPlan &plan = m_setup.plan;
        plan.period = simulated();
        plan.repeats = m_setup.free.afterwards == Afterwards::Again;
        plan.weightSlice = wholeBytes(servedWeights(m_service.model).value / m_fill.stages);
        plan.slo = toNanoseconds(milliseconds(m_fill.ttftSloMs));
        plan.firstTokenFromDecode = m_fill.firstTokenFromDecode;
        addGroups();
        const std::vector<int> sizes = promptSizes(m_setup.requests);
        for (const int tokens : sizes)
            plan.sizes.push_back(promptSize(tokens));
        for (const PrefillRequest &request : m_setup.requests)
            m_setup.sized.push_back(
                { request.arrival, int(std::ranges::lower_bound(sizes, request.tokens) - sizes.begin()) });
    }

private:
    /// Of a run that does not repeat so long that what would follow comes too late.
    [[nodiscard]] Nanoseconds simulated() const
    {
        const Nanoseconds period = m_setup.free.period;
        return m_setup.free.afterwards == Afterwards::Again
            ? period
            : period + toNanoseconds(milliseconds(m_fill.ttftSloMs)) + 1;
    }

    void addGroups()
    {
        std::map<std::vector<FreeWindow>, int> windows;
        const Nanoseconds guard = toNanoseconds(milliseconds(m_fill.guardMs));
        std::vector<int> windowsOf;
        for (const AdmissionWindows &location : m_setup.free.locations) {
            const auto [it, isNew] = windows.try_emplace(location.windows, int(m_setup.plan.windows.size()));
            if (isNew)
                m_setup.plan.windows.push_back(usable(location.windows, guard));
            windowsOf.push_back(it->second);
        }
        const bool isInNode = fitsTensorGroup(m_workload); // else GPUs meet over the fabric at the worst
        for (const InferenceGroup &group : m_setup.groups) {
            ServingGroup serving;
            serving.room = roomOf(m_setup.free.locations[std::size_t(group.members.front().location)]);
            for (const GroupMember &member : group.members) {
                const AdmissionWindows &location = m_setup.free.locations[std::size_t(member.location)];
                serving.room = std::min(serving.room, roomOf(location));
                serving.members.push_back({ windowsOf[std::size_t(member.location)],
                    kindOf({ location.location, group.isAligned && isInNode }) });
            }
            m_setup.plan.groups.push_back(std::move(serving));
        }
    }

    /// What training leaves on a GPU of the location, by the fullest class of its stage.
    [[nodiscard]] std::int64_t roomOf(const AdmissionWindows &location) const
    {
        const std::int64_t taken = m_memory.empty() ? 0 : m_memory.at(std::size_t(location.stage)).device;
        return m_workload.gpu(location.location).memoryBytes - taken;
    }

    int kindOf(const Kind &kind)
    {
        const auto known = std::ranges::find(m_kinds, kind);
        if (known != m_kinds.end())
            return int(known - m_kinds.begin());
        m_kinds.push_back(kind);
        return int(m_kinds.size() - 1);
    }

    [[nodiscard]] PromptSize promptSize(int tokens) const
    {
        PromptSize size;
        size.kvSlice = wholeBytes(kvCacheBytes(m_service.model, tokens).value / m_fill.stages);
        for (const Kind &kind : m_kinds)
            size.onKind.push_back(sliceOn(m_workload, m_service.model, tokens, kind.location, kind.isInNode));
        return size;
    }

    const Workload &m_workload;
    const std::vector<StageMemory> &m_memory;
    const BubbleService &m_service;
    ServingSetup &m_setup;
    const BubbleFill &m_fill;
    std::vector<Kind> m_kinds;
};

} // namespace

SliceTime sliceOn(
    const Workload &workload, const ModelSpec &served, int tokens, const StageLocation &location, bool isInNode)
{
    const BubbleFill &fill = workload.plan->bubbleFill;
    const NetworkSpec &network = builtinNetwork();
    const GpuSpec &gpu = workload.gpu(location);
    const Link fabric = fabricLink(gbitsPerSecond(workload.fabricGbps(location)), network);
    const Link decode = fill.kvGbps ? fabricLink(gbitsPerSecond(*fill.kvGbps), network) : fabric;
    return sliceTime(gpu, served, fill.stages, tokens, isInNode ? deviceLink(gpu, network) : fabric, decode);
}

bool fitsTensorGroup(const Workload &workload)
{
    const Levels tensor = tensorLevels(workload);
    return std::gcd(tensor.ranks, tensor.together) % workload.plan->bubbleFill.stages == 0;
}

std::vector<int> promptSizes(const std::vector<PrefillRequest> &requests)
{
    std::set<int> lengths;
    for (const PrefillRequest &request : requests)
        lengths.insert(request.tokens);
    if (lengths.size() <= kMostPromptSizes)
        return { lengths.begin(), lengths.end() };
    const double least = *lengths.begin(), ratio = *lengths.rbegin() / least;
    std::set<int> sizes { *lengths.rbegin() };
    for (std::size_t i = 0; i + 1 < kMostPromptSizes; ++i)
        sizes.insert(int(std::ceil(least * std::pow(ratio, double(i) / (kMostPromptSizes - 1)))));
    return { sizes.begin(), sizes.end() };
}

ServingSetup servingSetup(const Workload &workload, const Timeline &timeline, const std::vector<StageMemory> &memory,
    const BubbleService &service, Afterwards afterwards)
{
    const Plan &plan = *workload.plan;
    ServingSetup setup;
    setup.free =
        freeWindows(timeline, workload.layout, workload.degrees.gpusOfStage(), workload.degrees.context, afterwards);
    setup.groups = formGroups(setup.free, plan.bubbleFill.stages, plan.bubbleFill.chaining);
    setup.requests = arrivals(plan.bubbleFill, timeline.duration, service.trace);
    setup.arrived = requestsOfIteration(plan.bubbleFill, timeline.duration, service.trace, setup.requests.size());
    SetupBuilder(workload, memory, service, setup).build();
    return setup;
}

} // namespace trainyard
