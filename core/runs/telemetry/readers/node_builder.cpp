// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/node_builder.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace trainyard::readers {

namespace {

constexpr std::size_t kKindsLookedAt = 64; // a cluster has few kinds of nodes, a strange file may have very many

bool areAlike(const RecordedNodes &a, const RecordedNodes &b)
{
    const auto parts = [](const RecordedNodes &one) {
        return std::tie(one.gpu, one.gpus, one.nics, one.nicBytesPerSecond, one.nvlinkBytesPerSecond,
            one.isNvlinkSwitched, one.hostMemoryBytes);
    };
    return parts(a) == parts(b);
}

} // namespace

void addSwitch(
    RecordingBuilder &scribe, std::string name, std::vector<std::string> below, bool isBlock, double linkBytesPerSecond)
{
    scribe.recording().switches.push_back({ .name = std::move(name),
        .below = std::move(below),
        .linkBytesPerSecond = linkBytesPerSecond,
        .isBlock = isBlock,
        .source = 0 });
}

void addNodesOfSwitches(RecordingBuilder &scribe)
{
    std::set<std::string_view> seen;
    for (const RecordedSwitch &one : scribe.recording().switches)
        seen.insert(one.name);
    RecordedNodes nodes { .source = 0 };
    for (const RecordedSwitch &one : scribe.recording().switches)
        for (const std::string &name : one.below)
            if (seen.insert(name).second)
                nodes.names.push_back(name);
    nodes.count = static_cast<int>(nodes.names.size());
    if (nodes.count > 0)
        scribe.recording().nodes.push_back(std::move(nodes));
}

void addNode(RecordingBuilder &scribe, std::string name, RecordedNodes like)
{
    like.source = 0;
    auto &nodes = scribe.recording().nodes;
    for (std::size_t i = nodes.size(), last = i - std::min(i, kKindsLookedAt); i > last; --i) {
        RecordedNodes &known = nodes[i - 1];
        if (!areAlike(known, like))
            continue;
        ++known.count;
        if (!name.empty())
            known.names.push_back(std::move(name));
        return;
    }
    like.count = 1;
    if (!name.empty())
        like.names = { std::move(name) };
    nodes.push_back(std::move(like));
}

double amountIn(std::string_view text, double most)
{
    const double amount = numberIn(text).value_or(0);
    return amount > 0 && amount <= most ? amount : 0;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many)
{
    return std::to_string(count).append(" ").append(count == 1 ? one : many);
}

std::string plainNumber(double value)
{
    std::array<char, 64> text {};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6).ptr;
    return { text.data(), end };
}

} // namespace trainyard::readers
