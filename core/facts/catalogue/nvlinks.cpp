// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/nvlinks.h"

#include "core/facts/catalogue/builtin_file_internal.h"

namespace trainyard {

namespace {

std::vector<NvlinkSpec> readNvlinks(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    std::vector<NvlinkSpec> links;
    for (const CatalogueJson &given : content.at("gpus")) {
        NvlinkSpec &made = links.emplace_back();
        ObjectReader reader(given, "nvlinks.json: /gpus/" + std::to_string(links.size() - 1), errors, &sources);
        double gbytes = 0;
        reader.text("gpu", made.gpu);
        reader.count("compute_capability", made.computeCapability, { 10, 1e4 });
        reader.require("link_gbytes_per_s", "10^9 bytes per second of one link in one direction");
        reader.figure("link_gbytes_per_s", gbytes, { 1, 1e4 });
        reader.rejectUnknownKeys();
        made.bytesPerSecond = gbytes * 1e9;
        made.source = reader.sourcesText();
    }
    return links;
}

} // namespace

const std::vector<NvlinkSpec> &builtinNvlinks()
{
    static const std::vector<NvlinkSpec> links = readBuiltinFile("nvlinks.json", readNvlinks);
    return links;
}

} // namespace trainyard
