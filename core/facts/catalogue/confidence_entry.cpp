// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/entry_readers_internal.h"

#include <algorithm>

namespace trainyard {

Evidence readEvidenceEntry(ObjectReader &reader)
{
    Evidence evidence;
    EvidenceKey &key = evidence.key;
    reader.require("stack", "the id of a stack");
    reader.text("stack", key.stack);
    reader.text("gpu", key.gpu);
    reader.text("architecture", key.architecture);
    reader.count("precision_bits", key.precisionBits, { 4, 32 });
    reader.flag("moe", key.isMoe);
    reader.flag("shards_weights", key.shardsWeights);
    reader.require("rows", "the number of measurements");
    reader.count("rows", evidence.rows, { 1, 1e9 });
    std::string reach;
    reader.text("reach", reach);
    if (reach == toString(Reach::Wan))
        key.reach = Reach::Wan;
    else if (reach == toString(Reach::Fabric))
        key.reach = Reach::Fabric;
    else if (reach != toString(Reach::Node))
        reader.fault("reach", "reach is \"" + reach + "\"", "node, fabric or wan");
    return evidence;
}

LabelRange readLabelRange(ObjectReader &reader)
{
    LabelRange range;
    std::string label;
    reader.require("label", "the label that the range belongs to");
    reader.text("label", label);
    if (const auto known =
            std::ranges::find_if(kConfidenceLabels, [&](ConfidenceLabel l) { return label == toString(l); });
        known != std::end(kConfidenceLabels))
        range.label = *known;
    else
        reader.fault("label", "label is \"" + label + "\"", "calibrated, same family, extrapolated or spec sheet");
    reader.text("sharding_stack", range.shardingStack);
    reader.flag("moe", range.isMoe);
    reader.text("stack", range.stack);
    reader.count("rows", range.rows, { 0, 1e9 });
    reader.count("publications", range.publications, { 0, 1e9 });
    reader.require("low", "a share of the predicted time, at most 0");
    reader.require("high", "a share of the predicted time, at least 0");
    reader.figure("low", range.range.low, { -1, 0 });
    reader.figure("high", range.range.high, { 0, 100 });
    return range;
}

} // namespace trainyard
