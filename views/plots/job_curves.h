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
    /// as Metrics::jobs counts them
    int job = 0;
    QString name;
    /// share of its units that have ended at the end of each bucket of the whole time; 0..1
    std::vector<double> done;
};
/// Of jobs that run.
[[nodiscard]] std::vector<JobProgress> jobProgress(const Evaluation &evaluation, int buckets);

struct HostCurve {
    /// "Oregon, node 2"
    QString name;
    /// bytes; 0 where nobody states it
    double capacity = 0;
    /// the highest of each of at most `buckets` slices
    std::vector<MemoryPoint> points;
};
[[nodiscard]] std::vector<HostCurve> hostCurves(const Evaluation &evaluation, int buckets);

} // namespace trainyard
