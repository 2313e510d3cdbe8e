// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/nvlink_rates.h"

#include "core/runs/telemetry/readers/log_text.h"

#include <array>
#include <string>

namespace trainyard::readers::machines {

namespace {

struct Generation {
    std::string_view gpu; // in lower case
    int computeCapability;
};
constexpr std::array<Generation, 15> kGpus { { { "p100", 60 }, { "v100", 70 }, { "a100", 80 }, { "a800", 80 },
    { "a30", 80 }, { "h100", 90 }, { "h200", 90 }, { "h800", 90 }, { "h20", 90 }, { "gh200", 90 }, { "b100", 100 },
    { "b200", 100 }, { "gb200", 100 }, { "b300", 103 }, { "gb300", 103 } } };

} // namespace

double nvlinkBytesPerSecond(int computeCapability)
{
    switch (computeCapability) {
    case 60:
        return 20e9;
    case 70:
    case 72:
    case 80:
    case 90:
        return 25e9;
    case 100:
    case 103:
        return 50e9;
    default:
        return 0;
    }
}

std::string_view gpuNamedIn(std::string_view text)
{
    const std::string low = lowered(text);
    for (const Generation &one : kGpus)
        for (auto at = low.find(one.gpu); at != std::string::npos; at = low.find(one.gpu, at + 1)) {
            const std::size_t end = at + one.gpu.size();
            const bool begins = at == 0 || !isLetter(low[at - 1]) || low[at - 1] == 'x';
            const bool isAfterDigit = at > 0 && isDigit(low[at - 1]);
            if (begins && !isAfterDigit && (end == low.size() || !isDigit(low[end])))
                return text.substr(at, one.gpu.size());
        }
    return {};
}

double nvlinkBytesPerSecond(std::string_view gpuName)
{
    const std::string named = lowered(gpuNamedIn(gpuName));
    for (const Generation &one : kGpus)
        if (one.gpu == named)
            return nvlinkBytesPerSecond(one.computeCapability);
    return 0;
}

} // namespace trainyard::readers::machines
