// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/wan.h"

#include "core/facts/cluster/zone_links.h"
#include "core/facts/hardware/network_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace trainyard {

namespace {

Bytes hostWindow(const WanLink &link, const Catalogue &catalogue)
{
    const Cloud *cloud = link.cloud.empty() ? nullptr : catalogue.cloud(link.cloud);
    return megabytes(cloud ? cloud->tcpWindowMb : link.tcpWindowMb);
}

/// Letters and digits only, small: "AWS us-east-1" and "aws_us-east-1" are the same. 0: neither.
constexpr std::array<char, 256> kFolded = [] {
    std::array<char, 256> folded {};
    for (int c = 0; c < 26; ++c)
        folded['a' + c] = folded['A' + c] = static_cast<char>('a' + c);
    for (int c = '0'; c <= '9'; ++c)
        folded[c] = static_cast<char>(c);
    return folded;
}();

/// Takes its first folded letter off a name; 0 where none is left. Letter by letter: every datacenter is compared with
/// every region.
char takeLetter(std::string_view &name)
{
    while (!name.empty()) {
        const char c = kFolded[static_cast<unsigned char>(name.front())];
        name.remove_prefix(1);
        if (c != 0)
            return c;
    }
    return 0;
}

/// Takes a text off the front of a name.
bool takesOff(std::string_view &name, std::string_view text)
{
    std::string_view left = name;
    while (const char c = takeLetter(text))
        if (takeLetter(left) != c)
            return false;
    name = left;
    return true;
}

bool spells(std::string_view name, std::string_view text)
{
    return takesOff(name, text) && takeLetter(name) == 0;
}

char firstLetter(std::string_view name)
{
    return takeLetter(name);
}

bool names(const Region &region, std::string_view given)
{
    const char first = firstLetter(given),
               ofProvider = firstLetter(region.provider); // most regions are out by their first letters
    const auto isOwn = [&](std::string_view own) {
        // "us-east-1" for "aws-us-east-1", "N. Virginia" for "AWS N. Virginia"
        const char ownFirst = firstLetter(own);
        return (ownFirst == first && spells(own, given))
            || (ownFirst == ofProvider && takesOff(own, region.provider) && firstLetter(own) == first
                && spells(own, given));
    };
    return first != 0 && (isOwn(region.id) || isOwn(region.name));
}

double egressFrom(const Region &from, const Region *to, const Catalogue &catalogue)
{
    if (to) {
        for (const RegionLink &link : catalogue.regionLinks) {
            if (link.from == from.id && link.to == to->id && link.usdPerGb)
                return *link.usdPerGb;
        }
        for (const RegionLink &link :
            catalogue.regionLinks) { // a price given the other way round holds unless both are
            if (link.from == to->id && link.to == from.id && link.usdPerGb)
                return *link.usdPerGb;
        }
    }
    return from.egressUsdPerGb;
}

} // namespace

BytesPerSecond tcpThroughput(double connections, Seconds rtt, Bytes window, BytesPerSecond pairCap)
{
    if (rtt.value <= 0)
        return pairCap;
    return std::min(pairCap, BytesPerSecond { connections * window.value / rtt.value });
}

int connectionsToFill(Seconds rtt, Bytes window, BytesPerSecond pairCap)
{
    if (!(window.value > 0))
        return 1;
    // A hair less, so that a quotient which is whole but for rounding does not ask for one connection more.
    const double exact = pairCap.value * rtt.value / window.value;
    const double count = std::ceil(exact * (1 - 1e-12));
    return static_cast<int>(std::clamp(count, 1.0, double { std::numeric_limits<int>::max() }));
}

double lossWindowSegments(double loss, Seconds rtt)
{
    if (loss <= 0)
        return std::numeric_limits<double>::infinity();
    const WanTcp &tcp = builtinNetwork().wan;
    const double b = tcp.cubicDecrease;
    const double cubic = std::pow(tcp.cubicScale * (3 + b) / (4 * (1 - b)), 0.25) * std::pow(rtt.value / loss, 0.75);
    const double reno = 1.2 / std::sqrt(loss); // CUBIC's Reno-friendly region
    return std::max({ 1.0, reno, cubic });
}

Transport transportOf(const WanLink &link, const WanStrategy &strategy, const Catalogue &catalogue,
    std::optional<BytesPerSecond> measured)
{
    const WanTcp &tcp = builtinNetwork().wan;
    const Seconds rtt = milliseconds(roundTripMs(link));
    const double capGbps = measured ? measured->value * 8e-9 : link.nodePairGbps;
    const BytesPerSecond cap = gbitsPerSecond(capGbps);
    const bool givesWay = strategy.congestion == CongestionControl::Cubic || link.lossRate > tcp.bbrLossThreshold;
    const Bytes window = hostWindow(link, catalogue);
    const Bytes left { givesWay ? lossWindowSegments(link.lossRate, rtt) * tcp.segmentBytes
                                : std::numeric_limits<double>::infinity() };
    Transport transport;
    transport.capGbps = capGbps;
    transport.isMeasured = measured.has_value();
    transport.window = std::min(window, left);
    transport.toFill = connectionsToFill(rtt, transport.window, cap);
    transport.connections =
        strategy.tcpConnections.value_or(std::min(transport.toFill, static_cast<int>(tcp.mostConnections)));
    const BytesPerSecond sent = tcpThroughput(transport.connections, rtt, transport.window, cap);
    transport.rate = sent * (1 - link.lossRate);
    transport.lossBound = left < window;
    return transport;
}

const Region *regionOf(const Datacenter &datacenter, const Catalogue &catalogue)
{
    for (const std::string *text : { &datacenter.id, &datacenter.name }) {
        const auto found =
            std::ranges::find_if(catalogue.regions, [&](const Region &region) { return names(region, *text); });
        if (found != catalogue.regions.end())
            return &*found;
    }
    return nullptr;
}

std::array<double, 2> egressUsdPerGb(const Plan &plan, const Catalogue &catalogue, int linkIndex)
{
    const WanLink &link = plan.cluster.wanLinks[static_cast<std::size_t>(linkIndex)];
    if (link.usdPerGb)
        return *link.usdPerGb;
    if (const auto ofZones = zoneUsdPerGb(plan.cluster, link))
        return *ofZones;
    std::array<const Region *, 2> regions {};
    for (std::size_t end = 0; end < 2; ++end) {
        if (const int index = plan.cluster.indexOf(link.between[end]); index >= 0)
            regions[end] = regionOf(plan.cluster.datacenters[static_cast<std::size_t>(index)], catalogue);
    }
    const auto price = [&](std::size_t from) {
        return regions[from] ? egressFrom(*regions[from], regions[1 - from], catalogue) : kDefaultEgressUsdPerGb;
    };
    return { price(0), price(1) };
}

} // namespace trainyard
