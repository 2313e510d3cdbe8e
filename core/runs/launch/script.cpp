// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/runs/launch/launch_internal.h"

#include <algorithm>

namespace trainyard::launch {

namespace {

bool isPlainWord(std::string_view text)
{
    const auto isPlain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || std::string_view("-_./:=,+").find(c) != std::string_view::npos;
    };
    return !text.empty() && std::ranges::all_of(text, isPlain);
}

std::string datacenterName(const Draft &draft, const NodeRun &run)
{
    const Datacenter &datacenter = draft.plan.cluster.datacenters[static_cast<std::size_t>(run.datacenter)];
    const Pool &pool = datacenter.pools[static_cast<std::size_t>(run.pool)];
    return shortened(datacenter.label()) + (datacenter.pools.size() > 1 ? ", pool " + shortened(pool.id) : "");
}

/// Which nodes stand where, for a run of several datacenters or pools.
std::string nodeLines(const Draft &draft)
{
    constexpr std::size_t kMost = 200;
    if (draft.nodes.runs.size() < 2)
        return {};
    std::string text = "Nodes in this order, so that each computes what the plan has there:\n";
    int first = 0;
    for (std::size_t i = 0; i < draft.nodes.runs.size(); ++i) {
        const NodeRun &run = draft.nodes.runs[i];
        if (i < kMost)
            text += "  " + std::to_string(first)
                + (run.nodes > 1 ? " to " + std::to_string(first + run.nodes - 1) : std::string()) + ": "
                + datacenterName(draft, run) + "\n";
        first += run.nodes;
    }
    if (draft.nodes.runs.size() > kMost)
        text += "  … and so on, " + std::to_string(draft.nodes.runs.size()) + " groups in all\n";
    return text;
}

} // namespace

std::string shellWord(std::string_view text)
{
    if (isPlainWord(text))
        return std::string(text);
    std::string made = "'";
    for (const char c : text)
        if (c == '\'')
            made += "'\\''";
        else if (c != '\0')
            made += c;
    return made + "'";
}

std::string comment(std::string_view text)
{
    const std::string own = printable(text, LineBreaks::Kept);
    std::string made;
    for (std::size_t at = 0; at < own.size();) {
        const std::size_t end = std::min(own.find('\n', at), own.size());
        made += (end > at ? "# " : "#") + own.substr(at, end - at) + "\n";
        at = end + 1;
    }
    return made;
}

std::string argumentLines(const Draft &draft)
{
    std::string text;
    for (const Option &option : draft.options) {
        text += " \\\n    " + option.flag;
        for (const std::string &value : option.values)
            text += " " + (option.isShell ? value : shellWord(value));
    }
    return text + "\n";
}

std::string headOf(const Draft &draft)
{
    const Metrics &metrics = draft.evaluation.metrics;
    std::string text = shortened(draft.plan.name.empty() ? "A plan of Trainyard" : draft.plan.name, 200) + "\n";
    text += "Arguments as of " + draft.commit + ", on " + wholeText(draft.nodes.gpus())
        + " GPUs: " + wholeText(draft.nodes.count) + (draft.nodes.count == 1 ? " node of " : " nodes of ")
        + std::to_string(draft.nodes.gpusPerNode) + "\n";
    if (metrics.iterationTime)
        text += "Predicted: " + secondsText(*metrics.iterationTime) + " an iteration"
            + (metrics.modelTflopsPerGpu ? ", " + plainText(*metrics.modelTflopsPerGpu) + " TFLOP/s a GPU" : "") + "\n";
    text += "Its log goes beside the plan: trainyard-cli telemetry verdict LOG --plan PLAN\n";
    text += std::string("For a trace of the profiler add: ") + draft.profiler + "\n";
    if (draft.isStepsAsked)
        text += "The plan tells no training tokens: " + draft.stepsFrom + " is the number of steps, else 50\n";
    text += nodeLines(draft);
    if (!draft.notes.empty())
        text += std::string("\nWhat ") + draft.name + " does otherwise than the plan, or wants from you:\n";
    for (const std::string &note : draft.notes)
        text += " * " + note + "\n";
    return comment(text);
}

std::string commandsOf(const Draft &draft, const Rendezvous &rendezvous)
{
    std::string text = "set -euo pipefail\n";
    if (draft.isStepsAsked)
        text += "set -- \"${" + rendezvous.steps + ":-50}\"\n";
    for (const auto &[name, value] : draft.environment)
        text += "export " + name + "=" + shellWord(value) + "\n";
    text += draft.before;
    return text + "torchrun --nnodes " + std::to_string(draft.nodes.count) + " --nproc-per-node "
        + std::to_string(draft.nodes.gpusPerNode) + " --node-rank " + rendezvous.nodeRank + " \\\n"
        + "    --master-addr " + rendezvous.address + " --master-port " + rendezvous.port + " \\\n    " + draft.program
        + argumentLines(draft);
}

std::string scriptOf(const Draft &draft)
{
    std::string text = "#!/usr/bin/env bash\n" + headOf(draft);
    if (draft.nodes.count > 1)
        text += comment("Run it on each node with its own NODE_RANK, 0 to " + std::to_string(draft.nodes.count - 1)
            + ", and MASTER_ADDR, the address of node 0.");
    return text + commandsOf(draft, {});
}

} // namespace trainyard::launch
