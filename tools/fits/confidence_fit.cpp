// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fits/confidence_fit.h"

#include "core/evaluation/validation/held_out.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace trainyard {

namespace {

std::vector<TimedRow> gated(std::vector<TimedRow> rows)
{
    std::erase_if(rows, [](const TimedRow &row) { return row.result->status != RowStatus::Gated; });
    return rows;
}

using Json = nlohmann::ordered_json;

Json figure(double value, const char *source)
{
    return { std::round(value * 1e3) / 1e3, source };
}

/// "name": [ one entry a line ].
std::string listText(const char *name, const std::vector<Json> &entries)
{
    std::string text = std::string("\"") + name + "\": [\n";
    for (std::size_t i = 0; i < entries.size(); ++i)
        text += "  " + entries[i].dump() + (i + 1 < entries.size() ? ",\n" : "\n");
    return text + "]";
}

} // namespace

ConfidenceData confidenceData(std::span<const ValidationResult> results, std::span<const ValidationResult> unmeasured)
{
    const double narrowest = halfOfRepeats(results);
    const HeldOutRanges measured(gated(timedRows(results)), narrowest);
    const HeldOutRanges specSheet(gated(specSheetRows(unmeasured)), narrowest, ConfidenceLabel::SpecSheet);
    ConfidenceData data;
    data.evidence = measured.evidence();
    for (const ConfidenceLabel label : kConfidenceLabels) {
        const auto ranges = (label == ConfidenceLabel::SpecSheet ? specSheet : measured).rangesOf(label);
        data.ranges.insert(data.ranges.end(), ranges.begin(), ranges.end());
    }
    return data;
}

std::string confidenceJson(const ConfidenceData &data, const std::string &date)
{
    const Json source { { "title",
                            "nine in ten of the published rows of resources/validation, each publication held back in "
                            "turn: measured / predicted - 1; scripts/validation" },
        { "date", date } };
    std::vector<Json> evidence, ranges;
    for (const Evidence &e : data.evidence)
        evidence.push_back({ { "stack", e.key.stack }, { "gpu", e.key.gpu }, { "architecture", e.key.architecture },
            { "precision_bits", e.key.precisionBits }, { "moe", e.key.isMoe },
            { "shards_weights", e.key.shardsWeights }, { "reach", toString(e.key.reach) }, { "rows", e.rows } });
    for (const LabelRange &r : data.ranges) {
        Json entry { { "label", toString(r.label) } };
        if (!r.shardingStack.empty())
            entry["sharding_stack"] = r.shardingStack;
        entry["moe"] = r.isMoe;
        if (!r.stack.empty())
            entry["stack"] = r.stack;
        entry.update({ { "rows", r.rows }, { "publications", r.publications },
            { "low", figure(r.range.low, "held-out") }, { "high", figure(r.range.high, "held-out") } });
        ranges.push_back(std::move(entry));
    }
    return "{\n\"sources\": {\n  \"held-out\": " + source.dump() + "\n},\n" + listText("ranges", ranges) + ",\n"
        + listText("evidence", evidence) + "\n}\n";
}

} // namespace trainyard
