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
        for (const ModelSpec &model : m_service.models)
            plan.weightSlice += wholeBytes(servedWeights(model).value / m_fill.stages);
        plan.slo = toNanoseconds(milliseconds(m_fill.ttftSloMs));
        plan.firstTokenFromDecode = m_fill.firstTokenFromDecode;
        addGroups();
        addRequests();
        if (m_service.decodeGpu && m_fill.decode.gpus)
            plan.decode = decoded();
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

    struct Length { // of prompts of one model
        int model = 0, tokens = 0;
        auto operator<=>(const Length &) const = default;
    };

    void addRequests()
    {
        std::vector<std::vector<int>> lengths;
        for (int model = 0; model < int(m_service.models.size()); ++model)
            lengths.push_back(promptSizes(m_setup.requests, model));
        std::map<Length, int> known;
        std::vector<Length> all;
        std::vector<int> lengthOf;
        for (const PrefillRequest &request : m_setup.requests) {
            const Length length { request.model,
                *std::ranges::lower_bound(lengths[std::size_t(request.model)], request.tokens) };
            const auto [it, isNew] = known.try_emplace(length, int(all.size()));
            if (isNew)
                all.push_back(length);
            lengthOf.push_back(it->second);
        }
        m_setup.batches = batchesOf(m_setup.requests, lengthOf, m_fill.prefillBatch,
            toNanoseconds(milliseconds(m_fill.batchWaitMs)), m_setup.free.period);
        std::map<std::pair<int, std::uint32_t>, int> sizes; // of a length, so many at once
        for (const PromptBatch &batch : m_setup.batches.batches) {
            const auto [it, isNew] = sizes.try_emplace({ batch.size, batch.count }, int(sizes.size()));
            if (isNew)
                addSize(all[std::size_t(batch.size)], int(batch.count));
            m_setup.sized.push_back({ batch.arrival, it->second, batch.waited });
        }
    }

    void addSize(Length length, int prompts)
    {
        const ModelSpec &model = m_service.models[std::size_t(length.model)];
        PromptSize size;
        size.prompts = prompts;
        size.kvSlice = wholeBytes(kvCacheBytes(model, double(length.tokens) * prompts).value / m_fill.stages);
        std::vector<Nanoseconds> &alone = m_setup.alone.emplace_back();
        for (const Kind &kind : m_kinds) {
            const auto slice = [&](int at) {
                return sliceOn(m_workload, model, length.tokens, kind.location, kind.isInNode, at);
            };
            size.onKind.push_back(slice(prompts));
            alone.push_back(prompts == 1 ? size.onKind.back().compute : slice(1).compute);
        }
        m_setup.plan.sizes.push_back(std::move(size));
    }

    [[nodiscard]] DecodeCapacity decoded() const
    {
        std::vector<DecodedModel> models;
        for (const ModelSpec &model : m_service.models)
            models.push_back({ &model, 1 });
        for (const PrefillRequest &request : m_setup.requests) {
            DecodedModel &longest = models[std::size_t(request.model)];
            longest.promptTokens = std::max(longest.promptTokens, double(request.tokens));
        }
        return decodeCapacity(*m_service.decodeGpu, *m_fill.decode.gpus, models, m_fill.decode.outputTokens);
    }

    const Workload &m_workload;
    const std::vector<StageMemory> &m_memory;
    const BubbleService &m_service;
    ServingSetup &m_setup;
    const BubbleFill &m_fill;
    std::vector<Kind> m_kinds;
};

} // namespace

SliceTime sliceOn(const Workload &workload, const ModelSpec &served, int tokens, const StageLocation &location,
    bool isInNode, int prompts)
{
    const BubbleFill &fill = workload.plan->bubbleFill;
    const NetworkSpec &network = builtinNetwork();
    const GpuSpec &gpu = workload.gpu(location);
    const Link fabric = fabricLink(gbitsPerSecond(workload.fabricGbps(location)), network);
    const Link decode = fill.kvGbps ? fabricLink(gbitsPerSecond(*fill.kvGbps), network) : fabric;
    return sliceTime(gpu, served, fill.stages, tokens, isInNode ? deviceLink(gpu, network) : fabric, decode, prompts);
}

bool fitsTensorGroup(const Workload &workload)
{
    const Levels tensor = tensorLevels(workload);
    return std::gcd(tensor.ranks, tensor.together) % workload.plan->bubbleFill.stages == 0;
}

std::vector<int> promptSizes(const std::vector<PrefillRequest> &requests, int model)
{
    std::set<int> lengths;
    for (const PrefillRequest &request : requests)
        if (request.model == model)
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
    setup.requests = allArrivals(plan.bubbleFill, timeline.duration, service.trace);
    std::vector<std::size_t> placed(service.models.size(), 0);
    for (const PrefillRequest &request : setup.requests)
        ++placed[std::size_t(request.model)];
    const std::vector<BubbleFill> fills = servedFills(plan.bubbleFill);
    for (std::size_t model = 0; model < placed.size(); ++model)
        setup.arrived.push_back(requestsOfIteration(fills[model], timeline.duration, service.trace, placed[model]));
    SetupBuilder(workload, memory, service, setup).build();
    return setup;
}

} // namespace trainyard
