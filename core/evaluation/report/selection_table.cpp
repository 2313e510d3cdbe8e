// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/selection_table.h"

#include "core/base/number_text.h"
#include "core/base/text_table.h"
#include "core/base/words.h"
#include "core/evaluation/report/json_internal.h"
#include "core/evaluation/report/selection_json_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

std::string marks(const SelectionOption &option)
{
    std::string text = !option.isFeasible ? option.infeasibleBecause : option.isOnFront ? "Pareto" : "";
    if (option.isCurrent)
        text += text.empty() ? "current plan" : ", current plan";
    return text;
}

Json blocksJson(const SelectionOption &option, const Cluster &cluster)
{
    Json blocks = Json::array();
    for (const DatacenterBlock &block : option.blocks)
        blocks.push_back(
            { { "datacenter", cluster.datacenters[std::size_t(block.datacenter)].id }, { "stages", block.stages } });
    return blocks;
}

/// Of one that was simulated; else, from the closed form, of the GPUs that it uses.
double priceOf(const SelectionOption &option)
{
    return option.usdWritten > 0 ? option.usdWritten : option.usdPerMillionTokens;
}

} // namespace

std::string searchText(const Selection &selection)
{
    const std::string text = counted(selection.looked, "placement") + " of contiguous stages looked at"
        + (selection.askedCell > 0 ? ", across the WAN in whole cells of " + std::to_string(selection.askedCell)
                                   : std::string {})
        + ", " + std::to_string(selection.simulated) + " simulated: ";
    if (selection.simulated == 0 && selection.looked > 0)
        return counted(selection.looked, "placement")
            + " of contiguous stages looked at, none simulated: in none do weights and optimizer states alone fit into "
              "memory";
    return text
        + (selection.isProven ? "by their bounds none of the others is faster or cheaper than the best"
                              : "others may still be better by their bounds");
}

std::string selectionTable(const Selection &selection)
{
    if (!selection.nothingToSelect.empty())
        return selection.nothingToSelect + "\n";
    if (selection.options.empty())
        return {};
    using enum TextTable::Align;
    TextTable table({ Left, Right, Right, Right, Right, Right, Right, Left, Left },
        { "datacenters and their stages", "cells", "micro-batches", "iteration", "sequences/s", "$/Mtok",
            "egress $/Mtok", "bound by", "" });
    std::vector<const SelectionOption *> rows;
    for (const SelectionOption &option : selection.options)
        rows.push_back(&option);
    std::ranges::stable_partition(rows, &SelectionOption::isFeasible);
    for (const SelectionOption *row : rows) {
        const SelectionOption &option = *row;
        const bool isTimed = option.seconds > 0;
        table.add({ (option.isFeasible ? "" : "not feasible: ") + blocksText(option.blocks, selection.plan->cluster),
            std::to_string(option.cells) + " × " + std::to_string(option.cell),
            option.microBatches > 0 ? std::to_string(option.microBatches) : "",
            isTimed ? secondsText(option.seconds) : "", isTimed ? plainText(option.sequencesPerSecond) : "",
            isTimed ? usdText(priceOf(option)) : "", isTimed ? usdText(option.egressUsdPerMillionTokens()) : "",
            toString(option.bound), marks(option) });
    }
    std::string text = table.text();
    text += "bound by: what one more micro-batch would wait for: a stage's compute, a link, or, \"pipeline depth\", "
            "until a stage that holds as many\n"
            "micro-batches as it may has finished one of them\n";
    text += "$/Mtok: of every GPU that the cluster then has"
        + std::string(selection.objective == SelectionObjective::Cost ? ", idle nodes given back but now" : "") + "\n";
    text += searchText(selection) + "\n";
    for (const std::string &remark : selection.remarks)
        text += remark + "\n";
    return text;
}

Json selectionObject(const Selection &selection)
{
    if (!selection.nothingToSelect.empty())
        return nullptr;
    Json json { { "looked_at", selection.looked }, { "screened", selection.screened },
        { "simulated", selection.simulated }, { "proven", selection.isProven }, { "options", Json::array() },
        { "remarks", selection.remarks } };
    for (const SelectionOption &option : selection.options) {
        const bool isTimed = option.seconds > 0;
        const auto timed = [&](double value) { return isTimed ? finite(value) : Json(nullptr); };
        Json reasons = Json::array();
        for (const LeftOut &left : option.leftOut)
            reasons.push_back({ { "datacenter", selection.plan->cluster.datacenters[std::size_t(left.datacenter)].id },
                { "reason", left.reason } });
        json["options"].push_back({ { "blocks", blocksJson(option, selection.plan->cluster) },
            { "cells", option.cells }, { "cell", option.cell }, { "micro_batches", option.microBatches },
            { "iteration_time_s", timed(option.seconds) }, { "closed_form_s", finite(option.screenedSeconds) },
            { "sequences_per_s", timed(option.sequencesPerSecond) }, { "gpus_used", option.gpusUsed },
            { "usd_per_iteration", timed(option.usdPerIteration) },
            { "usd_per_million_tokens", timed(priceOf(option)) },
            { "usd_per_million_tokens_used", timed(option.usdPerMillionTokens) },
            { "gpus_given_back", option.givenBack },
            { "egress_usd_per_iteration", timed(option.egressUsdPerIteration) },
            { "wan_bytes_per_iteration", timed(option.wanBytes) }, { "waits_for", toString(option.bound) },
            { "feasible", option.isFeasible }, { "pareto", option.isOnFront }, { "current", option.isCurrent },
            { "left_out", reasons } });
        if (!option.infeasibleBecause.empty())
            json["options"].back()["infeasible_because"] = option.infeasibleBecause;
    }
    return json;
}

} // namespace trainyard
