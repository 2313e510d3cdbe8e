// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metric_rows.h"

#include "core/base/number_text.h"
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"
#include "core/evaluation/report/job_text.h"
#include "core/facts/plan/job_schedulers.h"

#include <algorithm>

namespace trainyard {

namespace {

void addBubbleFill(std::vector<MetricRow> &rows, const std::optional<BubbleFillMetrics> &filled)
{
    using enum MetricUnit;
    const BubbleFillMetrics none, &fill = filled ? *filled : none;
    const auto add = [&](const char *key, const char *label, MetricUnit unit, Better better, Metric value) {
        rows.push_back({ std::string("bubble_fill.") + key, label, unit, better, filled ? value : Metric() });
    };
    add("accepted", "Prefill requests accepted", Whole, Better::Higher, double(fill.accepted));
    add("rejected", "Prefill requests rejected", Whole, Better::Lower, double(fill.rejected));
    add("rejected_by.memory", "of them, no memory beside training", Whole, Better::Lower,
        double(fill.rejectedForMemory));
    add("rejected_by.window", "no bubble is long enough", Whole, Better::Lower, double(fill.rejectedForWindow));
    add("rejected_by.full", "bubbles are taken", Whole, Better::Lower, double(fill.rejectedAsFull));
    add("rejected_by.late", "first token too late", Whole, Better::Lower, double(fill.rejectedAsLate));
    add("rejected_by.decode", "no room in the decode pool", Whole, Better::Lower, double(fill.rejectedByDecode));
    add("filled_fraction", "Idle time filled", Fraction, Better::Higher, fill.filledFraction);
    add("prefill_tokens_per_s", "Prefill tokens per second", Number, Better::Higher, fill.prefillTokensPerSecond);
    add("ttft_ms.p50", "Time to first token, median", Milliseconds, Better::Lower, fill.ttftP50Ms);
    add("ttft_ms.p95", "95th percentile", Milliseconds, Better::Lower, fill.ttftP95Ms);
    add("ttft_ms.p99", "99th percentile", Milliseconds, Better::Lower, fill.ttftP99Ms);
    add("waiting", "Requests that wait, in the mean", Number, Better::Lower, fill.waiting);
    add("saturation_requests_per_s", "Requests per second at saturation", Number, Better::Higher,
        fill.saturationRequestsPerSecond);
    add("decode_requests_per_s", "Requests per second of the decode pool", Number, Better::Higher,
        fill.decodeRequestsPerSecond);
    add("ttft_inflation", "Median over a dedicated GPU", Ratio, Better::Lower, fill.ttftInflation);
    add("memory_bytes_per_gpu", "Memory of prefill per GPU", Size, Better::Lower, double(fill.memoryPerGpu));
    add("usd_per_hour", "Value of prefill per hour", Money, Better::Higher, fill.usdPerHour);
    add("training_delay_s", "Training delayed by prefill", Time, Better::Lower, fill.trainingDelay);
}

void addExpertRows(std::vector<MetricRow> &rows, const std::optional<ExpertMetrics> &experts)
{
    using enum MetricUnit;
    const auto add = [&](const char *key, const char *label, MetricUnit unit, Better better,
                         double ExpertMetrics::*part) {
        rows.push_back(
            { std::string("moe.") + key, label, unit, better, experts ? Metric { (*experts).*part } : Metric {} });
    };
    add("layer_ms", "One expert layer, forward", Milliseconds, Better::Lower, &ExpertMetrics::layerMs);
    add("exposed_ms", "of it, nothing computes", Milliseconds, Better::Lower, &ExpertMetrics::exposedMs);
    add("wire_bytes", "Tokens that a GPU sends to experts", Size, Better::Lower, &ExpertMetrics::wireBytes);
    add("logical_gbytes_per_s", "Dispatch, logical", Rate, Better::Higher, &ExpertMetrics::logicalGBps);
    add("wire_gbytes_per_s", "Dispatch, on the wire", Rate, Better::Neither, &ExpertMetrics::wireGBps);
    add("skew", "Load of the fullest expert rank", Ratio, Better::Lower, &ExpertMetrics::skew);
    add("dropped_share", "Visits to experts dropped", Fraction, Better::Lower, &ExpertMetrics::droppedShare);
}

std::vector<MetricRow> jobRows(const Evaluation &evaluation)
{
    using enum MetricUnit;
    const std::optional<JobMetrics> &m = evaluation.metrics.jobs;
    const JobMetrics none, &jobs = m ? *m : none;
    const JobCounts counts = countsOf(jobs);
    const auto ofJobs = [&](Metric value) { return m ? value : Metric(); };
    const Metric overBound =
        jobs.makespan && jobs.bound.value_or(0) > 0 ? Metric(*jobs.makespan / *jobs.bound) : Metric();
    const char *bound = isByShards(evaluation.plan->jobScheduler) ? "No schedule by shards is shorter than"
                                                                  : "No schedule of its kind is shorter than";
    return { { "jobs.makespan_s", "All jobs done after", Duration, Better::Lower, jobs.makespan },
        { "jobs.bound_s", bound, Duration, Better::Neither, jobs.bound },
        { "jobs.bound_shared_s", "all work over all GPUs", Duration, Better::Neither, jobs.boundShared },
        { "jobs.bound_longest_s", "compute of the longest job", Duration, Better::Neither, jobs.boundLongest },
        { "jobs.makespan_over_bound", "Time over that bound", Ratio, Better::Lower, overBound },
        { "jobs.gpu_utilization", "GPUs compute", Fraction, Better::Higher, jobs.gpuUtilization },
        { "jobs.count", "Jobs", Whole, Better::Neither, ofJobs(counts.jobs) },
        { "jobs.run", "Jobs that run", Whole, Better::Higher, ofJobs(counts.run) },
        { "jobs.late", "Jobs that end late", Whole, Better::Lower, ofJobs(counts.late) },
        { "jobs.host_peak_bytes", "Host memory, fullest node", Size, Better::Lower, ofJobs(double(jobs.hostPeak)) },
        { "jobs.loaded_bytes", "Moved to GPUs", Size, Better::Lower, counts.loaded },
        { "jobs.stored_bytes", "Moved back", Size, Better::Lower, counts.stored },
        { "jobs.usd", "Price of it all", Money, Better::Lower, jobs.usd } };
}

} // namespace

std::vector<MetricRow> metricRows(const Evaluation &evaluation, bool withJobs)
{
    using enum MetricUnit;
    const Metrics &m = evaluation.metrics;
    Metric peak, device, capacity, wanBytes, wanUse, wanUsable;
    if (m.memory) {
        peak = double(m.memory->peak);
        capacity = double(m.memory->capacity);
        for (const StageMemory &stage : m.memory->perStage) {
            if (stage.stage == m.memory->fullestStage)
                device = double(stage.device);
        }
    }
    if (!evaluation.plan->cluster.wanLinks.empty()) {
        wanBytes = m.wanBytesPerIteration;
        wanUse = wanUsable = 0;
        for (const WanLinkUse &link : m.wanLinks)
            wanUse = std::max(*wanUse, link.utilization);
        if (const WanLinkUse *busiest = busiestLink(m))
            wanUsable = busiest->usableUtilization;
    }
    const auto offload = [&](double OffloadMetrics::*part) {
        return m.offload ? Metric { (*m.offload).*part } : Metric {};
    };
    std::vector<MetricRow> rows {
        { "iteration_time_s", "Iteration", Time, Better::Lower, m.iterationTime },
        { "tokens_per_s", "Tokens per second", Number, Better::Higher, m.tokensPerSecond },
        { "tokens_per_s_per_gpu", "Tokens per second per GPU", Number, Better::Higher, m.tokensPerSecondPerGpu },
        { "model_tflops_per_gpu", "Model TFLOP/s per GPU", TeraflopRate, Better::Higher, m.modelTflopsPerGpu },
        { "mfu", "Model FLOPs utilization", Fraction, Better::Higher, m.mfu },
        { "hfu", "Hardware FLOPs utilization", Fraction, Better::Higher, m.hfu },
        { "gpus_used", "GPUs used", Whole, Better::Neither, double(m.gpusUsed) },
        { "gpus_total", "GPUs in the plan", Whole, Better::Neither, double(m.gpusTotal) },
        { "gpu_utilization", "GPU utilization", Fraction, Better::Higher, m.gpuUtilization },
        { "gpu_utilization_with_fill", "GPU utilization with prefill", Fraction, Better::Higher,
            m.gpuUtilizationWithFill },
        { "bubble_fraction", "Bubble", Fraction, Better::Lower, m.bubbleFraction },
        { "memory.peak_bytes", "Peak memory, fullest GPU", Size, Better::Lower, peak },
        { "memory.device_bytes", "On the device, fullest GPU", Size, Better::Lower, device },
        { "memory.capacity_bytes", "Capacity of that GPU", Size, Better::Neither, capacity },
        { "offload.bytes_per_gpu_per_iteration", "Offloaded per GPU per iteration", Size, Better::Neither,
            offload(&OffloadMetrics::bytesPerGpu) },
        { "offload.required_write_gbytes_per_s", "Write bandwidth that hides it", Rate, Better::Lower,
            offload(&OffloadMetrics::requiredWriteGBps) },
        { "offload.activation_peak_reduction", "Activation peak saved by offloading", Fraction, Better::Higher,
            offload(&OffloadMetrics::activationPeakReduction) },
        { "offload.ssd_lifetime_years", "Drive endurance", Years, Better::Higher,
            m.offload ? m.offload->ssdLifetimeYears : Metric {} },
        { "offload.ssd_usd_per_gpu", "Drives of one GPU", Money, Better::Lower,
            m.offload ? m.offload->ssdUsdPerGpu : Metric {} },
        { "wan.bytes_per_iteration", "WAN traffic per iteration", Size, Better::Lower, wanBytes },
        { "wan.busiest_usable_utilization", "Busiest WAN link", Fraction, Better::Lower, wanUsable },
        { "wan.busiest_utilization", "Most used capacity of a WAN link", Fraction, Better::Lower, wanUse },
        { "cost.usd_per_iteration", "Cost per iteration", Money, Better::Lower, m.cost.usdPerIteration },
        { "cost.usd_per_million_tokens", "Cost per million tokens", Money, Better::Lower, m.cost.usdPerMillionTokens },
        { "cost.usd_total", "Cost of the training", Money, Better::Lower, m.cost.usdTotal },
        { "cost.egress_usd_total", "of that, egress", Money, Better::Lower, m.cost.egressUsdTotal },
        { "cost.days_total", "Time to train", Days, Better::Lower, m.cost.daysTotal },
        { "cost.energy_mwh_total", "Energy", Energy, Better::Lower, m.cost.energyMwhTotal },
        { "cost.co2_t_total", "CO\u2082", Mass, Better::Lower, m.cost.co2TonsTotal },
    };
    addExpertRows(rows, m.experts);
    addBubbleFill(rows, m.bubbleFill);
    if (withJobs) {
        const std::vector<MetricRow> ofJobs = jobRows(evaluation);
        rows.insert(rows.begin(), ofJobs.begin(), ofJobs.end());
    }
    return rows;
}

std::vector<MetricRow> breakdownRows(const Evaluation &evaluation)
{
    if (!evaluation.metrics.breakdown)
        return {};
    std::vector<MetricRow> rows;
    for (const BreakdownEntry &entry : breakdownEntries(*evaluation.metrics.breakdown))
        rows.push_back({ entry.metric, entry.label, MetricUnit::Time, Better::Lower, entry.seconds });
    return rows;
}

std::string valueText(const MetricRow &row)
{
    if (!row.value)
        return "\u2013";
    const double value = *row.value;
    switch (row.unit) {
    case MetricUnit::Time:
        return secondsText(value);
    case MetricUnit::Duration:
        return durationText(value);
    case MetricUnit::Milliseconds:
        return secondsText(value * 1e-3);
    case MetricUnit::Fraction:
        return percentText(value);
    case MetricUnit::Size:
        return bytesText(value);
    case MetricUnit::Number:
        return countText(value);
    case MetricUnit::Whole:
        return wholeText(value);
    case MetricUnit::TeraflopRate:
        return plainText(value);
    case MetricUnit::Money:
        return usdText(value);
    case MetricUnit::Days:
        return plainText(value) + (value == 1 ? " day" : " days");
    case MetricUnit::Energy:
        return plainText(value) + " MWh";
    case MetricUnit::Ratio:
        return plainText(value) + "\u00d7";
    case MetricUnit::Rate:
        return plainText(value) + " GB/s";
    case MetricUnit::Years:
        return yearsText(value);
    case MetricUnit::Mass:
        return plainText(value) + " t";
    }
    return {};
}

} // namespace trainyard
