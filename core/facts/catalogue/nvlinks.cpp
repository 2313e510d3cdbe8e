// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/nvlinks.h"

#include "core/facts/catalogue/builtin_file_internal.h"

#include <algorithm>

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
        reader.require("link_gbytes_per_s", "10^9 bytes per second of one link in one direction, or 0");
        reader.figure("link_gbytes_per_s", gbytes, { 0, 1e4 });
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

int computeCapability(std::string_view gpuName)
{
    const auto isWord = [&](std::string_view gpu) {
        const std::size_t at = gpuName.find(gpu);
        const auto isEnd = [&](std::size_t i) { return i >= gpuName.size() || gpuName[i] == ' ' || gpuName[i] == '-'; };
        return at != gpuName.npos && (at == 0 || isEnd(at - 1)) && isEnd(at + gpu.size());
    };
    const auto known = std::ranges::find_if(builtinNvlinks(), [&](const NvlinkSpec &one) { return isWord(one.gpu); });
    return known == builtinNvlinks().end() ? 0 : known->computeCapability;
}

} // namespace trainyard
