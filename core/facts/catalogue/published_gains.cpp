// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/hardware/published_gains.h"

#include "core/facts/catalogue/builtin_file_internal.h"

namespace trainyard {

namespace {

PublishedExpertGains readGainsFile(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    PublishedExpertGains gains;
    ObjectReader reader(content.at("traffic_aware"), "expert_gains.json: /traffic_aware", errors, &sources);
    reader.figure("all_to_all", gains.allToAll, { 1, 1000 });
    reader.figure("iteration", gains.iteration, { 0, 1 });
    reader.rejectUnknownKeys();
    for (const auto &[key, source] : reader.sources())
        gains.source = source;
    return gains;
}

} // namespace

const PublishedExpertGains &publishedExpertGains()
{
    static const PublishedExpertGains gains = readBuiltinFile("expert_gains.json", readGainsFile);
    return gains;
}

} // namespace trainyard
