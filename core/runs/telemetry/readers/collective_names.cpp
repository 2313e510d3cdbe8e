// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/collective_names.h"

#include <array>
#include <utility>

namespace trainyard::readers {

namespace {

/// Letters of the name alone, longer ones first where one holds another.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kCollectiveNames { {
    { "reducescatter", "reduce_scatter" },
    { "allreduce", "all_reduce" },
    { "allgather", "all_gather" },
    { "alltoall", "all_to_all" },
    { "broadcast", "broadcast" },
    { "sendrecv", "send_recv" },
    { "hypercube", "hypercube" },
    { "barrier", "barrier" },
    { "scatter", "scatter" },
    { "gather", "gather" },
    { "reduce", "reduce" },
    { "bcast", "broadcast" },
    { "send", "send" },
    { "recv", "recv" },
} };

constexpr std::size_t kMostName = 64; // bytes of one that is unknown

std::string lettersOf(std::string_view text)
{
    std::string letters;
    for (const char byte : text)
        if (byte >= 'A' && byte <= 'Z')
            letters += static_cast<char>(byte + 32);
        else if (byte != '_' && byte != '-' && byte != ' ')
            letters += byte;
    return letters;
}

} // namespace

std::string collectiveIn(std::string_view text)
{
    const std::string letters = lettersOf(text);
    for (const auto &[written, name] : kCollectiveNames)
        if (letters.find(written) != std::string::npos)
            return std::string(name);
    return {};
}

std::string collectiveNamed(std::string_view name)
{
    if (name.starts_with("c10d::"))
        name.remove_prefix(6);
    std::string known = collectiveIn(name);
    return known.empty() ? lettersOf(name.substr(0, kMostName)) : known;
}

} // namespace trainyard::readers
