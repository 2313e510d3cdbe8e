// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/span_text.h"

#include "core/engine/schedule/traits.h"
#include "core/engine/timeline/cell_members.h"
#include "core/iteration/placement/activations_leave.h"
#include "models/text/format.h"
#include "views/timeline/job_text.h"
#include "views/timeline/layer_text.h"
#include "views/timeline/state_text.h"
#include "views/timeline/track_layout.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString spanText(const char *text)
{
    return QCoreApplication::translate("trainyard::SpanText", text);
}

QString channelName(const Evaluation &evaluation, const Track &track)
{
    return datacenterName(evaluation, datacenterOf(evaluation, track.pipelineClass, track.stage))
        + QStringLiteral(" → ")
        + datacenterName(evaluation, datacenterOf(evaluation, track.pipelineClass, track.toStage));
}

/// Whose transfer it is, on a channel that pipelines use by turns.
QString turnText(const Evaluation &evaluation, std::uint32_t span)
{
    if (!hasTurns(evaluation.timeline, trackOf(evaluation, span)))
        return {};
    const int lane = sendingMember(evaluation.timeline, span);
    const auto &classes = evaluation.layout.classes;
    if (lane >= int(classes.size()))
        return spanText("turn of pipeline %1").arg(lane + 1);
    return spanText("turn of pipeline %1 of %2")
        .arg(classes[std::size_t(lane)].cellMember + 1)
        .arg(classes[std::size_t(lane)].cellMembers);
}

/// What a request in the bubbles is, and whose gap the chart shows it in.
QStringList prefillFacts(const Evaluation &evaluation, const Track &track)
{
    QStringList facts;
    if (evaluation.plan && !evaluation.plan->bubbleFill.model.empty())
        facts << spanText("prompts of %1, served while training waits")
                     .arg(QString::fromStdString(evaluation.plan->bubbleFill.model));
    if (track.pipelineClass < int(evaluation.layout.classes.size())) {
        const PipelineClass &of = evaluation.layout.classes[std::size_t(track.pipelineClass)];
        if (of.pipelines > 1)
            facts << spanText("on pipeline %1, the first of %2 that train the same way")
                         .arg(of.firstPipeline + 1)
                         .arg(of.pipelines);
    }
    return facts;
}

/// Whose activations move, and what for.
QString offloadFact(const Evaluation &evaluation, std::uint32_t span)
{
    if (isLayerByLayer(evaluation))
        return evaluation.timeline.kind[span] == WorkKind::OffloadStore
            ? spanText("what enters or leaves the layer waits in host memory")
            : spanText("what enters or leaves the layer comes back from host memory");
    const bool isHost = evaluation.plan && activationsLeaveTo(evaluation.plan->memory) == ActivationOffload::Host;
    if (!evaluation.timeline.moved.empty() && evaluation.timeline.moved[span] < 1)
        return spanText("needed before the store was complete: used on the GPU, the rest is not written");
    const QString place = isHost ? spanText("host memory") : spanText("the drives");
    return evaluation.timeline.kind[span] == WorkKind::OffloadStore
        ? spanText("activations leave the GPU for %1 until their backward").arg(place)
        : spanText("activations come back from %1 for their backward").arg(place);
}

bool hasChunks(const Evaluation &evaluation, int stage)
{
    const auto &chunks = evaluation.layout.chunks;
    return stage >= 0 && stage < int(chunks.size()) && chunks[std::size_t(stage)].size() > 1;
}

/// "61.2 MB, 48.6 GB/s": what a move of activations carries, and how fast.
QString volumeFact(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const Stream stream = trackOf(evaluation, span).stream;
    const double bytes = stream == Stream::Store || stream == Stream::Load ? timeline.bytesMoved(span) : 0;
    const double duration = double(timeline.end[span] - timeline.start[span]) * 1e-9;
    return bytes > 0 && duration > 0 ? spanText("%1, %2/s").arg(formatBytes(bytes), formatBytes(bytes / duration))
                                     : QString();
}

} // namespace

QString lengthText(Nanoseconds time)
{
    return formatSeconds(double(time) * 1e-9);
}

QString intervalText(Nanoseconds start, Nanoseconds end)
{
    static constexpr struct {
        double nanoseconds;
        const char *name;
        int mostDecimals;
    } kUnits[] = { { 1e9, "s", 9 }, { 1e6, "ms", 6 }, { 1e3, "µs", 3 }, { 1, "ns", 0 } };
    const auto *unit =
        std::ranges::find_if(kUnits, [&](const auto &u) { return double(std::max(end, -start)) >= u.nanoseconds; });
    if (unit == std::end(kUnits))
        unit = std::prev(std::end(kUnits));
    const auto decimalsOf = [&](double size) {
        return int(std::ceil(std::log10(unit->nanoseconds / std::max(1.0, size))));
    };
    const int decimals =
        std::clamp(std::max(decimalsOf(double(end - start)) + 1, decimalsOf(double(end) / 100)), 0, unit->mostDecimals);
    const auto moment = [&](Nanoseconds t) {
        return QString::number(double(t) / unit->nanoseconds, 'f', t == 0 ? 0 : decimals) + u' '
            + QString::fromUtf8(unit->name);
    };
    return spanText("from %1 to %2").arg(moment(start), moment(end));
}

QString spanTitle(const Evaluation &evaluation, std::uint32_t span)
{
    if (isOfJobs(evaluation))
        return jobSpanTitle(evaluation, span);
    const Timeline &timeline = evaluation.timeline;
    const Track &track = trackOf(evaluation, span);
    QString kind = QString::fromUtf8(toString(timeline.kind[span]));
    kind[0] = kind[0].toUpper();
    const QString work = layerWork(evaluation, span), gpu = rowGpu(evaluation, track);
    if (!work.isEmpty())
        kind = work.at(0).toUpper() + work.mid(1);
    if (const QString place = optimizerPlace(evaluation, span); !place.isEmpty())
        kind += u' ' + place;
    QStringList parts { kind, stepGroup(evaluation, span) };
    if (timeline.kind[span] == WorkKind::ForwardBackward)
        parts << spanText("micro-batches %1 and %2")
                     .arg(timeline.microBatch[span] + 1)
                     .arg(timeline.pairedMicroBatch[span] + 1);
    else if (timeline.microBatch[span] >= 0 && timeline.kind[span] != WorkKind::Prefill)
        parts << spanText("micro-batch %1").arg(timeline.microBatch[span] + 1);
    if (track.stream == Stream::Wan)
        parts << channelName(evaluation, track) << spanText("stage %1 → %2").arg(track.stage + 1).arg(track.toStage + 1)
              << turnText(evaluation, span);
    else
        parts << (gpu.isEmpty() ? spanText("stage %1").arg(track.stage + 1) : gpu);
    parts.removeAll(QString());
    if (timeline.kind[span] == WorkKind::Prefill || !work.isEmpty())
        return parts.join(QStringLiteral(" · "));
    if (track.stream != Stream::Wan && timeline.microBatch[span] >= 0 && hasChunks(evaluation, track.stage))
        parts << (timeline.kind[span] == WorkKind::ForwardBackward
                ? spanText("chunks %1 and %2").arg(timeline.chunk[span] + 1).arg(timeline.pairedChunk[span] + 1)
                : spanText("chunk %1").arg(timeline.chunk[span] + 1));
    else if (timeline.microBatch[span] >= 0 && traitsOf(*evaluation.plan).isSliced())
        parts << spanText("slice %1").arg(timeline.chunk[span] + 1);
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

QString spanName(const Evaluation &evaluation, std::uint32_t span)
{
    if (isOfJobs(evaluation))
        return jobSpanName(evaluation, span);
    const Timeline &timeline = evaluation.timeline;
    const Track &track = trackOf(evaluation, span);
    QString name = QString::fromUtf8(toString(timeline.kind[span]));
    const QString work = layerWork(evaluation, span), gpu = rowGpu(evaluation, track);
    if (!work.isEmpty())
        name = work;
    if (timeline.microBatch[span] >= 0)
        name += u' ' + QString::number(timeline.microBatch[span] + 1);
    if (timeline.kind[span] == WorkKind::ForwardBackward)
        name += spanText(" and %1").arg(timeline.pairedMicroBatch[span] + 1);
    return track.stream == Stream::Wan ? name + u' ' + channelName(evaluation, track)
        : gpu.isEmpty()                ? spanText("%1 of stage %2").arg(name).arg(track.stage + 1)
                                       : spanText("%1 on %2").arg(name, gpu);
}

Nanoseconds waitBefore(const Timeline &timeline, std::uint32_t span)
{
    const Track &track = timeline.tracks[timeline.trackOf[span]];
    const Nanoseconds free = span > track.first ? timeline.end[span - 1] : 0;
    return std::max<Nanoseconds>(0, timeline.start[span] - free);
}

QString waitText(const Evaluation &evaluation, std::uint32_t span)
{
    const Nanoseconds wait = waitBefore(evaluation.timeline, span);
    const std::uint32_t cause = evaluation.timeline.cause[span];
    if (cause != kNoSpan && isOfStates(trackOf(evaluation, span).stream)
        && evaluation.timeline.end[cause] > evaluation.timeline.start[span])
        return evaluation.timeline.start[cause] == evaluation.timeline.start[span]
            ? spanText("begins with the %1").arg(spanName(evaluation, cause))
            : spanText("in step with the %1").arg(spanName(evaluation, cause));
    if (wait <= 0 || cause == kNoSpan)
        return {};
    return spanText("waited %1 for %2").arg(lengthText(wait), spanName(evaluation, cause));
}

QStringList spanFacts(const Evaluation &evaluation, std::uint32_t span, bool isCritical)
{
    const Timeline &timeline = evaluation.timeline;
    const Track &track = trackOf(evaluation, span);
    QStringList facts { spanText("%1, %2").arg(lengthText(timeline.end[span] - timeline.start[span]),
        intervalText(timeline.start[span], timeline.end[span])) };
    if (timeline.kind[span] == WorkKind::Prefill)
        return facts + prefillFacts(evaluation, track);
    if (timeline.kind[span] == WorkKind::OffloadStore || timeline.kind[span] == WorkKind::OffloadLoad)
        facts << volumeFact(evaluation, span) << offloadFact(evaluation, span);
    if (isOfJobs(evaluation))
        facts << volumeFact(evaluation, span) << jobSpanFacts(evaluation, span);
    else
        facts << stateFacts(evaluation, span);
    facts.removeAll(QString());
    const QString wait = waitText(evaluation, span);
    if (!wait.isEmpty())
        facts << wait;
    else if (track.stream != Stream::Wan)
        facts << spanText("no wait");
    if (track.pipelineClass < int(evaluation.layout.classes.size())) {
        const int pipelines = evaluation.layout.classes[std::size_t(track.pipelineClass)].pipelines;
        if (pipelines > 1)
            facts.front() += spanText(" · same in %1 pipelines").arg(pipelines);
    }
    if (isCritical)
        facts << spanText("on the critical path");
    return facts;
}

QStringList waitFacts(
    const Evaluation &evaluation, std::uint32_t span, Nanoseconds begin, Nanoseconds end, bool isForTransfer)
{
    QStringList facts { spanText("%1, %2").arg(lengthText(end - begin), intervalText(begin, end)) };
    if (span == kNoSpan)
        return facts << spanText("after the last operation of the stage");
    facts << spanText("before %1").arg(spanName(evaluation, span));
    if (const std::uint32_t cause = evaluation.timeline.cause[span]; isForTransfer && cause != kNoSpan)
        facts << spanText("which waits for %1").arg(spanName(evaluation, cause));
    return facts;
}

QString timelineSummary(const Evaluation &evaluation)
{
    const auto spans = qint64(evaluation.timeline.spanCount());
    if (isOfJobs(evaluation))
        return jobsSummary(evaluation) + QStringLiteral(" · ") + countOf(spans, spanText("span"), spanText("spans"));
    QString text =
        spanText("1 iteration · %1 · %2")
            .arg(lengthText(evaluation.timeline.duration), countOf(spans, spanText("span"), spanText("spans")));
    if (evaluation.metrics.simulateMs > 0)
        text += QStringLiteral(" · ") + formatSeconds(evaluation.metrics.simulateMs * 1e-3);
    return text;
}

QString emptyReason(const Evaluation *evaluation, const QString &failure)
{
    if (!evaluation && !failure.isEmpty())
        return spanText("This plan cannot be evaluated: %1. See Problems.").arg(failure);
    if (!evaluation)
        return spanText("Open a plan to see one training iteration.");
    const auto &problems = evaluation->problems;
    const auto blocking = std::find_if(
        problems.begin(), problems.end(), [](const Problem &p) { return p.severity == Severity::Blocking; });
    if (blocking != problems.end())
        return QString::fromStdString(blocking->text);
    if (!problems.empty())
        return QString::fromStdString(problems.front().text);
    if (!evaluation->layout.unplaced.empty())
        return QString::fromStdString(evaluation->layout.unplaced);
    return spanText("This evaluation was made without a timeline.");
}

} // namespace trainyard
