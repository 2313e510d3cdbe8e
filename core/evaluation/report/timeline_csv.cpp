// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/timeline_csv.h"

#include "core/base/csv_text.h"
#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/job_text.h"

namespace trainyard {

namespace {

void writeJobsCsv(const Evaluation &evaluation, std::ostream &out)
{
    const Timeline &timeline = evaluation.timeline;
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    out << "datacenter,gpu,stream,job,kind,minibatch,shard,bytes,start_ns,end_ns\n";
    for (const Track &track : timeline.tracks) {
        const std::string prefix = csvField(datacenterName(evaluation, track)) + "," + std::to_string(track.stage) + ","
            + toString(track.stream) + ",";
        for (std::uint32_t i = track.first; i < track.last; ++i) {
            const int job = jobIndexOf(evaluation, i);
            out << prefix << (job < 0 ? std::string() : csvField(jobs.perJob[std::size_t(job)].name)) << ','
                << toString(timeline.kind[i]) << ',';
            if (timeline.microBatch[i] >= 0)
                out << std::int64_t { timeline.microBatch[i] } * jobs.minibatchesPerSpan << ',' << timeline.chunk[i];
            else
                out << ',';
            out << ',' << std::int64_t(timeline.bytesMoved(i)) << ',' << timeline.start[i] << ',' << timeline.end[i]
                << '\n';
        }
    }
}

} // namespace

void writeTimelineCsv(const Evaluation &evaluation, std::ostream &out)
{
    if (evaluation.metrics.jobs)
        return writeJobsCsv(evaluation, out);
    const Timeline &timeline = evaluation.timeline;
    out << "datacenter,pipeline_class,pipelines,stage,to_stage,stream,kind,micro_batch,chunk,start_ns,end_ns\n";
    for (const Track &track : timeline.tracks) {
        const auto &classes = evaluation.layout.classes;
        const bool isKnown = track.pipelineClass >= 0 && std::size_t(track.pipelineClass) < classes.size();
        const int pipelines = isKnown ? classes[std::size_t(track.pipelineClass)].pipelines : 1;
        const std::string prefix = csvField(datacenterName(evaluation, track)) + ","
            + std::to_string(track.pipelineClass) + "," + std::to_string(pipelines) + "," + std::to_string(track.stage)
            + "," + (track.toStage >= 0 ? std::to_string(track.toStage) : "") + "," + toString(track.stream) + ",";
        for (std::uint32_t i = track.first; i < track.last; ++i) {
            out << prefix << toString(timeline.kind[i]) << ',';
            if (timeline.microBatch[i] >= 0)
                out << timeline.microBatch[i];
            out << ',' << timeline.chunk[i] << ',' << timeline.start[i] << ',' << timeline.end[i] << '\n';
        }
    }
}

} // namespace trainyard
