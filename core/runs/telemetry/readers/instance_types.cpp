// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/instance_catalogues.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/node_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostTypes = 100000;

double amountOf(LooseJsonValue value, double most)
{
    return amountIn(value.text(), most);
}

int deviceCountOf(LooseJsonValue value)
{
    return static_cast<int>(amountOf(value, 4096));
}

/// 3200 of "3200 Gigabit", 12 of "Up to 12 Gigabit"; 0 of "Moderate".
double gigabitsIn(std::string_view performance)
{
    for (const std::string_view word : fieldsOf(performance))
        if (const double number = amountIn(word, 1e6); number > 0)
            return number;
    return 0;
}

struct Network {
    int cards = 0;
    double gigabits = 0; // of the slowest card
    bool isPeak = false;
};

Network networkOf(LooseJsonValue info)
{
    Network network;
    for (const LooseJsonValue card : info["NetworkCards"]) {
        const double baseline = amountOf(card["BaselineBandwidthInGbps"], 1e5);
        const double gigabits = baseline > 0 ? baseline : amountOf(card["PeakBandwidthInGbps"], 1e5);
        network.isPeak |= baseline == 0 && gigabits > 0;
        network.cards = std::min(network.cards + 1, 4096);
        network.gigabits = network.gigabits > 0 && gigabits > 0 ? std::min(network.gigabits, gigabits)
                                                                : std::max(network.gigabits, gigabits);
    }
    if (network.gigabits == 0) // an older command line leaves the cards' bandwidths out
        network.gigabits = gigabitsIn(info["NetworkPerformance"].text()) / std::max(network.cards, 1);
    network.cards = std::max(network.cards, static_cast<int>(network.gigabits > 0));
    return network;
}

} // namespace

int looksLikeInstanceTypes(std::string_view, std::string_view head)
{
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    return trimmed(head.substr(0, 256)).starts_with('{') && has("\"InstanceTypes\"") && has("\"InstanceType\"") ? 93
                                                                                                                : 0;
}

Expected<Recording> readInstanceTypes(const SourceText &source, const SourceOptions &)
{
    RecordingBuilder scribe(source, SourceKind::InstanceTypes);
    LooseJson json;
    if (!json.read(source.text))
        return refusal(source, "It is a list of AWS instance types that cannot be read");
    scribe.source().isTruncated |= json.isTruncated();
    auto &nodes = scribe.recording().nodes;
    for (const LooseJsonValue type : json.root()["InstanceTypes"]) {
        const std::string name = type["InstanceType"].text();
        const LooseJsonValue gpu = type["GpuInfo"]["Gpus"].first();
        const int gpus = deviceCountOf(gpu["Count"]);
        if (name.empty() || gpus == 0 || nodes.size() >= kMostTypes) {
            scribe.drop(gpus == 0 ? "instance types without a GPU" : "instance types that cannot be read");
            continue;
        }
        const std::string maker = gpu["Manufacturer"].text();
        RecordedNodes node {
            .gpu = (maker.empty() ? "" : maker + " ") + gpu["Name"].text(), .gpus = gpus, .source = 0
        };
        node.hostMemoryBytes = amountOf(type["MemoryInfo"]["SizeInMiB"], 1e12) * 1048576;
        const Network network = networkOf(type["NetworkInfo"]);
        const int efa = deviceCountOf(type["NetworkInfo"]["EfaInfo"]["MaximumEfaInterfaces"]);
        node.nics = efa > 0 ? efa : network.cards;
        if (node.nics > 0) // cards share what the instance has where there are more of the ones than of the others
            node.nicBytesPerSecond = network.gigabits * 1e9 / 8 * network.cards / node.nics;
        std::string sentence = name + ": " + counted(std::size_t(gpus), "GPU ", "GPUs ") + node.gpu + " with "
            + plainNumber(amountOf(gpu["MemoryInfo"]["SizeInMiB"], 1e9) / 1024) + " GiB, "
            + (network.gigabits > 0 ? plainNumber(network.gigabits * network.cards) + " Gbit/s"
                                    : "a network of unknown speed");
        if (network.isPeak)
            sentence += " at its peak";
        if (efa > 0)
            sentence += " over " + counted(std::size_t(efa), "EFA interface", "EFA interfaces");
        scribe.note(std::move(sentence));
        ++scribe.source().taken;
        nodes.push_back(std::move(node));
    }
    if (nodes.empty())
        return refusal(source, "It is a list of AWS instance types without one that has GPUs");
    return scribe.finish();
}

} // namespace trainyard::readers
