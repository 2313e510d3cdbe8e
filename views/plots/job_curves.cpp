// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/job_curves.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString hostName(const Evaluation &evaluation, const HostUse &host)
{
    const auto &places = evaluation.plan->cluster.datacenters;
    if (host.datacenter < 0 || host.datacenter >= int(places.size()))
        return QCoreApplication::translate("trainyard::HostCurve", "host");
    const Datacenter &place = places[std::size_t(host.datacenter)];
    int node = host.node + 1, nodes = 0;
    for (int p = 0; p < int(place.pools.size()); ++p) {
        nodes += place.pools[std::size_t(p)].nodes;
        node += p < host.pool ? place.pools[std::size_t(p)].nodes : 0;
    }
    const QString label = QString::fromStdString(place.label());
    return nodes > 1 ? QCoreApplication::translate("trainyard::HostCurve", "%1, node %2").arg(label).arg(node) : label;
}

} // namespace

std::vector<JobProgress> jobProgress(const Evaluation &evaluation, int buckets)
{
    std::vector<JobProgress> progress;
    const Timeline &timeline = evaluation.timeline;
    if (!isOfJobs(evaluation) || timeline.duration <= 0 || buckets <= 0)
        return progress;
    const JobSpans jobs = jobSpans(evaluation);
    std::vector<int> slot(jobs.names.size(), -1);
    for (std::size_t job = 0; job < jobs.names.size(); ++job)
        if (jobs.runs[job]) {
            slot[job] = int(progress.size());
            progress.push_back({ int(job), jobs.names[job], std::vector<double>(std::size_t(buckets), 0.0) });
        }
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            const int job = jobs.of(timeline, span);
            if (job < 0 || slot[std::size_t(job)] < 0)
                continue;
            const double at = double(timeline.end[span]) / double(timeline.duration) * buckets;
            // A unit that ends where a bucket does is done by its end.
            const int bucket = std::clamp(int(std::ceil(at)) - 1, 0, buckets - 1);
            progress[std::size_t(slot[std::size_t(job)])].done[std::size_t(bucket)] += 1;
        }
    }
    for (JobProgress &of : progress) {
        double sum = 0;
        for (double &value : of.done)
            value = sum += value;
        for (double &value : of.done)
            value = sum > 0 ? value / sum : 0;
    }
    return progress;
}

std::vector<HostCurve> hostCurves(const Evaluation &evaluation, int buckets)
{
    std::vector<HostCurve> curves;
    if (!isOfJobs(evaluation) || buckets <= 0)
        return curves;
    for (const HostUse &host : evaluation.metrics.jobs->hosts) {
        HostCurve curve { hostName(evaluation, host), host.capacity, {} };
        const bool thin = host.curve.size() > 2 * std::size_t(buckets);
        Nanoseconds last = -1;
        for (const MemoryStep &step : host.curve) {
            const Nanoseconds own = thin ? Nanoseconds(double(step.time) * buckets
                                        / double(std::max<Nanoseconds>(1, evaluation.timeline.duration)))
                                         : step.time;
            if (own == last && !curve.points.empty())
                curve.points.back().bytes = std::max(curve.points.back().bytes, double(step.bytes));
            else
                curve.points.push_back({ double(step.time) * 1e-9, double(step.bytes) });
            last = own;
        }
        curves.push_back(std::move(curve));
    }
    return curves;
}

} // namespace trainyard
