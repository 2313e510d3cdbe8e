// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers.h"

#include <vector>

namespace trainyard {

std::span<const SourceReader> sourceReaders()
{
    static const std::vector<SourceReader> all = [] {
        std::vector<SourceReader> readers;
        for (const auto family :
            { readers::recordingFiles(), readers::profilerTraces(), readers::trainingLogs(), readers::experimentFiles(),
                readers::networkBenchmarks(), readers::hardwareSamples(), readers::planInputs() })
            readers.insert(readers.end(), family.begin(), family.end());
        return readers;
    }();
    return all;
}

const SourceReader *readerFor(std::string_view fileName, std::string_view head)
{
    const SourceReader *surest = nullptr;
    int most = 0;
    for (const SourceReader &reader : sourceReaders())
        if (const int sure = reader.looksLike(fileName, head); sure > most) {
            most = sure;
            surest = &reader;
        }
    return surest;
}

} // namespace trainyard
