#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What tables, pages and Markdown say about the jobs of a plan, in one form for all of them: a row a job, a row a host,
// and what the rows come to. GPUs and nodes are counted from 0, as plans pin jobs to them.

#include "core/evaluation/evaluate/evaluation.h"

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard {

struct JobCounts {
    int jobs = 0, run = 0, paused = 0, cannotRun = 0;
    /// of those that run, what ends after its deadline
    int late = 0;
    /// bytes, of all jobs whose shards travel; empty where none does
    Metric loaded, stored;
};
[[nodiscard]] JobCounts countsOf(const JobMetrics &jobs);

/// "12 run", "10 run, 1 paused, 1 cannot run, 2 late"
[[nodiscard]] std::string countsText(const JobCounts &counts);

/// Its shards travel between host memory and GPUs; of whole jobs on GPUs of their own nobody counts what moves.
[[nodiscard]] bool travels(const JobResult &job);
/// Ends after its deadline.
[[nodiscard]] bool isLate(const JobResult &job);
/// "0\u20133, 6" of { 0, 1, 2, 3, 6 }, which is in order.
[[nodiscard]] std::string numbersText(const std::vector<int> &gpus);

/// What heads the columns of a row a job; the first and the last are texts, the others numbers.
[[nodiscard]] const std::vector<std::string> &jobHeadings();
[[nodiscard]] std::vector<std::string> jobCells(const JobResult &job);
/// Of many jobs those to show: the first of the list, and others that stand out (late, cannot run, the last to end).
[[nodiscard]] std::vector<std::size_t> jobsToShow(const JobMetrics &jobs, std::size_t most);

/// What the plan states of copies between hosts and GPUs, as a sentence; empty where it states nothing.
[[nodiscard]] std::string copyRateText(const Plan &plan);
[[nodiscard]] const std::vector<std::string> &hostHeadings();
[[nodiscard]] std::vector<std::string> hostCells(const Plan &plan, const HostUse &host);

/// A row a GPU, one for neighbours that are alike, at most so many.
[[nodiscard]] const std::vector<std::string> &gpuHeadings();
[[nodiscard]] std::vector<std::vector<std::string>> gpuRows(const MemoryMetrics &memory, std::size_t most);

/// Whose work a span is: index into JobMetrics::perJob; -1: nobody's.
[[nodiscard]] int jobIndexOf(const Evaluation &evaluation, std::uint32_t span);

/// What a plan's GPUs do: "Longest remaining first, double buffers".
[[nodiscard]] std::string schedulerText(const Plan &plan);

} // namespace trainyard
