// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/mlperf_settings.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

struct Setting {
    std::string_view variable, argument;
};
constexpr std::array<Setting, 16> kSettings { { { "TENSOR_MODEL_PARALLEL", "tensor_model_parallel_size" },
    { "PIPELINE_MODEL_PARALLEL", "pipeline_model_parallel_size" },
    { "INTERLEAVED_PIPELINE", "virtual_pipeline_model_parallel_size" }, { "CONTEXT_PARALLEL", "context_parallel_size" },
    { "EXPERT_PARALLEL", "expert_model_parallel_size" }, { "EXPERT_MODEL_PARALLEL", "expert_model_parallel_size" },
    { "MICRO_BATCH_SIZE", "micro_batch_size" }, { "MINIBS", "minibatch_of_replica" },
    { "GLOBAL_BATCH_SIZE", "global_batch_size" }, { "SEQ_PARALLEL", "sequence_parallel" }, { "DGXNNODES", "nnodes" },
    { "DGXNGPU", "nproc_per_node" }, { "SEQ_LENGTH", "seq_length" }, { "MAX_SEQLEN", "seq_length" }, { "FP8", "fp8" },
    { "USE_DIST_OPTIMIZER", "use_distributed_optimizer" } } };

std::int64_t wholeOf(const CommandOptions &options, const char *name, std::int64_t otherwise)
{
    const auto known = options.arguments.find(name);
    std::string_view text = known != options.arguments.end() ? std::string_view(known->second) : std::string_view();
    const auto number = takeWhole(text);
    return number && text.empty() && *number > 0 && *number < 100'000 ? *number : otherwise;
}

} // namespace

bool looksLikeMlperfSettings(std::string_view head)
{
    return std::ranges::count_if(std::array<std::string_view, 6> { "TENSOR_MODEL_PARALLEL=", "PIPELINE_MODEL_PARALLEL=",
                                     "INTERLEAVED_PIPELINE=", "CONTEXT_PARALLEL=", "MINIBS=", "DGXNNODES=" },
               [&](std::string_view name) { return head.find(name) != head.npos; })
        >= 2;
}

bool addMlperfSettings(const ShellScript &script, CommandOptions &options)
{
    if (!script.variables().contains("TENSOR_MODEL_PARALLEL") && !script.variables().contains("MINIBS"))
        return false;
    for (const auto &[variable, argument] : kSettings)
        if (const auto known = script.variables().find(variable); known != script.variables().end()
            && known->second.size() == 1 && known->second[0] != "null" && !known->second[0].empty())
            options.add(std::string(argument), argumentValue(known->second[0]));
    if (const std::int64_t own = wholeOf(options, "minibatch_of_replica", 0); own > 0) {
        const std::int64_t gpus = wholeOf(options, "nnodes", 0) * wholeOf(options, "nproc_per_node", 8);
        const std::int64_t ranks = wholeOf(options, "tensor_model_parallel_size", 1)
            * wholeOf(options, "pipeline_model_parallel_size", 1) * wholeOf(options, "context_parallel_size", 1);
        if (ranks > 0 && gpus > 0 && gpus % ranks == 0 && own * (gpus / ranks) <= 10'000'000)
            options.add("global_batch_size", std::to_string(own * (gpus / ranks)));
    }
    options.arguments.erase("minibatch_of_replica");
    return true;
}

} // namespace trainyard::readers
