#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the curves of a plan with jobs show, taken from an evaluation as plain vectors: progress of each job, main
// memory of each host. Pure functions of values.

#include "models/job_spans.h"
#include "views/plots/curve_data.h"

#include <QString>

#include <vector>

namespace trainyard {

struct JobProgress {
    int job = 0; // as Metrics::jobs counts them
    QString name;
    std::vector<double> done; // share of its units that have ended at the end of each bucket of the whole time; 0..1
};
/// Of jobs that run.
[[nodiscard]] std::vector<JobProgress> jobProgress(const Evaluation &evaluation, int buckets);

struct HostCurve {
    QString name; // "Oregon, node 2"
    double capacity = 0; // bytes; 0 where nobody states it
    std::vector<MemoryPoint> points; // the highest of each of at most `buckets` slices
};
[[nodiscard]] std::vector<HostCurve> hostCurves(const Evaluation &evaluation, int buckets);

} // namespace trainyard
