#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan's hardware is made of, resource by resource: bandwidth and round trip of each link, NICs of each
// datacenter, what each type of GPU can do, drives and ways to host memory, nodes of each pool. Each says how much of
// it there is and makes plans with more of it, so that whoever asks what better parts would buy
// (core/evaluation/advice/alternatives.h, core/planner/sensitivity) names and changes them alike. Pure functions, any
// thread.

#include "core/base/metric.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "core/iteration/placement/layout.h"

#include <functional>
#include <string>
#include <vector>

namespace trainyard {

enum class ResourceKind : std::uint8_t {
    LinkBandwidth,
    RoundTrip,
    NodePair,
    Nic,
    NvLink,
    HbmSize,
    HbmSpeed,
    DriveSpeed,
    HostLink,
    PeakFlops,
    Node,
    /// the catalogue's next one in place of all of a type
    NextGpu,
    Budget
};
/// "link-bandwidth", as JSON names them
[[nodiscard]] const char *toString(ResourceKind kind);

struct HardwareResource {
    ResourceKind kind = ResourceKind::PeakFlops;
    /// "link:oregon-ohio:pair", stable
    std::string id;
    /// "Oregon–Ohio, per node pair"
    std::string name;
    /// "Oregon–Ohio", " in Ohio (ohio-a100)"; empty of a type of GPU
    std::string place = {};
    /// "Gbit/s", "ms", "GiB", "TFLOP/s", "GB/s", "nodes", "GPUs"
    std::string unit;
    /// above 0
    double now = 0;
    /// round trips
    bool isLessBetter = false;
    /// datacenters that it is about and that hold no stage
    int distance = 0;
    /// of one unit more, where it has a price
    Metric usdPerHour;
    /// to so much in all
    std::function<void(Plan &, double value)> set;
};

/// Of a plan whose stage times are measured, one for the speed of its GPUs in place of what makes it. What the plan
/// does not use (drives, host memory) is left out. `layout`: who is used; null: all.
[[nodiscard]] std::vector<HardwareResource> resourcesOf(
    const Plan &plan, const Catalogue &catalogue, const Layout *layout = nullptr);

/// The nearest GPU of the same maker with more memory and no less speed, and the nearest that is faster with no less
/// memory.
[[nodiscard]] std::vector<const GpuSpec *> nextGpus(
    const GpuSpec &now, const Catalogue &catalogue, Precision precision);
/// In place of every GPU of a type of the catalogue; its price goes, which was the other's.
void replaceGpus(Plan &plan, const std::string &type, const std::string &next);

/// Datacenters that hold stages of a layout; all without one.
class UsedSites {
public:
    UsedSites(const Plan &plan, const Layout *layout);
    /// How many of the two hold none; an index of −1 is none that counts.
    [[nodiscard]] int distance(int a, int b = -1) const;

private:
    std::vector<bool> m_isUsed;
};

} // namespace trainyard
