// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/embedded_files.h"
#include "core/catalogue/object_reader_internal.h"
#include "core/hardware/host_spec.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace trainyard {

namespace {

HostSpec readHost(const Json &content, Errors &errors)
{
    SourceTable sources;
    for (const auto &[id, entry] : content.at("sources").items())
        sources[id] = entry.value("title", "") + ", " + entry.value("date", "");
    HostSpec host;
    double adam = 0, turns = 0;
    ObjectReader reader(content.at("host"), "hosts.json: /host", errors, &sources);
    reader.figure("adam_gparameters_per_s", adam, {1e-3, 1e4});
    reader.figure("casts_per_adam", host.castsPerAdam, {1e-3, 1e4});
    reader.figure("pageable_slowdown", host.pageableSlowdown, {1, 1e3});
    reader.figure("sub_group_parameters", host.subGroupParameters, {1, 1e12});
    reader.figure("interleaved_copies_take_turns", turns, {0, 1});
    reader.figure("memory_factor", host.memoryFactor, {1, 10});
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
    static const HostSpec host = [] {
        const auto files = embeddedCatalogueFiles();
        const auto found = std::ranges::find(files, "hosts.json", &EmbeddedFile::name);
        Errors errors;
        const Expected<Json> json = found != files.end() ? parseJson(found->text, "hosts.json")
                                                         : std::unexpected(Error{ErrorCode::Internal, "hosts.json", "is not built in", ""});
        HostSpec read;
        if (json)
            read = readHost(*json, errors);
        else
            errors.push_back(json.error());
        if (errors.empty())
            return read;
        for (const Error &error : errors)   // the build's own file: a broken build, not a user's fault
            std::cerr << toString(error) << '\n';
        std::abort();
    }();
    return host;
}

} // namespace trainyard
