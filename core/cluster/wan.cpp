// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/wan.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace trainyard {

namespace {

Seconds rttOf(const WanLink &link) { return milliseconds(link.rttMs); }
Bytes windowOf(const WanLink &link) { return megabytes(link.tcpWindowMb); }
BytesPerSecond capOf(const WanLink &link) { return gbitsPerSecond(link.nodePairGbps); }

/// Letters and digits only, small: "AWS us-east-1" and "aws_us-east-1" are the same.
std::string folded(std::string_view name)
{
    std::string text;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)))
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return text;
}

bool names(const Region &region, const std::string &text)
{
    const std::string given = folded(text);
    if (given.empty())
        return false;
    const std::string provider = folded(region.provider);
    for (const std::string &own : { folded(region.id), folded(region.name) }) {
        // "us-east-1" for "aws-us-east-1", "N. Virginia" for "AWS N. Virginia"
        if (given == own || (own.starts_with(provider) && given == own.substr(provider.size())))
            return true;
    }
    return false;
}

double egressFrom(const Region &from, const Region *to, const Catalogue &catalogue)
{
    if (to) {
        for (const RegionLink &link : catalogue.regionLinks) {
            if (link.from == from.id && link.to == to->id && link.usdPerGb)
                return *link.usdPerGb;
        }
        for (const RegionLink &link : catalogue.regionLinks) {   // a price given the other way round holds unless both are
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

int tcpConnections(const WanLink &link, const Auto<int> &connections)
{
    return connections ? *connections : connectionsToFill(rttOf(link), windowOf(link), capOf(link));
}

BytesPerSecond nodePairThroughput(const WanLink &link, const Auto<int> &connections)
{
    return tcpThroughput(tcpConnections(link, connections), rttOf(link), windowOf(link), capOf(link));
}

const Region *regionOf(const Datacenter &datacenter, const Catalogue &catalogue)
{
    for (const std::string *text : { &datacenter.id, &datacenter.name }) {
        const auto found = std::ranges::find_if(catalogue.regions, [&](const Region &region) { return names(region, *text); });
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
