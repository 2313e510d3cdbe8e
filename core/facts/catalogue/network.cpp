// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/builtin_file_internal.h"
#include "core/facts/hardware/distance_spec.h"
#include "core/facts/hardware/network_spec.h"
#include "core/facts/hardware/power_spec.h"

#include <algorithm>

namespace trainyard {

namespace {

struct NetworkFile {
    NetworkSpec network;
    PowerSpec power;
    DistanceSpec distance;
};

struct LinkField {
    const char *key;
    double LinkClass::*figure;
    Range range;
};
constexpr LinkField kLinkFields[] = {
    { "fraction", &LinkClass::fraction, { 0.01, 2 } },
    { "start_us", &LinkClass::startUs, { 0, 1e6 } },
    { "step_us", &LinkClass::stepUs, { 0, 1e6 } },
    { "ring_step_us", &LinkClass::ringStepUs, { 0, 1e6 } },
    { "ramp_us", &LinkClass::rampUs, { 0, 1e6 } },
    { "ramp_bytes", &LinkClass::rampBytes, { 1, 1e12 } },
    { "own_share", &LinkClass::ownShare, { 0, 10 } },
    { "reduce_gain", &LinkClass::reduceGain, { 0.01, 10 } },
    { "exchange_gain", &LinkClass::exchangeGain, { 0.01, 10 } },
    { "switch_gain", &LinkClass::switchGain, { 0, 10 } },
    { "switch_ranks", &LinkClass::switchRanks, { 2, 1e6 } },
    { "expert_start_us", &LinkClass::expertStartUs, { 0, 1e6 } },
    { "expert_fraction", &LinkClass::expertFraction, { 0.01, 10 } },
    { "expert_pass_fraction", &LinkClass::expertPassFraction, { 0.01, 10 } },
};

LinkClass readLinkClass(ObjectReader reader)
{
    LinkClass link;
    for (const LinkField &field : kLinkFields)
        reader.figure(field.key, link.*field.figure, field.range);
    reader.rejectUnknownKeys();
    for (const auto &[key, source] : reader.sources())
        link.source = source;
    return link;
}

WanTcp readWan(ObjectReader reader)
{
    WanTcp wan;
    reader.figure("segment_bytes", wan.segmentBytes, { 64, 65536 });
    reader.figure("cubic_scale", wan.cubicScale, { 0.01, 10 });
    reader.figure("cubic_decrease", wan.cubicDecrease, { 0.1, 0.99 });
    reader.figure("bbr_loss_threshold", wan.bbrLossThreshold, { 0, 1 });
    reader.figure("most_connections", wan.mostConnections, { 1, 1e6 });
    reader.figure("ring_latency_seen", wan.ringLatencySeen, { 0, 1 });
    reader.figure("ring_latency_hides_from", wan.ringLatencyHidesFrom, { 2, 1e6 });
    reader.rejectUnknownKeys();
    wan.source = reader.sourcesText();
    return wan;
}

ExpertKernels readExperts(ObjectReader reader)
{
    ExpertKernels experts;
    reader.figure("nccl_sms", experts.ncclSms, { 0, 1024 });
    reader.figure("nccl_sms_between", experts.ncclSmsBetween, { 0, 1024 });
    reader.figure("dedup_sms", experts.dedupSms, { 0, 1024 });
    reader.figure("nccl_skew", experts.ncclSkew, { 0, 10 });
    reader.figure("dedup_skew", experts.dedupSkew, { 0, 10 });
    reader.rejectUnknownKeys();
    experts.source = reader.sourcesText();
    return experts;
}

NetworkFile readNetworkFile(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    NetworkFile file;
    ObjectReader root(content, "network.json: ", errors, &sources);
    const CatalogueJson &links = content.at("links");
    file.network.device =
        readLinkClass(ObjectReader(links.at("device"), "network.json: /links/device", errors, &sources));
    file.network.pcie = readLinkClass(ObjectReader(links.at("pcie"), "network.json: /links/pcie", errors, &sources));
    file.network.fabric =
        readLinkClass(ObjectReader(links.at("fabric"), "network.json: /links/fabric", errors, &sources));
    file.network.wan = readWan(ObjectReader(content.at("wan"), "network.json: /wan", errors, &sources));
    file.network.experts = readExperts(ObjectReader(content.at("experts"), "network.json: /experts", errors, &sources));
    if (links.contains("generations")) {
        for (const auto &[architecture, link] : links.at("generations").items())
            file.network.generations.push_back({ architecture,
                readLinkClass(
                    ObjectReader(link, "network.json: /links/generations/" + architecture, errors, &sources)) });
    }
    for (const auto &[gpus, reaches] : links.at("tcp").items()) {
        const std::string where = "network.json: /links/tcp/" + gpus;
        file.network.tcp.push_back(
            { std::stoi(gpus), readLinkClass(ObjectReader(reaches.at("region"), where + "/region", errors, &sources)),
                readLinkClass(ObjectReader(reaches.at("regions"), where + "/regions", errors, &sources)) });
    }
    std::ranges::sort(file.network.tcp, {}, &TcpLinkClass::gpusPerNode);
    ObjectReader power(content.at("power"), "network.json: /power", errors, &sources);
    power.figure("idle_share", file.power.idleShare, { 0, 1 });
    for (const auto &[key, source] : power.sources())
        file.power.source = source;
    ObjectReader distance(content.at("distance"), "network.json: /distance", errors, &sources);
    distance.figure("constant_ms", file.distance.constantMs, { 0, 1000 });
    distance.figure("route_factor", file.distance.routeFactor, { 1, 10 });
    for (const auto &[key, source] : distance.sources())
        file.distance.source = source;
    return file;
}

const NetworkFile &builtinFile()
{
    static const NetworkFile file = readBuiltinFile("network.json", readNetworkFile);
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

const DistanceSpec &builtinDistance()
{
    return builtinFile().distance;
}

} // namespace trainyard
