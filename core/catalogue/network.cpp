// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/catalogue/embedded_files.h"
#include "core/catalogue/object_reader_internal.h"
#include "core/hardware/network_spec.h"
#include "core/hardware/power_spec.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace trainyard {

namespace {

struct NetworkFile {
    NetworkSpec network;
    PowerSpec power;
};

LinkClass readLink(ObjectReader reader)
{
    LinkClass link;
    reader.figure("fraction", link.fraction, {0.01, 1});
    reader.figure("start_us", link.startUs, {0, 1e6});
    reader.figure("step_us", link.stepUs, {0, 1e6});
    reader.figure("ramp_us", link.rampUs, {0, 1e6});
    reader.figure("ramp_bytes", link.rampBytes, {1, 1e12});
    reader.rejectUnknownKeys();
    for (const auto &[key, source] : reader.sources())
        link.source = source;
    return link;
}

NetworkFile readFile(const Json &content, Errors &errors)
{
    SourceTable sources;
    for (const auto &[id, entry] : content.at("sources").items())
        sources[id] = entry.value("title", "") + ", " + entry.value("date", "");
    NetworkFile file;
    ObjectReader root(content, "network.json: ", errors, &sources);
    const Json &links = content.at("links");
    file.network.device = readLink(ObjectReader(links.at("device"), "network.json: /links/device", errors, &sources));
    file.network.pcie = readLink(ObjectReader(links.at("pcie"), "network.json: /links/pcie", errors, &sources));
    file.network.fabric = readLink(ObjectReader(links.at("fabric"), "network.json: /links/fabric", errors, &sources));
    ObjectReader power(content.at("power"), "network.json: /power", errors, &sources);
    power.figure("idle_share", file.power.idleShare, {0, 1});
    for (const auto &[key, source] : power.sources())
        file.power.source = source;
    return file;
}

const NetworkFile &builtinFile()
{
    static const NetworkFile file = [] {
        const auto files = embeddedCatalogueFiles();
        const auto found = std::ranges::find(files, "network.json", &EmbeddedFile::name);
        Errors errors;
        const Expected<Json> json = found != files.end() ? parseJson(found->text, "network.json")
                                                         : std::unexpected(Error{ErrorCode::Internal, "network.json", "is not built in", ""});
        NetworkFile read;
        if (json)
            read = readFile(*json, errors);
        else
            errors.push_back(json.error());
        if (errors.empty())
            return read;
        for (const Error &error : errors)   // the build's own file: a broken build, not a user's fault
            std::cerr << toString(error) << '\n';
        std::abort();
    }();
    return file;
}

} // namespace

const NetworkSpec &builtinNetwork()
{
    return builtinFile().network;
}

const PowerSpec &builtinPower()
{
    return builtinFile().power;
}

} // namespace trainyard
