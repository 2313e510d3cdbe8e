// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/fill_text.h"

#include "models/text/format.h"

#include <QLocale>
#include <QObject>

#include <algorithm>
#include <array>
#include <functional>

namespace trainyard {

namespace {

QString count(std::int64_t n)
{
    return QLocale(QLocale::English).toString(qlonglong(n));
}

QString milliseconds(const Metric &ms)
{
    return ms ? formatSeconds(*ms * 1e-3) : QStringLiteral("–");
}

/// Why requests were turned away, most often first.
QString rejections(const BubbleFillMetrics &fill)
{
    std::array<std::pair<std::int64_t, QString>, 5> reasons { {
        { fill.rejectedForWindow, QObject::tr("no gap is long enough") },
        { fill.rejectedAsFull, QObject::tr("the gaps are taken") },
        { fill.rejectedAsLate, QObject::tr("too late") },
        { fill.rejectedForMemory, QObject::tr("no memory beside training") },
        { fill.rejectedByDecode, QObject::tr("no room in the decode pool") },
    } };
    std::ranges::stable_sort(reasons, std::greater<> {}, [](const auto &reason) { return reason.first; });
    QStringList words;
    for (const auto &[requests, why] : reasons)
        if (requests > 0)
            words << QStringLiteral("%1 %2").arg(count(requests), why);
    return words.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(words.join(QStringLiteral(", ")));
}

QString firstToken(const BubbleFillMetrics &fill)
{
    QString text = QObject::tr("First token p50 %1, p95 %2, p99 %3")
                       .arg(milliseconds(fill.ttftP50Ms), milliseconds(fill.ttftP95Ms), milliseconds(fill.ttftP99Ms));
    if (fill.ttftInflation && fill.dedicatedTtftMs)
        text += QObject::tr("; p50 is %1 × the %2 on a dedicated GPU")
                    .arg(*fill.ttftInflation, 0, 'f', 2)
                    .arg(milliseconds(fill.dedicatedTtftMs));
    if (fill.seed)
        text += QObject::tr("; one draw of the arrivals, seed %1").arg(*fill.seed);
    return text + u'.';
}

} // namespace

QString utilizationWithFill(const Metrics &metrics)
{
    if (!metrics.gpuUtilization)
        return {};
    const QString before = formatPercent(*metrics.gpuUtilization);
    if (!metrics.bubbleFill || !metrics.gpuUtilizationWithFill)
        return before;
    return QStringLiteral("%1 → %2").arg(before, formatPercent(*metrics.gpuUtilizationWithFill));
}

QStringList fillFacts(const Metrics &metrics)
{
    if (!metrics.bubbleFill)
        return {};
    const BubbleFillMetrics &fill = *metrics.bubbleFill;
    const std::int64_t arrived = fill.accepted + fill.rejected;
    if (arrived == 0)
        return { QObject::tr("No request arrives during an iteration.") };
    QStringList facts;
    facts << QObject::tr("GPUs at work %1, %2 of their idle time filled.")
                 .arg(utilizationWithFill(metrics), formatPercent(fill.filledFraction));
    facts << QObject::tr("%1 of %2 per iteration accepted, %3 rejected%4.")
                 .arg(count(fill.accepted), countOf(arrived, QObject::tr("request"), QObject::tr("requests")),
                     count(fill.rejected), rejections(fill));
    if (fill.accepted > 0)
        facts << firstToken(fill);
    for (const ServedModelMetrics &served : fill.served)
        facts << QObject::tr("%1: %2 accepted, %3 rejected, first token p50 %4.")
                     .arg(QString::fromStdString(served.model), count(served.accepted), count(served.rejected),
                         milliseconds(served.ttftP50Ms));
    if (fill.saturationRequestsPerSecond)
        facts << QObject::tr("At most %1 such requests per second are served; %2 wait at a time.")
                     .arg(formatCount(*fill.saturationRequestsPerSecond), formatCount(fill.waiting));
    QString rate = QObject::tr("%1 prefill tokens/s").arg(formatCount(fill.prefillTokensPerSecond));
    if (fill.usdPerHour)
        rate += QObject::tr(", worth %1 per hour").arg(formatUsd(*fill.usdPerHour));
    facts << rate + u'.';
    facts << QObject::tr("%1 of the model on %2, %3 on each; training is %4.")
                 .arg(countOf(fill.groups, QObject::tr("copy"), QObject::tr("copies")), gpusText(fill.gpus),
                     formatBytes(double(fill.memoryPerGpu)),
                     fill.trainingDelay > 0 ? QObject::tr("delayed by %1").arg(formatSeconds(fill.trainingDelay))
                                            : QObject::tr("not delayed"));
    return facts;
}

} // namespace trainyard
