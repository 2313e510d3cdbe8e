// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/critical_path_text.h"

#include "core/engine/timeline/analysis.h"
#include "models/text/format.h"

#include <QObject>
#include <QStringList>

#include <algorithm>
#include <map>
#include <vector>

namespace trainyard {

namespace {

constexpr double kWorthNaming = 0.03; // of the iteration
constexpr std::size_t kMostNamed = 3;

QString linkName(const Evaluation &evaluation, int link)
{
    if (!evaluation.plan || link < 0 || link >= int(evaluation.plan->cluster.wanLinks.size()))
        return QObject::tr("the WAN");
    const Cluster &cluster = evaluation.plan->cluster;
    QStringList ends;
    for (const std::string &id : cluster.wanLinks[link].between) {
        const int index = cluster.indexOf(id);
        ends << QString::fromStdString(index < 0 ? id : cluster.datacenters[index].label());
    }
    return ends.join(u'–');
}

/// What a span of the path is attributed to.
QString workName(const Evaluation &evaluation, std::uint32_t span)
{
    const Timeline &timeline = evaluation.timeline;
    const Track &track = timeline.tracks[timeline.trackOf[span]];
    const WorkKind kind = timeline.kind[span];
    if (kind == WorkKind::WanTransfer)
        return QObject::tr("transfers %1").arg(linkName(evaluation, track.wanLink));
    if (isTrainingCompute(kind) && evaluation.metrics.jobs) // stages of its layout are GPUs
        return QObject::tr("compute on GPU %1").arg(track.stage);
    if (isTrainingCompute(kind))
        return QObject::tr("compute on stage %1").arg(track.stage + 1);
    return QString::fromLatin1(toString(kind));
}

} // namespace

QString criticalPathSentence(const Evaluation &evaluation)
{
    const Timeline &timeline = evaluation.timeline;
    if (timeline.isEmpty() || timeline.duration <= 0)
        return {};
    const std::vector<std::uint32_t> path = criticalPath(timeline);
    std::map<QString, Nanoseconds> totals;
    Nanoseconds at = 0, latency = 0;
    for (const std::uint32_t span : path) {
        latency +=
            std::max<Nanoseconds>(0, timeline.start[span] - at); // lags between spans are latencies of boundaries
        const Nanoseconds from = std::max(at, timeline.start[span]); // a task may start before its cause ends
        totals[workName(evaluation, span)] += std::max<Nanoseconds>(0, timeline.end[span] - from);
        at = std::max(at, timeline.end[span]);
    }
    if (latency > 0)
        totals[evaluation.metrics.jobs ? QObject::tr("waiting for an arrival")
                                       : QObject::tr("latency of stage boundaries")] += latency;
    std::vector<std::pair<QString, Nanoseconds>> largest(totals.begin(), totals.end());
    std::ranges::stable_sort(largest, std::greater {}, &std::pair<QString, Nanoseconds>::second);
    QStringList words;
    for (std::size_t i = 0; i < largest.size() && i < kMostNamed; ++i) {
        const double share = double(largest[i].second) / double(timeline.duration);
        if (share >= kWorthNaming || i == 0)
            words << QStringLiteral("%1 (%2)").arg(largest[i].first, formatPercent(share));
    }
    return QObject::tr("Critical path of %1 steps: %2.").arg(path.size()).arg(words.join(QStringLiteral(", ")));
}

} // namespace trainyard
