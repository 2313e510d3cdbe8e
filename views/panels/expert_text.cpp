// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/expert_text.h"

#include "core/facts/plan/enum_names.h"
#include "models/text/format.h"

#include <QObject>

namespace trainyard {

namespace {

constexpr double kUneven = 1.005; // of the fullest rank over the mean: less rounds to 1.00

QString gigabytesPerSecond(double perSecond)
{
    return QStringLiteral("%1 GB/s").arg(perSecond, 0, 'g', 3);
}

QString wayOf(const ExpertMetrics &experts)
{
    QString way = QString::fromLatin1(labelOf(experts.chosen));
    if (experts.forwardChunks > 1 || experts.backwardChunks > 1)
        way += experts.forwardChunks == experts.backwardChunks
            ? QObject::tr(" in %1 pieces").arg(experts.forwardChunks)
            : QObject::tr(" in %1 pieces, %2 in the backward").arg(experts.forwardChunks).arg(experts.backwardChunks);
    return way;
}

} // namespace

QString exposedExchange(const Metrics &metrics)
{
    if (!metrics.experts)
        return {};
    return QObject::tr("Tokens to experts: %1 of %2 per layer exposed")
        .arg(formatSeconds(metrics.experts->exposedMs * 1e-3), formatSeconds(metrics.experts->layerMs * 1e-3));
}

QStringList expertFacts(const Metrics &metrics)
{
    if (!metrics.experts)
        return {};
    const ExpertMetrics &experts = *metrics.experts;
    QStringList facts { exposedExchange(metrics) + QStringLiteral(", ") + wayOf(experts) + u'.' };
    if (experts.wireGBps > 0)
        facts << QObject::tr("A dispatch runs at %1 on the wire, %2 as benchmarks count.")
                     .arg(gigabytesPerSecond(experts.wireGBps), gigabytesPerSecond(experts.logicalGBps));
    if (experts.skew > kUneven)
        facts << QObject::tr("Rank %1 of a group is the fullest, %2 × the mean.")
                     .arg(experts.slowestRank)
                     .arg(experts.skew, 0, 'f', 2);
    if (experts.droppedShare > 0)
        facts << QObject::tr("%1 of the visits find no room and are dropped.").arg(formatPercent(experts.droppedShare));
    return facts;
}

} // namespace trainyard
