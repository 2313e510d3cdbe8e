// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/fabric_graph.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::readers {

namespace {

/// Data of one lane, after the line code (8b/10b to QDR, 64b/66b and forward error correction from then on), and what
/// ibstat and iblinkinfo call it: the signalling rate.
struct LaneSpeed {
    std::string_view name;
    double signalled, carried; // Gbit/s
};
constexpr std::array<LaneSpeed, 9> kSpeeds { { { "sdr", 2.5, 2 }, { "ddr", 5, 4 }, { "qdr", 10, 8 },
    { "fdr10", 10.3125, 10 }, { "fdr", 14.0625, 13.64 }, { "edr", 25.78125, 25 }, { "hdr", 53.125, 50 },
    { "ndr", 106.25, 100 }, { "xdr", 212.5, 200 } } };

bool isAdapterName(std::string_view word)
{
    for (const std::string_view kind : { "HCA-", "mlx4_", "mlx5_", "mlx6_", "ibp", "ib", "hfi1_", "bnxt_re", "roce" })
        if (word.starts_with(kind) && word.size() > kind.size() && isDigit(word[kind.size()]))
            return true;
    return false;
}

/// The host of "gpu-v100-3 HCA-1" or "node7 mlx5_0"; empty where the description names a product.
std::string_view hostOf(std::string_view description)
{
    description = trimmed(description);
    const auto blank = description.find(' ');
    if (blank == std::string_view::npos)
        return description;
    const std::string_view rest = trimmed(description.substr(blank));
    return rest.find(' ') == std::string_view::npos && isAdapterName(rest) ? description.substr(0, blank)
                                                                           : std::string_view();
}

bool isSharp(std::string_view description)
{
    return description.find("Aggregation Node") != std::string_view::npos;
}

} // namespace

double linkSpeed(std::string_view text)
{
    const std::string low = lowered(trimmed(text));
    const auto lanes = leadingInteger(low);
    const auto times = low.find('x');
    if (!lanes || *lanes < 1 || *lanes > 16 || times == std::string::npos)
        return 0;
    const std::string_view rest = trimmed(std::string_view(low).substr(times + 1));
    const std::string_view word = rest.substr(0, rest.find(' '));
    const double number = numberIn(word).value_or(0);
    for (const LaneSpeed &one : kSpeeds)
        if (one.name == word || (number > 0 && std::abs(number - one.signalled) < 0.01 * one.signalled))
            return static_cast<double>(*lanes) * one.carried * 1e9 / 8;
    return 0;
}

void FabricGraph::addDevice(const std::string &key, std::string_view description, bool isSwitch)
{
    if (isFull() && !m_devices.contains(key))
        return;
    const auto [at, isNew] = m_devices.try_emplace(key);
    if (isNew) {
        at->second.order = m_order.size();
        m_order.push_back(&at->second);
    }
    at->second.isSwitch |= isSwitch;
    if (at->second.description.empty())
        at->second.description = description.substr(0, 200);
}

void FabricGraph::addLink(const std::string &fromKey, std::int64_t fromPort, const std::string &toKey,
    std::int64_t toPort, double bytesPerSecond)
{
    const auto from = m_devices.find(fromKey), to = m_devices.find(toKey);
    if (from == m_devices.end() || to == m_devices.end() || from == to || isFull())
        return;
    const auto key = std::minmax({ End { fromKey, fromPort }, End { toKey, toPort } });
    const auto [known, isNew] = m_known.try_emplace({ key.first, key.second }, m_links.size());
    if (!isNew) { // a link runs as slowly as its slower end tells
        double &speed = m_links[known->second].bytesPerSecond;
        speed = speed > 0 && bytesPerSecond > 0 ? std::min(speed, bytesPerSecond) : std::max(speed, bytesPerSecond);
        return;
    }
    from->second.links.push_back(m_links.size());
    to->second.links.push_back(m_links.size());
    m_links.push_back({ &from->second, &to->second, bytesPerSecond });
}

void FabricGraph::nameDevices()
{
    std::map<std::string_view, int> uses;
    for (const auto &[key, device] : m_devices)
        uses[device.description] += device.isSwitch;
    for (auto &[key, device] : m_devices) {
        const std::string_view host = device.isSwitch ? std::string_view() : hostOf(device.description);
        if (device.isSwitch)
            device.name = device.description.empty() ? key
                : uses[device.description] > 1       ? device.description + " (" + key + ")"
                                                     : device.description;
        else
            device.name = host.empty() ? key : std::string(host);
    }
}

void FabricGraph::findLevels()
{
    std::vector<Device *> front;
    for (Device *device : m_order)
        if (!device->isSwitch && !isSharp(device->description)) {
            device->level = 0;
            front.push_back(device);
        }
    if (front.empty()) // switches alone: all on one level
        for (Device *device : m_order)
            device->level = 1;
    for (int level = 1; !front.empty(); ++level) {
        std::vector<Device *> next;
        for (const Device *device : front)
            for (const std::size_t link : device->links)
                for (Device *other : { m_links[link].a, m_links[link].b })
                    if (other->isSwitch && other->level < 0) {
                        other->level = level;
                        next.push_back(other);
                    }
        front = std::move(next);
    }
}

void FabricGraph::writeSwitch(const Device &one, RecordingBuilder &scribe)
{
    std::vector<std::string> below;
    std::set<std::string_view> seen;
    std::map<double, int> speeds;
    for (const std::size_t link : one.links) {
        const Device &other = m_links[link].a == &one ? *m_links[link].b : *m_links[link].a;
        // of two switches on one level the one that the file names first holds the other
        const bool isBelow =
            other.level >= 0 && (other.level < one.level || (other.level == one.level && one.order < other.order));
        if (!isBelow)
            continue;
        ++speeds[m_links[link].bytesPerSecond];
        if (seen.insert(other.name).second)
            below.push_back(other.name);
    }
    double common = 0;
    int most = 0;
    for (const auto &[speed, count] : speeds)
        if (speed > 0 && count >= most) {
            common = speed;
            most = count;
        }
    for (const auto &[speed, count] : speeds)
        if (speed > 0 && speed < common)
            scribe.note(counted(static_cast<std::size_t>(count), "link", "links") + " of " + one.name
                + " to what is below it at " + plainNumber(speed * 8e-9) + " Gbit/s, the others at "
                + plainNumber(common * 8e-9));
    if (!below.empty())
        addSwitch(scribe, one.name, std::move(below), false, common);
}

void FabricGraph::writeHosts(RecordingBuilder &scribe)
{
    struct Host {
        int nics = 0;
        double bytesPerSecond = 0;
    };
    std::map<std::string, Host> hosts;
    for (const Device *device : m_order)
        if (device->level == 0 && !device->links.empty()) {
            Host &host = hosts[device->name];
            host.nics = std::min(host.nics + static_cast<int>(device->links.size()), 1024);
            for (const std::size_t link : device->links)
                if (const double speed = m_links[link].bytesPerSecond; speed > 0)
                    host.bytesPerSecond = host.bytesPerSecond > 0 ? std::min(host.bytesPerSecond, speed) : speed;
        }
    for (auto &[name, host] : hosts)
        addNode(scribe, name, { .nics = host.nics, .nicBytesPerSecond = host.bytesPerSecond });
}

void FabricGraph::write(RecordingBuilder &scribe)
{
    nameDevices();
    findLevels();
    std::size_t toHosts = 0, between = 0, sharp = 0;
    for (const Link &link : m_links) {
        const bool isOfSharp = isSharp(link.a->description) || isSharp(link.b->description);
        ++(isOfSharp ? sharp : link.a->isSwitch && link.b->isSwitch ? between : toHosts);
    }
    scribe.note(counted(toHosts, "link", "links") + " to hosts, " + std::to_string(between) + " between switches");
    scribe.drop("links to aggregation nodes within switches (SHARP)", static_cast<std::int64_t>(sharp));
    for (const Device *device : m_order)
        if (device->isSwitch)
            writeSwitch(*device, scribe);
    writeHosts(scribe);
    if (isFull())
        scribe.drop("what stands behind the first million devices or links");
}

} // namespace trainyard::readers
