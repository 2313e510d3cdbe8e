// SPDX-License-Identifier: GPL-3.0-or-later
#include "tools/fit_network/tcp_fit.h"

#include "core/facts/network/collectives.h"

#include <array>
#include <cmath>
#include <iostream>

namespace trainyard {

namespace {

/// Below 1 MB some of the quadratics come near zero, above 1 GB some fall.
constexpr int kSmallest = 0, kLargest = 10; // log2 of MB

struct Transfer {
    Bytes message;
    BytesPerSecond nic; // of one GPU
    double seconds = 0;
};

std::string regionOf(const std::string &zone)
{
    return zone.substr(0, zone.rfind('-'));
}

/// The table gives what a machine moves. Up to 4 MB a machine of four moves what four machines of one do, so its rate
/// is taken for the sum over its GPUs, each with a message of that size.
void addTransfers(SplitRows<Transfer> &rows, const OrderedJson &row, int gpus, double nicGbps)
{
    const auto &c = row["poly_coeffs"];
    for (int q = kSmallest; q <= kLargest; ++q) {
        const double whole = std::min((c[0].get<double>() * q + c[1].get<double>()) * q + c[2].get<double>(),
            row["max_bw_Bps"].get<double>() * 1e-9);
        const double megabytes = std::exp2(q);
        rows.add({ Bytes { megabytes * 1e6 }, gbitsPerSecond(nicGbps / gpus), megabytes * 1e-3 / (whole / gpus) });
    }
}

enum class Reach { Zone, Zones, Regions }; // one zone, two of a region, two regions

/// Between two machines of that type.
SplitRows<Transfer> transfers(
    const OrderedJson &table, const std::string &machine, Reach reach, int gpus, double nicGbps)
{
    SplitRows<Transfer> rows;
    for (const OrderedJson &row : table["rows"]) {
        const std::string from = row["src_zone"], to = row["dst_zone"];
        const Reach own = from == to ? Reach::Zone : regionOf(from) == regionOf(to) ? Reach::Zones : Reach::Regions;
        if (row["src"] == machine && row["dst"] == machine && own == reach)
            addTransfers(rows, row, gpus, nicGbps);
    }
    return rows;
}

SplitRows<Transfer> together(SplitRows<Transfer> a, const SplitRows<Transfer> &b)
{
    a.fitted.insert(a.fitted.end(), b.fitted.begin(), b.fitted.end());
    a.heldOut.insert(a.heldOut.end(), b.heldOut.begin(), b.heldOut.end());
    return a;
}

auto errorOf(const LinkClass &kind)
{
    return [kind](const Transfer &t) {
        return std::log(transferTime(t.message, 1, { t.nic, &kind }).value / t.seconds);
    };
}

/// Every parameter is bounded by the RDMA fabric's, so that no transfer is faster than by RDMA: a ramp that is at least
/// as high and at most as long lies above at every size. The share of the NIC is cut after the fit: bounded in it, what
/// large messages lose would be made up for by a latency that is too short.
LinkClass fitted(const std::vector<Transfer> &rows, const LinkClass &fabric, bool isRampLong)
{
    const double longest = isRampLong ? 1e9 : fabric.rampBytes;
    const double steepness =
        isRampLong ? longest / fabric.rampBytes : 1; // keeps rampUs / rampBytes no less than the fabric's
    const std::array<CurveParameter<LinkClass>, 4> parameters { {
        { "fraction", &LinkClass::fraction, { 0.6, 0.01, 1 } },
        { "step_us", &LinkClass::stepUs, { 100, fabric.stepUs, 1e5 } },
        { "ramp_us", &LinkClass::rampUs, { fabric.rampUs * steepness, fabric.rampUs, 1e7 } },
        { "ramp_bytes", &LinkClass::rampBytes, { longest / 20, 1e4, longest } },
    } };
    LinkClass link;
    link.startUs = fabric.startUs; // a kernel's launch, which single transfers cannot tell from a step
    link = fitCurve(link, std::span<const CurveParameter<LinkClass>>(parameters), rows,
        [](const LinkClass &kind) { return errorOf(kind); });
    link.fraction = std::min(link.fraction, fabric.fraction);
    return link;
}

OrderedJson linkJson(const LinkClass &link, const char *source)
{
    OrderedJson json = OrderedJson::object();
    json["fraction"] = { link.fraction, source };
    json["start_us"] = { link.startUs, "derived-network" };
    json["step_us"] = { link.stepUs, source };
    json["ramp_us"] = { link.rampUs, source };
    json["ramp_bytes"] = { link.rampBytes, source };
    return json;
}

} // namespace

void fitTcp(OrderedJson &network, const OrderedJson &table, const LinkClass &fabric, const char *source)
{
    OrderedJson &errors = network["residuals"]["TCP"] = OrderedJson::object();
    const auto judge = [&](const std::string &name, const LinkClass &link, const SplitRows<Transfer> &rows) {
        errors[name] = residuals(judged(rows.fitted, errorOf(link)), judged(rows.heldOut, errorOf(link)));
        std::cout << "TCP " << name << ' ' << errors[name].dump() << std::endl;
    };
    for (auto &[gpuCount, entry] : network["links"]["tcp"].items()) {
        const int gpus = std::stoi(gpuCount);
        const double nicGbps = entry["nic_gbps"][0];
        const std::string machine = "A100-40x" + gpuCount;
        const auto rowsOf = [&](const std::string &type, Reach reach) {
            return transfers(table, type, reach, gpus, nicGbps);
        };
        const SplitRows<Transfer> zone = rowsOf(machine, Reach::Zone), zones = rowsOf(machine, Reach::Zones),
                                  regions = rowsOf(machine, Reach::Regions);
        const LinkClass near = fitted(together(zone, zones).fitted, fabric, gpus == 1),
                        far = fitted(regions.fitted, fabric, true);
        entry["region"] = linkJson(near, source);
        entry["regions"] = linkJson(far, source);
        judge(gpuCount + " a machine, one zone", near, zone);
        judge(gpuCount + " a machine, two zones", near, zones);
        judge(gpuCount + " a machine, two regions", far, regions);
        const SplitRows<Transfer> other =
            together(rowsOf("V100-16x" + gpuCount, Reach::Zone), rowsOf("V100-16x" + gpuCount, Reach::Zones));
        SplitRows<Transfer> unseen { {}, other.fitted }; // another machine altogether: judged, never fitted
        unseen.heldOut.insert(unseen.heldOut.end(), other.heldOut.begin(), other.heldOut.end());
        if (!unseen.heldOut.empty())
            judge(gpuCount + " V100 a machine, one or two zones", near, unseen);
    }
}

} // namespace trainyard
