// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/overlay/plan_notes.h"

#include "core/base/number_text.h"
#include "core/overlay/job_stages.h"
#include "core/plan/plan.h"

#include <array>
#include <charconv>
#include <optional>

namespace trainyard {

namespace {

struct Compared {
    const char *argument; // Megatron-LM's
    const char *what;
    int plan = 0;
};

std::optional<int> numberOf(const Recording &recording, const char *name)
{
    const auto at = recording.arguments.find(name);
    int number = 0;
    if (at == recording.arguments.end()
        || std::from_chars(at->second.data(), at->second.data() + at->second.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

std::string ranksText(int ranks)
{
    return wholeText(ranks) + (ranks == 1 ? " rank" : " ranks");
}

} // namespace

void noteWorlds(const Recording &recording, const RankMap &map, int missing, std::vector<std::string> &notes)
{
    const int run = worldSizeOf(recording), plan = map.worldSize();
    if (run > plan)
        notes.push_back("The run has " + ranksText(run) + ", the plan " + wholeText(plan) + ": ranks from "
            + std::to_string(plan) + " on are on no row");
    else if (run > 0 && run < plan)
        notes.push_back("The run has " + ranksText(run) + ", the plan " + wholeText(plan) + ": rows of ranks "
            + std::to_string(run) + " to " + std::to_string(plan - 1) + " stay empty");
    else if (missing > 0)
        notes.push_back(ranksText(missing) + " of the plan's " + wholeText(plan) + (missing == 1 ? " was" : " were")
            + " not recorded");
}

void noteWork(const Evaluation &plan, const Recording &recording, std::vector<std::string> &notes)
{
    const Parallelism &parallel = plan.plan->parallelism;
    const WorkloadSpec &workload = plan.plan->workload;
    const std::array compared { Compared { "tensor_model_parallel_size", "tensor parallelism", parallel.tensor },
        Compared { "pipeline_model_parallel_size", "pipeline stages", parallel.pipeline },
        Compared { "context_parallel_size", "context parallelism", parallel.context },
        Compared { "global_batch_size", "sequences per step", workload.globalBatch },
        Compared { "micro_batch_size", "sequences per micro-batch", workload.microBatch },
        Compared { "seq_length", "tokens per sequence", workload.sequenceLength } };
    std::string differing;
    for (const Compared &one : compared) {
        const auto run = numberOf(recording, one.argument);
        if (run && *run != one.plan && one.plan > 0)
            differing += (differing.empty() ? "" : "; ") + std::string(one.what) + " " + wholeText(*run) + ", plan "
                + wholeText(one.plan);
    }
    if (!differing.empty())
        notes.push_back("The run is another job than the plan: " + differing);
}

} // namespace trainyard
