// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/layer_text.h"

#include "models/text/format.h"
#include "models/text/gpu_name.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString layerText(const char *text)
{
    return QCoreApplication::translate("trainyard::LayerText", text);
}

const PipelineClass *classOf(const Evaluation &evaluation, int pipelineClass)
{
    const auto &classes = evaluation.layout.classes;
    return pipelineClass >= 0 && pipelineClass < int(classes.size()) ? &classes[std::size_t(pipelineClass)] : nullptr;
}

/// Whether its class has several, which then have to be told apart.
bool hasSeveralMicroBatches(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const PipelineClass *of = classOf(evaluation, timeline.tracks[timeline.trackOf[span]].pipelineClass);
    return !of || of->microBatches > 1;
}

} // namespace

bool isLayerByLayer(const Evaluation &evaluation)
{
    return evaluation.plan && evaluation.plan->heterogeneity.isLayered();
}

int layerOf(const Evaluation &evaluation, std::uint32_t span)
{
    if (!isLayerByLayer(evaluation))
        return -1;
    const Timeline &timeline = evaluation.timeline;
    const Stream stream = timeline.tracks[timeline.trackOf[span]].stream;
    const bool isOfLayer = isTrainingCompute(timeline.kind[span])
        || (stream == Stream::Collective
            && (timeline.kind[span] == WorkKind::ParameterGather || timeline.kind[span] == WorkKind::GradientReduce))
        || stream == Stream::Store || stream == Stream::Load;
    return isOfLayer ? int(timeline.chunk[span]) : -1;
}

QString layerWork(const Evaluation &evaluation, std::uint32_t span)
{
    const int layer = layerOf(evaluation, span);
    if (layer < 0)
        return {};
    switch (evaluation.timeline.kind[span]) {
    case WorkKind::ParameterGather:
        return layerText("gather of layer %1").arg(layer + 1);
    case WorkKind::GradientReduce:
        return layerText("gradient reduction of layer %1").arg(layer + 1);
    case WorkKind::OffloadStore:
        return layerText("layer %1 boundary to host").arg(layer + 1);
    case WorkKind::OffloadLoad:
        return layerText("layer %1 boundary from host").arg(layer + 1);
    default:
        return layerText("layer %1 %2").arg(layer + 1).arg(QString::fromUtf8(toString(evaluation.timeline.kind[span])));
    }
}

QString rowGpu(const Evaluation &evaluation, const Track &track)
{
    const bool isShared = isLayerByLayer(evaluation) || !evaluation.layout.shares.ranks.empty();
    return isShared && evaluation.layout.chunks.size() == 1 ? gpuNameAt(evaluation, track.pipelineClass, track.stage)
                                                            : QString();
}

QString rowSamples(const Evaluation &evaluation, int pipelineClass)
{
    const PipelineClass *of = classOf(evaluation, pipelineClass);
    if (!of || !evaluation.plan)
        return {};
    const int size = of->microBatch > 0 ? of->microBatch : evaluation.plan->workload.microBatch;
    return countOf(qint64(size) * of->microBatches, layerText("sample"), layerText("samples"));
}

QString spanLabel(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    if (const int layer = layerOf(evaluation, span); layer >= 0) {
        const QString number = QString::number(layer + 1);
        return timeline.microBatch[span] >= 0 && hasSeveralMicroBatches(evaluation, span)
            ? number + QStringLiteral("·") + QString::number(timeline.microBatch[span] + 1)
            : number;
    }
    if (timeline.microBatch[span] < 0)
        return {};
    QString label = QString::number(timeline.microBatch[span] + 1);
    if (timeline.kind[span] == WorkKind::ForwardBackward && !timeline.pairedMicroBatch.empty())
        label += u'+' + QString::number(timeline.pairedMicroBatch[span] + 1);
    return label;
}

QString longSpanLabel(const Evaluation &evaluation, std::uint32_t span)
{
    const QString work = layerWork(evaluation, span);
    if (work.isEmpty())
        return QString::fromUtf8(toString(evaluation.timeline.kind[span])) + u' ' + spanLabel(evaluation, span);
    return evaluation.timeline.microBatch[span] >= 0 && hasSeveralMicroBatches(evaluation, span)
        ? work + QStringLiteral(" · ") + QString::number(evaluation.timeline.microBatch[span] + 1)
        : work;
}

} // namespace trainyard
