// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/builtin_file_internal.h"
#include "core/facts/hardware/host_spec.h"

namespace trainyard {

namespace {

HostSpec readHost(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    HostSpec host;
    double adam = 0, turns = 0;
    ObjectReader reader(content.at("host"), "hosts.json: /host", errors, &sources);
    reader.figure("adam_gparameters_per_s", adam, { 1e-3, 1e4 });
    reader.figure("casts_per_adam", host.castsPerAdam, { 1e-3, 1e4 });
    reader.figure("pageable_slowdown", host.pageableSlowdown, { 1, 1e3 });
    reader.figure("sub_group_parameters", host.subGroupParameters, { 1, 1e12 });
    reader.figure("interleaved_copies_take_turns", turns, { 0, 1 });
    reader.figure("memory_factor", host.memoryFactor, { 1, 10 });
    reader.rejectUnknownKeys();
    host.adamParametersPerSecond = adam * 1e9;
    host.interleavedCopiesTakeTurns = turns > 0;
    for (const auto &[key, source] : reader.sources())
        host.source = source;
    return host;
}

} // namespace

const HostSpec &builtinHost()
{
    static const HostSpec host = readBuiltinFile("hosts.json", readHost);
    return host;
}

} // namespace trainyard
