// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/gpu_shares.h"

#include "core/facts/cluster/pool_gpu.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/pool_parts.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>
#include <utility>

namespace trainyard {

namespace {

QString gpuSharesText(const char *text)
{
    return QCoreApplication::translate("trainyard::GpuShares", text);
}

/// Some pipelines of one class.
struct Pipelines {
    int pipelineClass = 0, first = 0, count = 0;
};

/// Of the pool's GPUs those that serve a stage of these pipelines.
PoolGpus gpusOfStage(const Evaluation &evaluation, const Pipelines &pipelines, int stage)
{
    const PipelineClass &of = evaluation.layout.classes[std::size_t(pipelines.pipelineClass)];
    PoolGpus gpus { of.locations[std::size_t(stage)], -1, 0 };
    for (const GpuRun &run : evaluation.layout.runs) {
        if (run.stage != stage || run.pipelines < 1 || run.location() != gpus.at)
            continue;
        const int from = std::max(run.firstPipeline, pipelines.first),
                  to = std::min(run.firstPipeline + run.pipelines, pipelines.first + pipelines.count);
        if (from >= to)
            continue;
        const int each = run.gpus / run.pipelines, first = run.firstGpu + (from - run.firstPipeline) * each;
        gpus.first = gpus.first < 0 ? first : std::min(gpus.first, first);
        gpus.count += (to - from) * each;
    }
    gpus.first = std::max(0, gpus.first);
    return gpus;
}

/// The parts of a pool that have the location's degree, as numbers of GPUs that replicas fill one after another.
class PlacesOfReplicas {
public:
    PlacesOfReplicas(const Plan &plan, StageLocation at)
    {
        for (const PoolPart &part : poolParts(plan))
            if (part.at == at)
                m_parts.push_back(part);
    }
    /// Where the next replica begins.
    int next(int gpus)
    {
        while (m_part + 1 < m_parts.size() && m_taken + gpus > m_parts[m_part].gpus) {
            ++m_part;
            m_taken = 0;
        }
        return (m_parts.empty() ? 0 : m_parts[m_part].firstGpu) + std::exchange(m_taken, m_taken + gpus);
    }

private:
    std::vector<PoolPart> m_parts;
    std::size_t m_part = 0;
    int m_taken = 0;
};

/// Replicas whose stages all lie at the location, as pins count their GPUs.
PoolGpus replicasAt(const Evaluation &evaluation, const Pipelines &pipelines, StageLocation at)
{
    const Layout &layout = evaluation.layout;
    struct Here {
        int stages = 0, gpus = 0;
    };
    std::vector<Here> replicas(std::size_t(std::max(0, layout.data)));
    for (const GpuRun &run : layout.runs)
        for (int i = 0; run.location() == at && i < run.pipelines; ++i)
            if (const auto number = std::size_t(run.firstPipeline + i); number < replicas.size()) {
                ++replicas[number].stages;
                replicas[number].gpus += run.gpus / run.pipelines;
            }
    PlacesOfReplicas places(*evaluation.plan, at);
    PoolGpus found { at, 0, 0 };
    for (int i = 0; i < int(replicas.size()); ++i) {
        const Here &replica = replicas[std::size_t(i)];
        if (replica.stages < int(layout.chunks.size()))
            continue;
        const int first = places.next(replica.gpus);
        if (i < pipelines.first || i >= pipelines.first + pipelines.count)
            continue;
        found.first = found.count == 0 ? first : found.first;
        found.count += replica.gpus;
    }
    return found;
}

void readPins(GpuShare &share, const Plan &plan)
{
    const Datacenter &place = plan.cluster.datacenters[std::size_t(share.gpus.at.datacenter)];
    const Pool &pool = place.pools[std::size_t(share.gpus.at.pool)];
    if (share.replica.count == 0)
        return;
    int before = 0; // GPUs that earlier pins are about
    for (const RankPin &pin : plan.heterogeneity.assign) {
        if (pin.datacenter != place.id || !pin.isAbout(pool))
            continue;
        const int count = pin.gpus.value_or(std::max(0, pool.gpus() - before));
        if (share.replica.first >= before && share.replica.first < before + count) {
            share.isWorkPinned = pin.microBatch || pin.microBatches;
            share.isStatePinned = pin.stateShare.has_value();
            return;
        }
        before += count;
    }
}

/// The class of pipelines that `rank` became; ranks that became alike are one.
int classOf(const Layout &layout, const ReplicaShare &rank, int microBatch)
{
    const auto own = std::ranges::find(layout.classes, rank.firstPipeline, &PipelineClass::firstPipeline);
    if (own != layout.classes.end())
        return int(own - layout.classes.begin());
    for (std::size_t c = 0; c < layout.classes.size(); ++c) {
        const PipelineClass &of = layout.classes[c];
        const int size = of.microBatch > 0 ? of.microBatch : microBatch;
        if (of.locations.front() == rank.at && size * of.microBatches == rank.samples
            && rank.firstPipeline >= of.firstPipeline)
            return int(c);
    }
    return -1;
}

/// Without the figures before it, which stand beside the bars.
QString withoutFigures(const std::string &why)
{
    const auto colon = why.rfind(": ");
    QString text = QString::fromStdString(colon == std::string::npos ? why : why.substr(colon + 2));
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

bool hasOneKind(const Plan &plan, const Layout &layout)
{
    std::set<std::string> kinds;
    for (const GpuRun &run : layout.runs) {
        kinds.insert(gpuIdOf(plan.cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)]));
    }
    return kinds.size() < 2;
}

class Reader {
public:
    explicit Reader(const Evaluation &evaluation)
        : m_evaluation(evaluation)
        , m_plan(*evaluation.plan)
    {
        m_shares.batch = m_plan.workload.globalBatch;
        m_shares.stages = std::max(1, int(evaluation.layout.chunks.size()));
        m_shares.replicas = evaluation.layout.data;
        m_shares.statesPerReplica = std::max(1, degreesOf(m_plan).context);
        m_shares.duration = double(evaluation.timeline.duration) * 1e-9;
        m_shares.areAlike = hasOneKind(m_plan, evaluation.layout);
        const Heterogeneity &h = m_plan.heterogeneity;
        m_shares.isLayered = h.isLayered();
        m_shares.isShared = h.sharesUnevenly() || h.layers != LayerSharing::Even;
        const SharedOut &dealt = evaluation.layout.shares;
        m_shares.refusal = QString::fromStdString(dealt.why);
        if (dealt.layerTime > 0 && dealt.evenLayerTime > 0)
            m_shares.gain = dealt.evenLayerTime / dealt.layerTime;
    }

    GpuShares read()
    {
        const Layout &layout = m_evaluation.layout;
        const SharedOut &dealt = layout.shares;
        if (m_shares.stages == 1 && !dealt.ranks.empty()) {
            for (std::size_t i = 0; i < dealt.ranks.size(); ++i)
                if (const int of = classOf(layout, dealt.ranks[i], m_plan.workload.microBatch); of >= 0)
                    addRank(dealt, i, of);
        } else {
            for (std::size_t c = 0; c < layout.classes.size(); ++c)
                for (int stage = 0; stage < int(layout.classes[c].locations.size()); ++stage)
                    add({ int(c), layout.classes[c].firstPipeline, layout.classes[c].pipelines }, stage);
            for (GpuShare &set : m_shares.sets) // a sentence about a replica stands at the stage that it is about
                for (const ReplicaShare &rank : dealt.ranks)
                    if (set.firstPipeline == rank.firstPipeline && set.gpus.at == rank.at)
                        set.why = withoutFigures(rank.why);
            markSlowest();
        }
        return std::move(m_shares);
    }

private:
    GpuShare &add(const Pipelines &pipelines, int stage)
    {
        const PipelineClass &of = m_evaluation.layout.classes[std::size_t(pipelines.pipelineClass)];
        GpuShare share;
        share.gpus = gpusOfStage(m_evaluation, pipelines, stage);
        share.replica = replicasAt(m_evaluation, pipelines, share.gpus.at);
        const Datacenter &place = m_plan.cluster.datacenters[std::size_t(share.gpus.at.datacenter)];
        const Pool &pool = place.pools[std::size_t(share.gpus.at.pool)];
        share.name = shortGpuName(pool);
        share.place = QString::fromStdString(place.label());
        share.poolName = QString::fromStdString(pool.id);
        share.stage = stage;
        share.replicas = pipelines.count;
        share.firstPipeline = pipelines.first;
        if (stage < int(m_evaluation.layout.chunks.size()))
            for (const StageChunk &chunk : m_evaluation.layout.chunks[std::size_t(stage)])
                share.layers += chunk.layers;
        share.microBatch = of.microBatch > 0 ? of.microBatch : m_plan.workload.microBatch;
        share.microBatches = of.microBatches;
        if (degreesOf(m_plan).zeroStage > 0 && m_evaluation.layout.data > 0)
            share.stateShare =
                of.stateShare > 0 ? of.stateShare * m_shares.statesPerReplica : 1.0 / m_evaluation.layout.data;
        const auto device = std::ranges::find_if(m_evaluation.metrics.devices, [&](const DeviceMetrics &each) {
            return each.pipelineClass == pipelines.pipelineClass && each.stage == stage;
        });
        if (device != m_evaluation.metrics.devices.end()) {
            share.time = device->time;
            share.wait = device->wait;
            if (m_evaluation.metrics.memory && device->capacity > 0) {
                share.capacity = double(device->capacity);
                share.states = std::min(device->states, double(device->device));
                share.work = double(device->device) - share.states;
            }
        }
        readPins(share, m_plan);
        return m_shares.sets.emplace_back(std::move(share));
    }

    void addRank(const SharedOut &dealt, std::size_t index, int pipelineClass)
    {
        const ReplicaShare &rank = dealt.ranks[index];
        GpuShare &set = add({ pipelineClass, rank.firstPipeline, rank.pipelines }, 0);
        set.stateShare = rank.stateShare;
        set.why = withoutFigures(rank.why);
        set.isSlowest = int(index) == dealt.slowest && dealt.ranks.size() > 1;
        if (index < dealt.largestMicroBatch.size())
            set.largestMicroBatch = dealt.largestMicroBatch[index];
    }

    void markSlowest()
    {
        const auto slowest = std::ranges::max_element(m_shares.sets, {}, &GpuShare::time);
        if (m_shares.sets.size() > 1 && slowest->time > 0)
            slowest->isSlowest = true;
    }

    const Evaluation &m_evaluation;
    const Plan &m_plan;
    GpuShares m_shares;
};

} // namespace

GpuShares gpuShares(const Evaluation &evaluation)
{
    return evaluation.plan ? Reader(evaluation).read() : GpuShares {};
}

QString shareText(const GpuShare &share, int batch)
{
    QString text = gpuSharesText("%1 of %2 samples").arg(share.samples()).arg(batch);
    if (share.stateShare > 0)
        text += gpuSharesText(", %1 of the states").arg(formatPercent(share.stateShare));
    return text;
}

} // namespace trainyard
