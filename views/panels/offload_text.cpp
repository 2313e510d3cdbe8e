// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/offload_text.h"

#include "models/text/format.h"

#include <QObject>

namespace trainyard {

namespace {

constexpr double kMonthsPerYear = 12, kDaysPerYear = 365, kLongest = 100;

QString bandwidth(double gigabytesPerSecond)
{
    return QStringLiteral("%1 GB/s").arg(gigabytesPerSecond, 0, 'g', 3);
}

QString layers(int count)
{
    return countOf(count, QObject::tr("layer"), QObject::tr("layers"));
}

/// What MEMO, KARMA or ProTrain make of the layers, and what the second computation takes.
QString policyFact(const OffloadMetrics &offload)
{
    QString fact = offload.tokenShare ? QObject::tr("%1 of the tokens offloaded in %2")
                                            .arg(formatPercent(*offload.tokenShare), layers(offload.layersSwapped))
                                      : QObject::tr("%1 kept, %2 swapped, %3 recomputed")
                                            .arg(layers(offload.layersKept))
                                            .arg(offload.layersSwapped)
                                            .arg(offload.layersRecomputed);
    if (offload.recompute > 0)
        fact += QObject::tr("; recompute takes %1 per iteration").arg(formatSeconds(offload.recompute));
    return fact + u'.';
}

/// What activations that leave mean.
std::vector<OffloadLine> movedLines(const OffloadMetrics &offload)
{
    std::vector<OffloadLine> lines;
    lines.push_back({ QObject::tr("offloaded per iteration"), formatBytes(offload.bytesPerGpu),
        QObject::tr("Written by the GPU that moves most.") });
    if (offload.bytesForwarded > 0)
        lines.push_back({ QObject::tr("forwarded from the GPU"), formatBytes(offload.bytesForwarded),
            QObject::tr("Taken from the GPU while the store was still on its way, so that nothing is loaded.") });
    lines.push_back({ QObject::tr("required write rate"), bandwidth(offload.requiredWriteGBps),
        QObject::tr("Of one GPU: what leaves, over half the iteration.") });
    lines.push_back({ QObject::tr("activation peak"), formatChange(1, 1 - offload.activationPeakReduction),
        QObject::tr("Against the same plan with all activations on the GPU.") });
    const bool waits = offload.stall > 0;
    lines.push_back({ waits ? QObject::tr("training waits") : QObject::tr("training"),
        waits ? formatSeconds(offload.stall) : QObject::tr("does not wait"),
        QObject::tr("Seconds of the iteration in which compute waits for activations to return.") });
    if (offload.layersSwapped + offload.layersRecomputed > 0)
        lines.push_back({ QObject::tr("layers"),
            QObject::tr("%1 kept, %2 swapped, %3 recomputed")
                .arg(offload.layersKept)
                .arg(offload.layersSwapped)
                .arg(offload.layersRecomputed),
            QObject::tr("What the policy makes of the layers of the stage that would hold most: kept on the GPU, "
                        "swapped out and in, recomputed.") });
    if (offload.tokenShare)
        lines.push_back({ QObject::tr("tokens offloaded"), formatPercent(*offload.tokenShare),
            QObject::tr("Of the tensors beside input and attention output. The others are recomputed.") });
    if (offload.recompute > 0)
        lines.push_back({ QObject::tr("recomputed"), formatSeconds(offload.recompute),
            QObject::tr("Seconds of the iteration in which that stage computes what did not leave a second time.") });
    return lines;
}

} // namespace

QString formatYears(double years)
{
    if (years > kLongest)
        return QObject::tr("over %1 years").arg(kLongest);
    if (years >= 1)
        return QObject::tr("%1 years").arg(years, 0, 'f', years < 10 ? 1 : 0);
    const double months = years * kMonthsPerYear;
    if (months >= 1)
        return QObject::tr("%1 months").arg(months, 0, 'f', months < 10 ? 1 : 0);
    return QObject::tr("%1 days").arg(years * kDaysPerYear, 0, 'f', 1);
}

QStringList offloadFacts(const Metrics &metrics)
{
    if (!metrics.offload)
        return {};
    const OffloadMetrics &offload = *metrics.offload;
    QStringList facts;
    if (offload.bytesPerGpu <= 0)
        facts << QObject::tr("No activation leaves the GPU.");
    if (offload.layersSwapped + offload.layersRecomputed > 0)
        facts << policyFact(offload);
    if (offload.bytesPerGpu <= 0 && offload.recompute <= 0)
        return facts; // of the drives of states speaks the memory panel
    if (offload.bytesPerGpu > 0)
        facts << QObject::tr("%1 leave a GPU per iteration, which needs %2 of writing.")
                     .arg(formatBytes(offload.bytesPerGpu), bandwidth(offload.requiredWriteGBps));
    QString peak = QObject::tr("Activations peak %1 lower").arg(formatPercent(offload.activationPeakReduction));
    peak += offload.stall > 0 ? QObject::tr("; training waits %1 for them.").arg(formatSeconds(offload.stall))
                              : QObject::tr("; training does not wait.");
    facts << peak;
    QStringList drives;
    if (offload.ssdLifetimeYears)
        drives << QObject::tr("Drives last %1").arg(formatYears(*offload.ssdLifetimeYears));
    if (offload.ssdUsdPerGpu)
        drives << QObject::tr("%1 of drives per GPU").arg(formatUsd(*offload.ssdUsdPerGpu));
    if (!drives.isEmpty())
        facts << drives.join(QStringLiteral(", ")) + u'.';
    return facts;
}

std::vector<OffloadLine> offloadLines(const Metrics &metrics)
{
    if (!metrics.offload)
        return {};
    const OffloadMetrics &offload = *metrics.offload;
    std::vector<OffloadLine> lines;
    if (offload.bytesPerGpu > 0 || offload.recompute > 0)
        lines = movedLines(offload);
    if (offload.ssdLifetimeYears)
        lines.push_back({ QObject::tr("drive endurance"), formatYears(*offload.ssdLifetimeYears),
            QObject::tr("Of the drives that wear out first, written as in this iteration day and night.") });
    if (offload.ssdUsdPerGpu)
        lines.push_back({ QObject::tr("drives per GPU"), formatUsd(*offload.ssdUsdPerGpu),
            QObject::tr("Price of a node's drives over its GPUs.") });
    return lines;
}

std::vector<OffloadLine> stepLines(const Evaluation &evaluation, int stage)
{
    if (evaluation.offloadedSteps.empty() || stage < 0
        || std::size_t(stage) >= evaluation.offloadedSteps.front().size())
        return {};
    const OffloadedStep &step = evaluation.offloadedSteps.front()[std::size_t(stage)];
    std::vector<OffloadLine> lines;
    lines.push_back({ QObject::tr("takes"), formatSeconds(step.time.value),
        evaluation.plan->memory.delayedUpdate
            ? QObject::tr("Beside the next iteration; what that is too short for shows at its end.")
            : QObject::tr("The GPU waits for it at the end of every iteration.") });
    const int groups = step.groups;
    if (step.stride > 0)
        lines.push_back({ QObject::tr("updated by the GPU itself"),
            step.stride > 1 ? QObject::tr("1 in %1 groups").arg(step.stride) : QObject::tr("every group"),
            QObject::tr(
                "Of %1 groups of parameters, so that processors, link and GPU end together as nearly as they can.")
                .arg(groups) });
    const auto add = [&lines](const QString &name, double bytes, const QString &explanation) {
        if (bytes > 0)
            lines.push_back({ name, formatBytes(bytes), explanation });
    };
    add(QObject::tr("to the host"), step.sent.value,
        QObject::tr("Of one GPU in an iteration: gradients, and states that it has updated itself."));
    add(QObject::tr("from the host"), step.fetched.value,
        QObject::tr("Of one GPU in an iteration: updated weights, and states to update."));
    add(QObject::tr("read from drives"), step.readBack.value, QObject::tr("For one GPU in an iteration."));
    add(QObject::tr("written to drives"), step.written.value,
        QObject::tr("For one GPU in an iteration, with gradients stored during backward."));
    return lines;
}

} // namespace trainyard
