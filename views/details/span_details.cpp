// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/details.h"

#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"
#include "models/job_spans.h"
#include "models/text/format.h"
#include "views/theme/part_colors.h"
#include "views/timeline/job_text.h"
#include "views/timeline/span_text.h"
#include "views/timeline/state_text.h"

#include <QObject>

#include <algorithm>

namespace trainyard {

namespace {

QString text(Nanoseconds t)
{
    return formatSeconds(double(t) * 1e-9);
}

/// What the stage's GPU holds at a moment, of the slowest pipelines; empty where no curve tells.
std::optional<std::int64_t> memoryAt(const Evaluation &evaluation, int stage, Nanoseconds time)
{
    if (stage < 0 || stage >= int(evaluation.memoryCurves.size())
        || evaluation.memoryCurves[std::size_t(stage)].empty())
        return std::nullopt;
    const auto &curve = evaluation.memoryCurves[std::size_t(stage)];
    const auto after = std::ranges::upper_bound(curve, time, {}, &Evaluation::MemoryStep::time);
    return (after == curve.begin() ? after : std::prev(after))->bytes;
}

void addWait(Details &details, const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const std::uint32_t cause = timeline.cause[span];
    const Nanoseconds wait = waitBefore(timeline, span);
    if (cause == kNoSpan) {
        details.facts.push_back({ QObject::tr("Waited for"),
            isOfJobs(evaluation) ? QObject::tr("nothing") : QObject::tr("nothing: it begins the iteration"), {} });
        return;
    }
    details.facts.push_back({ QObject::tr("Bound by"),
        isOfJobs(evaluation) ? jobSpanBeside(evaluation, cause, span) : spanName(evaluation, cause),
        QObject::tr("What set its start: the last of what it needs to end.") });
    details.facts.push_back({ QObject::tr("Waited"), wait > 0 ? text(wait) : QObject::tr("no wait"),
        QObject::tr("How long its row stood still before it.") });
    if (const Nanoseconds lag = timeline.start[span] - timeline.end[cause]; lag > 0)
        details.facts.push_back({ QObject::tr("Of it latency"), text(lag),
            QObject::tr("Between the end of what it waited for and its start.") });
}

void addBytes(Details &details, const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const double seconds = double(timeline.end[span] - timeline.start[span]) * 1e-9, bytes = timeline.bytesMoved(span);
    if (!(bytes > 0))
        return;
    details.facts.push_back({ QObject::tr("Bytes"), formatBytes(bytes), {} });
    if (seconds > 0)
        details.facts.push_back({ QObject::tr("Rate"), QObject::tr("%1/s").arg(formatBytes(bytes / seconds)),
            QObject::tr("Bytes over the length of the span.") });
}

/// What an operation exchanges inside: Why takes it out of the computation.
void addExposed(Details &details, const Timeline &timeline, std::uint32_t span)
{
    if (!(timeline.classOf(span).exposed.total() > 0))
        return;
    const double all = double(timeline.end[span] - timeline.start[span]) * 1e-9;
    for (const OperationPart &part : operationParts(timeline, span))
        details.facts.push_back({ QObject::tr("Of it %1").arg(partName(part.part)),
            QObject::tr("%1, %2").arg(formatSeconds(part.seconds), formatPercent(part.seconds / all)),
            part.part == &Breakdown::compute ? QObject::tr("With the communication that it hides.")
                                             : QObject::tr("Nothing hides it; the part of Why with this name adds it "
                                                           "up. A share of the operation, not a place in it.") });
}

void addJob(Details &details, const Evaluation &evaluation, std::uint32_t span)
{
    const JobResult *job = resultOf(evaluation, span);
    if (!job)
        return;
    details.facts.push_back({ QObject::tr("Job"), QString::fromStdString(job->name), {} });
    if (job->start && job->end)
        details.facts.push_back({ QObject::tr("Its job runs"),
            QObject::tr("%1 to %2").arg(formatSeconds(*job->start), formatSeconds(*job->end)),
            QObject::tr("From its first unit to its last.") });
    if (job->deadline)
        details.facts.push_back({ QObject::tr("Due"),
            job->end && *job->end > *job->deadline
                ? QObject::tr("%1, missed by %2")
                      .arg(formatSeconds(*job->deadline), formatSeconds(*job->end - *job->deadline))
                : formatSeconds(*job->deadline),
            {} });
    details.facts.push_back(
        { QObject::tr("Work"), formatSeconds(job->work), QObject::tr("Of all its units without waiting.") });
    if (job->slowdown)
        details.facts.push_back({ QObject::tr("Slowdown"), QObject::tr("%1 ×").arg(*job->slowdown, 0, 'f', 2),
            QObject::tr("Its time over what it would take alone on the same GPUs.") });
}

} // namespace

Details spanDetails(const Evaluation &evaluation, std::uint32_t span, bool isCritical)
{
    const Timeline &timeline = evaluation.timeline;
    if (span >= timeline.spanCount())
        return {};
    const Track &track = timeline.tracks[timeline.trackOf[span]];
    Details details;
    details.title = spanTitle(evaluation, span);
    details.subtitle = isCritical ? QObject::tr("on the critical path") : QObject::tr("not on the critical path");
    details.facts.push_back({ QObject::tr("Length"), text(timeline.end[span] - timeline.start[span]), {} });
    details.facts.push_back({ QObject::tr("From"), text(timeline.start[span]),
        isOfJobs(evaluation) ? QObject::tr("Since the beginning.")
                             : QObject::tr("Since the beginning of the iteration.") });
    details.facts.push_back({ QObject::tr("To"), text(timeline.end[span]), {} });
    if (timeline.kind[span] != WorkKind::Prefill)
        addWait(details, evaluation, span);
    addExposed(details, timeline, span);
    addBytes(details, evaluation, span);
    addJob(details, evaluation, span);
    for (const QString &fact : stateFacts(evaluation, span))
        details.facts.push_back({ QObject::tr("Moves"), fact, {} });
    if (track.stream == Stream::Compute) {
        const auto before = memoryAt(evaluation, track.stage, timeline.start[span] - 1),
                   after = memoryAt(evaluation, track.stage, timeline.end[span]);
        if (before && after)
            details.facts.push_back({ QObject::tr("GPU memory"),
                QObject::tr("%1 → %2").arg(formatBytes(double(*before)), formatBytes(double(*after))),
                isOfJobs(evaluation)
                    ? QObject::tr("Of its GPU before and after it.")
                    : QObject::tr("Of a GPU of this stage before and after it, in the slowest pipelines.") });
    }
    const auto &classes = evaluation.layout.classes;
    if (track.pipelineClass < int(classes.size()) && classes[std::size_t(track.pipelineClass)].pipelines > 1)
        details.facts.push_back({ QObject::tr("Same in"),
            QObject::tr("%1 pipelines").arg(classes[std::size_t(track.pipelineClass)].pipelines),
            QObject::tr("Pipelines that run alike are drawn once.") });
    return details;
}

std::vector<CauseStep> causeChain(const Timeline &timeline, std::uint32_t span, std::size_t most)
{
    std::vector<CauseStep> chain;
    while (span != kNoSpan && span < timeline.spanCount() && chain.size() < most) {
        const WorkKind kind = timeline.kind[span];
        chain.push_back({ span, timeline.end[span] - timeline.start[span], waitBefore(timeline, span),
            kind == WorkKind::WanTransfer || kind == WorkKind::PipelineTransfer });
        span = timeline.cause[span];
    }
    return chain;
}

} // namespace trainyard
