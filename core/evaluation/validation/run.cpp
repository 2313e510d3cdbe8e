// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/validation/run.h"

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/evaluation/evaluate/run.h"
#include "core/evaluation/report/metric_lookup.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace trainyard {

namespace {

using Results = std::vector<ValidationResult>;

struct RowJob {
    const RowSet *set = nullptr;
    const ValidationRow *row = nullptr;
};

Results blankResults(const RowJob &job)
{
    Results results;
    for (const PublishedFigure &figure : job.row->published) {
        ValidationResult result { job.set->source, job.row->group, job.row->id, figure.metric, job.row->status,
            job.row->role, figure.value, std::nullopt, {}, job.row->note, job.row->plan, {} };
        result.publication = publicationOf(*job.set);
        results.push_back(std::move(result));
    }
    return results;
}

bool hasMeasuredKernels(std::span<const EvidenceKey> evidence, const Catalogue &catalogue)
{
    return std::ranges::all_of(evidence, [&](const EvidenceKey &key) {
        const GpuSpec *gpu = catalogue.gpu(key.gpu);
        return gpu && gpu->gemm.evidence != KernelEvidence::SpecSheet;
    });
}

std::string blockingProblem(const Evaluation &evaluation)
{
    const auto found = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return found == evaluation.problems.end() ? std::string() : found->text;
}

/// Empty where the run was stopped before this row was done.
Results evaluateRow(
    const RowJob &job, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop)
{
    Results results = blankResults(job);
    // a published run without a number of replicas used all its GPUs
    const auto evaluation = run(job.row->plan, Depth::Score,
        { .catalogue = catalogue, .workspace = workspace, .stop = stop, .replicas = OpenReplicas::Most });
    if (!evaluation) {
        if (evaluation.error().front().code == ErrorCode::Cancelled)
            return {};
        for (ValidationResult &result : results)
            result.problem = toString(evaluation.error().front());
        return results;
    }
    std::vector<std::string_view> names;
    for (const PublishedFigure &figure : job.row->published)
        names.push_back(figure.metric);
    const std::vector<Metric> values = metricValues(**evaluation, names);
    const std::string problem = blockingProblem(**evaluation);
    const std::vector<EvidenceKey> evidence =
        evidenceKeys(*job.row->plan, (*evaluation)->model, (*evaluation)->layout, catalogue);
    const bool isMeasured = hasMeasuredKernels(evidence, catalogue);
    for (std::size_t i = 0; i < results.size(); ++i) {
        results[i].predicted = values[i];
        results[i].evidence = evidence;
        results[i].hasMeasuredKernels = isMeasured;
        if ((*evaluation)->metrics.memory)
            results[i].fits = (*evaluation)->metrics.memory->fits;
        results[i].problem = !values[i] && problem.empty() ? "this metric does not apply to the plan" : problem;
    }
    return results;
}

} // namespace

ValidationRun runRows(std::span<const RowSet> sets, const Catalogue &catalogue, const RunOptions &options)
{
    std::vector<RowJob> jobs;
    for (const RowSet &set : sets) {
        for (const ValidationRow &row : set.rows)
            jobs.push_back({ &set, &row });
    }
    std::vector<Results> results(jobs.size());
    std::atomic<std::size_t> next = 0;
    std::mutex progressMutex;
    std::size_t done = 0;
    const auto work = [&] {
        EvaluationWorkspace workspace;
        for (std::size_t i = next++; i < jobs.size() && !options.stop.stop_requested(); i = next++) {
            results[i] = evaluateRow(jobs[i], catalogue, workspace, options.stop);
            if (options.progress) {
                const std::lock_guard lock(progressMutex);
                options.progress(++done, jobs.size());
            }
        }
    };
    {
        const auto threads = std::min(std::size_t(std::max(options.threads, 1)), std::max<std::size_t>(jobs.size(), 1));
        std::vector<std::jthread> helpers;
        for (std::size_t t = 1; t < threads; ++t)
            helpers.emplace_back(work);
        work();
    }
    ValidationRun run;
    for (Results &row : results) {
        run.isComplete = run.isComplete && !row.empty();
        std::ranges::move(row, std::back_inserter(run.results));
    }
    return run;
}

std::string publicationOf(const RowSet &set)
{
    constexpr std::string_view host = "github.com/";
    const std::size_t at = set.url.find(host);
    if (at == std::string::npos)
        return set.url.empty() ? set.source : set.url;
    const std::size_t owner = set.url.find('/', at + host.size());
    return set.url.substr(0, owner == std::string::npos ? owner : set.url.find('/', owner + 1));
}

Catalogue withoutMeasuredKernels(Catalogue catalogue)
{
    const auto found = std::ranges::find(
        catalogue.gpus, KernelEvidence::SpecSheet, [](const GpuSpec &gpu) { return gpu.gemm.evidence; });
    if (found == catalogue.gpus.end())
        return catalogue;
    const GpuSpec unmeasured = *found;
    for (GpuSpec &gpu : catalogue.gpus) {
        for (GemmCurve GpuSpec::*curve : { &GpuSpec::gemm, &GpuSpec::gemmFp8, &GpuSpec::gemmBlock8, &GpuSpec::gemmFp4,
                 &GpuSpec::grouped, &GpuSpec::groupedFp8, &GpuSpec::groupedBlock8, &GpuSpec::groupedFp4 })
            gpu.*curve = unmeasured.*curve;
        gpu.attention = unmeasured.attention;
    }
    return catalogue;
}

} // namespace trainyard
