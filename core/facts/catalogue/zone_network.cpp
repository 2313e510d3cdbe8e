// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/zone_network.h"

#include "core/facts/catalogue/builtin_file_internal.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr Range kUsd { 0, 1000 };
constexpr Range kCoefficient { -1000, 1000 };

ZoneMachine readMachine(ObjectReader &reader)
{
    ZoneMachine machine;
    reader.text("id", machine.id);
    reader.text("gpu", machine.gpu);
    reader.count("gpus_per_node", machine.gpusPerNode, { 1, 1024 });
    reader.figure("usd_per_gpu_hour", machine.usdPerGpuHour, kUsd);
    machine.source = reader.sourcesText();
    return machine;
}

ZoneLink readZoneLink(ObjectReader &reader)
{
    ZoneLink link;
    reader.text("from", link.from);
    reader.text("to", link.to);
    reader.text("machine", link.machine);
    for (const auto &[key, coefficient] : { std::pair { "c0", &LinkCurve::c0 }, std::pair { "c1", &LinkCurve::c1 },
             std::pair { "c2", &LinkCurve::c2 } }) {
        reader.require(key, "a coefficient of GB/s");
        reader.figure(key, link.curve.*coefficient, kCoefficient);
    }
    link.source = reader.sources().empty() ? std::string() : reader.sources().begin()->second;
    return link;
}

ZonePrice readPrice(ObjectReader &reader)
{
    ZonePrice price;
    reader.text("from", price.from);
    reader.text("to", price.to);
    reader.require("usd_per_gb", "a price");
    reader.figure("usd_per_gb", price.usdPerGb, kUsd);
    price.source = reader.sources().empty() ? std::string() : reader.sources().begin()->second;
    return price;
}

template <class Entry>
std::vector<Entry> readAll(const CatalogueJson &list, const std::string &where, const Citations &sources,
    Errors &errors, Entry (*read)(ObjectReader &))
{
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < list.size(); ++i) {
        ObjectReader reader(list[i], where + "/" + std::to_string(i), errors, &sources);
        entries.push_back(read(reader));
        reader.rejectUnknownKeys();
    }
    return entries;
}

std::vector<ZoneNetwork> readZonesFile(const CatalogueJson &content, const Citations &sources, Errors &errors)
{
    std::vector<ZoneNetwork> networks;
    for (const CatalogueJson &given : content.at("networks")) {
        const std::string where = "zones.json: /networks/" + std::to_string(networks.size());
        networks.push_back({ given.at("id"), given.at("name"),
            readAll(given.at("machines"), where + "/machines", sources, errors, &readMachine),
            readAll(given.at("links"), where + "/links", sources, errors, &readZoneLink),
            readAll(given.at("egress"), where + "/egress", sources, errors, &readPrice), {} });
        std::vector<std::string> &zones = networks.back().zones;
        for (const ZonePrice &price : networks.back().egress) {
            if (std::ranges::find(zones, price.from) == zones.end())
                zones.push_back(price.from);
        }
    }
    return networks;
}

} // namespace

bool ZoneNetwork::knows(std::string_view zone) const
{
    return std::ranges::find(zones, zone) != zones.end();
}

const ZoneMachine *ZoneNetwork::machine(std::string_view gpu, int gpusPerNode) const
{
    const auto found = std::ranges::find_if(
        machines, [&](const ZoneMachine &m) { return m.gpu == gpu && m.gpusPerNode == gpusPerNode; });
    return found == machines.end() ? nullptr : &*found;
}

const ZoneLink *ZoneNetwork::link(std::string_view from, std::string_view to, std::string_view machine) const
{
    const auto found = std::ranges::find_if(
        links, [&](const ZoneLink &l) { return l.from == from && l.to == to && l.machine == machine; });
    return found == links.end() ? nullptr : &*found;
}

std::optional<double> ZoneNetwork::usdPerGb(std::string_view from, std::string_view to) const
{
    const auto found =
        std::ranges::find_if(egress, [&](const ZonePrice &price) { return price.from == from && price.to == to; });
    return found == egress.end() ? std::nullopt : std::optional(found->usdPerGb);
}

const std::vector<ZoneNetwork> &builtinZoneNetworks()
{
    static const std::vector<ZoneNetwork> networks = readBuiltinFile("zones.json", readZonesFile);
    return networks;
}

const ZoneNetwork *builtinZoneNetwork(std::string_view id)
{
    const auto found = std::ranges::find(builtinZoneNetworks(), id, &ZoneNetwork::id);
    return found == builtinZoneNetworks().end() ? nullptr : &*found;
}

} // namespace trainyard
