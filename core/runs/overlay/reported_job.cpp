// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/reported_job.h"

#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/runs/imports/draft.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace trainyard {

namespace {

constexpr int kLargest = 1 << 24;

struct ToldQuantity {
    std::optional<int> ReportedJob::*told;
    const char *what;
    std::array<std::string_view, 7> names; // the first that is told counts; of Megatron, torchtitan, DeepSpeed, NeoX
};
constexpr auto kQuantities = std::to_array<ToldQuantity>({
    { &ReportedJob::tensor, "tensor parallelism",
        { "tensor_model_parallel_size", "parallelism.tensor_parallel_degree", "training.tensor_parallel_degree",
            "tensor_parallel_degree" } },
    { &ReportedJob::pipeline, "pipeline stages",
        { "pipeline_model_parallel_size", "parallelism.pipeline_parallel_degree",
            "experimental.pipeline_parallel_degree", "pipeline_parallel_degree", "pipe_parallel_size" } },
    { &ReportedJob::context, "context parallelism",
        { "context_parallel_size", "parallelism.context_parallel_degree", "experimental.context_parallel_degree",
            "context_parallel_degree" } },
    { &ReportedJob::globalBatch, "sequences per step",
        { "global_batch_size", "training.global_batch_size", "deepspeed.train_batch_size", "train_batch_size" } },
    { &ReportedJob::microBatch, "sequences per micro-batch",
        { "micro_batch_size", "deepspeed.train_micro_batch_size_per_gpu", "train_micro_batch_size_per_gpu" } },
    { &ReportedJob::sequenceLength, "tokens per sequence", { "seq_length", "training.seq_len", "seq_len" } },
    { &ReportedJob::layers, "layers", { "num_layers" } },
    { &ReportedJob::hidden, "hidden size", { "hidden_size" } },
});

/// As told with underscores or, as on a command line, with hyphens.
std::optional<std::string> textOf(const imports::Told &told, std::string_view name)
{
    if (auto text = told.text(name))
        return text;
    std::string other(name);
    std::ranges::replace(other, '_', '-');
    return told.text(other);
}

std::optional<int> numberOf(const imports::Told &told, std::string_view name)
{
    const auto text = name.empty() ? std::nullopt : textOf(told, name);
    if (!text)
        return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    const bool isWhole = error == std::errc() && end == text->data() + text->size() && number > 0 && number <= kLargest;
    return isWhole ? std::optional(number) : std::nullopt;
}

} // namespace

ReportedJob reportedJob(const Recording &recording)
{
    const imports::Told told(recording);
    ReportedJob job;
    for (const ToldQuantity &quantity : kQuantities)
        for (const std::string_view name : quantity.names)
            if (!(job.*quantity.told))
                job.*quantity.told = numberOf(told, name);
    job.ranks = numberOf(told, "world_size").value_or(0);
    for (const RankRecording &rank : recording.ranks)
        job.ranks = std::max(job.ranks, rank.worldSize);
    const auto mapping = textOf(told, "use_tp_pp_dp_mapping");
    if (mapping && *mapping != "False" && *mapping != "false" && *mapping != "0")
        job.order = RankOrder::PipelineBeforeData;
    else if (!recording.arguments.empty())
        job.order = RankOrder::DataBeforePipeline;
    return job;
}

std::string severalJobs(const Recording &recording)
{
    std::map<std::uint32_t, std::set<double>> batches; // of each source
    for (const SampleSeries &series : recording.series)
        if ((series.name == samples::kGlobalBatch
                || series.name.text().ends_with(std::string(".") + samples::kGlobalBatch))
            && series.isByStep && series.source < recording.sources.size())
            for (const double value : series.value)
                if (value >= 1 && batches[series.source].size() < 1000)
                    batches[series.source].insert(value);
    const auto isApart = [](const std::set<double> &a, const std::set<double> &b) {
        return !a.empty() && !b.empty()
            && std::ranges::none_of(a, [&](const double value) { return b.contains(value); })
            // a batch that grows: each attempt has its own part of it
            && a.size() == 1 && b.size() == 1;
    };
    std::string told;
    for (const auto &[source, values] : batches) {
        const bool isOther =
            std::ranges::any_of(batches, [&](const auto &other) { return isApart(values, other.second); });
        if (!isOther)
            continue;
        const std::string &file = recording.sources[source].file;
        told += (told.empty() ? "global batch " : ", ") + wholeText(*values.begin()) + " ("
            + shortened(file.substr(file.find_last_of("/\\") + 1)) + ")";
    }
    return told;
}

std::string jobDifferences(const ReportedJob &job, const ReportedJob &reference, const char *other)
{
    std::string differing;
    for (const ToldQuantity &quantity : kQuantities) {
        const auto &own = job.*quantity.told, &theirs = reference.*quantity.told;
        if (own && theirs && *own != *theirs && *theirs > 0)
            differing += (differing.empty() ? "" : "; ") + std::string(quantity.what) + " " + wholeText(*own) + ", "
                + other + " " + wholeText(*theirs);
    }
    return differing;
}

} // namespace trainyard
