// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/out_of_memory.h"

#include "core/runs/telemetry/readers/text_scan.h"

namespace trainyard::readers {

namespace {

double bytesBehind(std::string_view text, std::string_view key)
{
    auto rest = behind(text, key);
    return rest ? takeBytes(*rest).value_or(0) : 0;
}

/// "79.20 GiB" of "79.20 GiB total capacity".
double bytesBefore(std::string_view text, std::string_view key)
{
    const std::size_t end = text.find(key);
    if (end == text.npos)
        return 0;
    const std::size_t begin = text.substr(0, end).find_last_of(";(");
    std::string_view own = text.substr(begin == text.npos ? 0 : begin + 1, end - (begin == text.npos ? 0 : begin + 1));
    own = trimmedStart(own);
    return takeBytes(own).value_or(0);
}

} // namespace

std::optional<OutOfMemory> outOfMemoryIn(const TextLine &line)
{
    const std::size_t at = line.text.find(" out of memory. Tried to allocate ");
    if (at == line.text.npos)
        return std::nullopt;
    const std::string_view text = line.text.substr(at);
    OutOfMemory told;
    told.asked = bytesBehind(text, "Tried to allocate ");
    told.rank = line.process;
    if (auto gpu = behind(text, "GPU "); gpu && told.rank < 0)
        told.rank = boundedInt(takeWhole(*gpu).value_or(-1));
    if (text.find("total capacity of ") != text.npos) {
        told.capacity = bytesBehind(text, "total capacity of ");
        told.allocated = bytesBehind(text, "Of the allocated memory ");
        if (auto rest = behind(text, "is allocated by PyTorch, and "); rest && told.allocated > 0)
            told.reserved = told.allocated + takeBytes(*rest).value_or(0);
    } else {
        told.capacity = bytesBefore(text, " total capacity");
        told.allocated = bytesBefore(text, " already allocated");
        told.reserved = bytesBefore(text, " reserved in total by PyTorch");
    }
    return told;
}

} // namespace trainyard::readers
