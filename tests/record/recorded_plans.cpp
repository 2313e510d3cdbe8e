// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/record/recorded_plans.h"

#include "core/evaluation/validation/rows.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <filesystem>

namespace trainyard::record {

namespace {

constexpr int kSchedules = int(ScheduleKind::Atlas) + 1;

struct Feature {
    std::string name;
    std::function<bool(const Evaluation &)> occurs;
};

bool crossesWan(const Evaluation &e)
{
    return e.metrics.wanBytesPerIteration > 0;
}

bool hasDifferentGpus(const Evaluation &e)
{
    const auto pool = [&](const StageLocation &at) -> const Pool & {
        return e.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
    };
    const Pool &first = pool(e.layout.classes.front().locations.front());
    return std::ranges::any_of(e.layout.classes, [&](const PipelineClass &c) {
        return std::ranges::any_of(c.locations, [&](const StageLocation &at) { return pool(at).gpu != first.gpu; });
    });
}

/// Of one GPU, in other nodes.
bool hasDifferentNodes(const Evaluation &e)
{
    const auto pool = [&](const StageLocation &at) -> const Pool & {
        return e.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
    };
    const Pool &first = pool(e.layout.classes.front().locations.front());
    return std::ranges::any_of(e.layout.classes, [&](const PipelineClass &c) {
        return std::ranges::any_of(c.locations, [&](const StageLocation &at) {
            const Pool &other = pool(at);
            return other.gpu == first.gpu
                && (other.gpusPerNode != first.gpusPerNode || other.host != first.host || other.ssd != first.ssd);
        });
    });
}

/// Of what is in the plan itself.
template <class Member> Feature planFeature(std::string name, Member occurs)
{
    return { std::move(name), [occurs](const Evaluation &e) { return occurs(*e.plan); } };
}

std::vector<Feature> makeFeatures()
{
    std::vector<Feature> features;
    for (int kind = 0; kind < kSchedules; ++kind)
        features.push_back(planFeature(std::string("schedule ") + toString(ScheduleKind(kind)),
            [kind](const Plan &p) { return int(p.schedule) == kind; }));
    for (const Recompute kind : { Recompute::None, Recompute::Selective, Recompute::Full })
        features.push_back(planFeature(
            std::string("recompute ") + toString(kind), [kind](const Plan &p) { return p.memory.recompute == kind; }));
    for (const ActivationOffload kind : { ActivationOffload::None, ActivationOffload::Host, ActivationOffload::Ssd })
        features.push_back(planFeature(std::string("activations off the GPU: ") + toString(kind),
            [kind](const Plan &p) { return p.memory.activationOffload == kind; }));
    for (const auto &[kind, name] :
        { std::pair { OffloadPolicy::SsdTrain, "ssdtrain" }, { OffloadPolicy::Memo, "memo" },
            { OffloadPolicy::Karma, "karma" }, { OffloadPolicy::ProTrain, "protrain" } })
        features.push_back({ std::string("policy ") + name,
            [kind](const Evaluation &e) { return e.metrics.offload && e.plan->memory.offloadPolicy == kind; } });
    for (const OptimizerOffload kind :
        { OptimizerOffload::None, OptimizerOffload::Host, OptimizerOffload::Interleaved, OptimizerOffload::Ssd })
        features.push_back(planFeature(std::string("optimizer off the GPU: ") + toString(kind),
            [kind](const Plan &p) { return p.memory.optimizerOffload == kind; }));
    for (const ParameterOffload kind : { ParameterOffload::None, ParameterOffload::Host, ParameterOffload::Ssd })
        features.push_back(planFeature(std::string("parameters off the GPU: ") + toString(kind),
            [kind](const Plan &p) { return p.memory.parameterOffload == kind; }));
    for (const LocalSgd kind : { LocalSgd::Diloco, LocalSgd::Streaming })
        features.push_back({ kind == LocalSgd::Diloco ? "local SGD" : "local SGD, streaming",
            [kind](const Evaluation &e) { return e.plan->wan.localSgd == kind && crossesWan(e); } });
    const std::vector<Feature> others = {
        { "several datacenters in use", crossesWan },
        { "WAN in turns",
            [](const Evaluation &e) { return e.plan->wan.sharing == WanSharing::Temporal && crossesWan(e); } },
        { "cells of several pipelines",
            [](const Evaluation &e) { return e.layout.cell.reached > 1 && crossesWan(e); } },
        { "cells, drained first",
            [](const Evaluation &e) {
                return e.layout.cell.reached > 1 && e.plan->wan.turns == TurnOrder::DrainFirst;
            } },
        { "several classes of pipelines", [](const Evaluation &e) { return e.layout.classes.size() > 1; } },
        { "different GPUs in use", hasDifferentGpus },
        { "different nodes of one GPU in use", hasDifferentNodes },
        { "flat all-reduce",
            [](const Evaluation &e) { return e.plan->wan.allReduce == WanAllReduce::Flat && crossesWan(e); } },
        { "compressed activations", [](const Evaluation &e) { return e.plan->wan.activationBits && crossesWan(e); } },
        { "compressed gradients", [](const Evaluation &e) { return e.plan->wan.gradientBits && crossesWan(e); } },
        planFeature("measured stage times", [](const Plan &p) { return p.profile.has_value(); }),
        planFeature("limits on micro-batches in flight",
            [](const Plan &p) { return p.profile && !p.profile->inFlight.empty(); }),
        { "experts", [](const Evaluation &e) { return e.model.experts > 0; } },
        { "experts across GPUs",
            [](const Evaluation &e) { return e.model.experts > 0 && e.plan->parallelism.expert > 1; } },
        { "prefill in the bubbles", [](const Evaluation &e) { return e.metrics.bubbleFill.has_value(); } },
        planFeature("virtual stages", [](const Plan &p) { return p.parallelism.virtualPipeline > 1; }),
        planFeature("context parallel", [](const Plan &p) { return p.parallelism.context > 1; }),
        planFeature("ZeRO 2 and more", [](const Plan &p) { return p.parallelism.zeroStage >= 2; }),
        planFeature("delayed update", [](const Plan &p) { return p.memory.delayedUpdate; }),
        planFeature("layers given", [](const Plan &p) { return !p.placement.layers.empty(); }),
        planFeature("stages pinned", [](const Plan &p) { return !p.placement.stages.empty(); }),
        planFeature("some layers recomputed", [](const Plan &p) { return p.memory.recomputeLayers.has_value(); }),
        planFeature("documents", [](const Plan &p) { return p.workload.documentLength.has_value(); }),
    };
    features.insert(features.end(), others.begin(), others.end());
    return features;
}

const std::vector<Feature> &features()
{
    static const std::vector<Feature> all = makeFeatures();
    return all;
}

PlanPtr readSample(const std::string &path)
{
    auto plan = readPlan(path);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

std::string fourDigits(unsigned number)
{
    const std::string digits = std::to_string(number);
    return std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
}

} // namespace

Coverage::Coverage()
{
    for (const Feature &feature : features())
        m_counts[feature.name] = 0;
}

void Coverage::add(const Evaluation &evaluation)
{
    if (evaluation.timeline.isEmpty())
        return;
    for (const Feature &feature : features())
        m_counts[feature.name] += feature.occurs(evaluation);
}

std::vector<NamedPlan> recordedPlans(const std::string &repository, unsigned random)
{
    std::vector<NamedPlan> plans;
    const std::string ending = ".trainyard.json";
    std::vector<std::string> files;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(repository + "/samples", error))
        if (const std::string file = entry.path().filename().string(); file.ends_with(ending))
            files.push_back(file);
    std::ranges::sort(files);
    for (const std::string &file : files)
        plans.push_back({ "sample/" + file.substr(0, file.size() - ending.size()),
            [path = repository + "/samples/" + file] { return readSample(path); } });
    for (const RowSet &set : builtinRows())
        for (const ValidationRow &row : set.rows)
            plans.push_back({ "row/" + set.source + "/" + row.id, [plan = row.plan] { return plan; } });
    for (unsigned number = 0; number < random; ++number)
        plans.push_back({ "random/" + fourDigits(number), [number] { return randomPlan(number); } });
    return plans;
}

PlanPtr slowedDown(const Plan &plan)
{
    Plan slower = plan;
    for (WanLink &link : slower.cluster.wanLinks)
        link.rttMs *= 1.5;
    for (Datacenter &datacenter : slower.cluster.datacenters)
        datacenter.fabricGbpsPerGpu = datacenter.fabricGbpsPerGpu.value_or(200) / 2;
    if (slower.profile)
        for (PerStage *times :
            { &slower.profile->forwardMs, &slower.profile->backwardMs, &slower.profile->recomputeMs })
            for (double &time : *times)
                time *= 1.25;
    else if (slower.workload.sequenceLength % (2 * slower.parallelism.context * slower.parallelism.tokenSlices) == 0)
        slower.workload.sequenceLength /= 2;
    return std::make_shared<const Plan>(std::move(slower));
}

} // namespace trainyard::record
