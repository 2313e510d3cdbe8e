// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/entry_readers_internal.h"

namespace trainyard {

TimeRange readTimeRange(ObjectReader &reader)
{
    TimeRange range;
    reader.require("low", "a share of the predicted time, at most 0");
    reader.require("high", "a share of the predicted time, at least 0");
    reader.figure("low", range.low, {-1, 0});
    reader.figure("high", range.high, {0, 100});
    return range;
}

ResidualSpread readSpread(ObjectReader &reader)
{
    ResidualSpread spread;
    EvidenceKey &key = spread.key;
    reader.require("stack", "the id of a stack");
    reader.text("stack", key.stack);
    reader.text("gpu", key.gpu);
    reader.text("architecture", key.architecture);
    reader.count("precision_bits", key.precisionBits, {4, 32});
    reader.flag("moe", key.isMoe);
    reader.flag("shards_weights", key.shardsWeights);
    reader.require("rows", "the number of measurements");
    reader.count("rows", spread.rows, {1, 1e9});
    std::string reach;
    reader.text("reach", reach);
    if (reach == toString(Reach::Wan))
        key.reach = Reach::Wan;
    else if (reach == toString(Reach::Fabric))
        key.reach = Reach::Fabric;
    else if (reach != toString(Reach::Node))
        reader.fault("reach", "reach is \"" + reach + "\"", "node, fabric or wan");
    spread.range = readTimeRange(reader);
    return spread;
}

} // namespace trainyard
