// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/gpu_shares.h"

#include "core/placement/degrees.h"
#include "models/text/format.h"
#include "models/text/gpu_name.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>
#include <utility>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("trainyard::GpuShares", text);
}

/// Some pipelines of one class.
struct Pipelines {
    int pipelineClass = 0, first = 0, count = 0;
};

/// Of the pool's GPUs those that serve a stage of these pipelines.
PoolGpus gpusOf(const Evaluation &evaluation, const Pipelines &pipelines, int stage)
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

void readPins(GpuShare &share, const Plan &plan)
{
    const Datacenter &place = plan.cluster.datacenters[std::size_t(share.gpus.at.datacenter)];
    const Pool &pool = place.pools[std::size_t(share.gpus.at.pool)];
    int before = 0; // GPUs that earlier pins are about
    for (const RankPin &pin : plan.heterogeneity.assign) {
        if (pin.datacenter != place.id || !pin.isAbout(pool))
            continue;
        const int count = pin.gpus.value_or(std::max(0, pool.gpus() - before));
        if (share.gpus.first >= before && share.gpus.first < before + count) {
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
QString sentence(const std::string &why)
{
    const auto colon = why.rfind(": ");
    QString text = QString::fromStdString(colon == std::string::npos ? why : why.substr(colon + 2));
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    return text;
}

/// Bytes of the states on one GPU of a set. The fullest GPU of its stage is known part by part; another one differs
/// in what ZeRO divides, by their shares.
double statesOn(const Evaluation &evaluation, const DeviceMetrics &device)
{
    const auto &stages = evaluation.metrics.memory->perStage;
    const auto stage = std::ranges::find(stages, device.stage, &StageMemory::stage);
    if (stage == stages.end())
        return 0;
    const auto &devices = evaluation.metrics.devices;
    const auto fullest = std::ranges::find_if(devices, [&](const DeviceMetrics &other) {
        return other.stage == device.stage && other.device == stage->device && other.capacity == stage->capacity;
    });
    const int zero = degreesOf(*evaluation.plan).zeroStage;
    const double divided = zero < 1 || fullest == devices.end() || fullest->stateShare <= 0
        ? 0
        : double((zero > 2 ? stage->weights : 0) + (zero > 1 ? stage->gradients : 0) + stage->optimizer)
            / fullest->stateShare;
    const double known = double(stage->weights + stage->gradients + stage->optimizer);
    return std::max(0.0, known + (fullest == devices.end() ? 0 : device.stateShare - fullest->stateShare) * divided);
}

bool hasOneKind(const Plan &plan, const Layout &layout)
{
    std::set<std::string> kinds;
    for (const GpuRun &run : layout.runs) {
        const Pool &pool = plan.cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)];
        kinds.insert(pool.inlineGpu ? pool.inlineGpu->id : pool.gpu);
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
                        set.why = sentence(rank.why);
            markSlowest();
        }
        return std::move(m_shares);
    }

private:
    GpuShare &add(const Pipelines &pipelines, int stage)
    {
        const PipelineClass &of = m_evaluation.layout.classes[std::size_t(pipelines.pipelineClass)];
        GpuShare share;
        share.gpus = gpusOf(m_evaluation, pipelines, stage);
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
                share.states = std::min(statesOn(m_evaluation, *device), double(device->device));
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
        set.why = sentence(rank.why);
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
    QString text = tr("%1 of %2 samples").arg(share.samples()).arg(batch);
    if (share.stateShare > 0)
        text += tr(", %1 of the states").arg(formatPercent(share.stateShare));
    return text;
}

} // namespace trainyard
