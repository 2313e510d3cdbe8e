// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nvlink_rates.h"

#include "core/facts/catalogue/nvlinks.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <string>

namespace trainyard::readers {

namespace {

/// Where `low`, in lower case, names the GPU as a word of its own; npos where it does not.
std::size_t whereNamed(const NvlinkSpec &known, std::string_view low)
{
    const std::string gpu = lowered(known.gpu);
    for (auto at = low.find(gpu); at != low.npos; at = low.find(gpu, at + 1)) {
        const std::size_t end = at + gpu.size();
        const bool begins = at == 0 || (low[at - 1] == 'x' || (!isLetter(low[at - 1]) && !isDigit(low[at - 1])));
        if (begins && (end == low.size() || !isDigit(low[end])))
            return at;
    }
    return low.npos;
}

} // namespace

double nvlinkBytesPerSecond(int computeCapability)
{
    const auto known = std::ranges::find(builtinNvlinks(), computeCapability, &NvlinkSpec::computeCapability);
    return known == builtinNvlinks().end() ? 0 : known->bytesPerSecond;
}

std::string_view gpuNamedIn(std::string_view text)
{
    const std::string low = lowered(text);
    for (const NvlinkSpec &known : builtinNvlinks())
        if (const std::size_t at = known.bytesPerSecond > 0 ? whereNamed(known, low) : low.npos; at != low.npos)
            return text.substr(at, known.gpu.size());
    return {};
}

double nvlinkBytesPerSecond(std::string_view gpuName)
{
    const std::string low = lowered(gpuName);
    const auto known =
        std::ranges::find_if(builtinNvlinks(), [&](const NvlinkSpec &one) { return whereNamed(one, low) != low.npos; });
    return known == builtinNvlinks().end() ? 0 : known->bytesPerSecond;
}

} // namespace trainyard::readers
