// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/resources.h"

#include "core/evaluation/advice/gpu_resources_internal.h"
#include "core/facts/cluster/alike_pools.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/cluster/zone_links.h"
#include "core/facts/plan/calibration.h"
#include "core/iteration/placement/activations_leave.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

namespace trainyard {

namespace {

constexpr std::array kKindNames { "link-bandwidth", "round-trip", "node-pair", "nic", "nvlink", "hbm-size", "hbm-speed",
    "drive-speed", "host-link", "flops", "node", "next-gpu", "budget" };

/// The last of all factors by its name.
void calibrate(Plan &plan, const std::string &id, CalibratedPart part, const std::array<std::string, 2> &between,
    const std::string &datacenter, double timeFactor)
{
    CalibrationFactor factor;
    factor.what = part;
    factor.factor = timeFactor;
    factor.datacenter = datacenter;
    if (part == CalibratedPart::Wan)
        factor.between = { between[0], between[1] };
    plan.calibration["~" + id] = formatCalibrationFactor(factor);
}

/// Whether a factor says how fast something is, whatever the plan states of it.
bool isMeasured(const Calibration &factors, CalibratedPart part, const std::array<std::string, 2> &between,
    const std::string &datacenter)
{
    return std::ranges::any_of(factors, [&](const auto &entry) {
        const CalibrationFactor &factor = entry.second;
        return factor.what == part && factor.gbytesPerS
            && (factor.between.empty() || std::ranges::is_permutation(factor.between, between))
            && (factor.datacenter.empty() || factor.datacenter == datacenter);
    });
}

void addLinks(std::vector<HardwareResource> &list, const Plan &plan, const UsedSites &sites, const Calibration &factors)
{
    std::unordered_map<std::string_view, int> numbers;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        numbers.try_emplace(datacenter.id, int(numbers.size()));
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        const auto a = numbers.find(link.between[0]), b = numbers.find(link.between[1]);
        if (a == numbers.end() || b == numbers.end())
            continue;
        const auto labelAt = [&](auto found) { return plan.cluster.datacenters[std::size_t(found->second)].label(); };
        const std::string name = labelAt(a) + "–" + labelAt(b), id = "link:" + link.between[0] + "-" + link.between[1];
        const auto add = [&](ResourceKind kind, const char *key, const char *what, const char *unit, double now,
                             auto set) {
            if (now > 0)
                list.push_back({ .kind = kind,
                    .id = id + ":" + key,
                    .name = name + ", " + what,
                    .place = name,
                    .unit = unit,
                    .now = now,
                    .isLessBetter = kind == ResourceKind::RoundTrip,
                    .distance = sites.distance(a->second, b->second),
                    .set = set });
        };
        const bool measured = isMeasured(factors, CalibratedPart::Wan, link.between, {})
            || zonePairRate(plan.cluster, link, Bytes { 1e6 });
        add(ResourceKind::NodePair, "pair", "per node pair", "Gbit/s", link.nodePairGbps, [=](Plan &p, double value) {
            WanLink &faster = p.cluster.wanLinks[i];
            if (measured)
                calibrate(p, id, CalibratedPart::Wan, faster.between, {}, faster.nodePairGbps / value);
            faster.nodePairGbps = value;
        });
        add(ResourceKind::LinkBandwidth, "capacity", "capacity", "Gbit/s", link.capacityGbps,
            [=](Plan &p, double value) { p.cluster.wanLinks[i].capacityGbps = value; });
        add(ResourceKind::RoundTrip, "rtt", "round trip", "ms", link.rttMs,
            [=](Plan &p, double value) { p.cluster.wanLinks[i].rttMs = value; });
    }
}

/// The NIC of each GPU of a datacenter; where the datacenter states none, each type of GPU has its own.
void addNics(std::vector<HardwareResource> &list, const Plan &plan, const Catalogue &catalogue, const UsedSites &sites,
    const Calibration &factors)
{
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        double least = 0, most = 0;
        for (const Pool &pool : datacenter.pools) {
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            const double own = datacenter.fabricGbpsPerGpu.value_or(gpu ? gpu->fabricGbps : 0);
            least = &pool == datacenter.pools.data() ? own : std::min(least, own);
            most = std::max(most, own);
        }
        if (!(most > 0))
            continue;
        const bool measured = isMeasured(factors, CalibratedPart::Fabric, {}, datacenter.id);
        const std::string id = "fabric:" + datacenter.id;
        const auto set = [=, &catalogue, isEqual = least == most](Plan &p, double value) {
            Datacenter &faster = p.cluster.datacenters[d];
            const double times = value / most;
            if (isEqual)
                faster.fabricGbpsPerGpu = value;
            else
                for (Pool &pool : faster.pools)
                    if (const GpuSpec *gpu = gpuOf(pool, catalogue))
                        detail::describeGpu(pool, *gpu).fabricGbps *= times;
            if (faster.fabricMeasuredGBps)
                *faster.fabricMeasuredGBps *= times; // the new one is as good a share of its nominal rate
            if (measured)
                calibrate(p, id, CalibratedPart::Fabric, {}, faster.id, 1 / times);
        };
        list.push_back({ .kind = ResourceKind::Nic,
            .id = id,
            .name = "NIC per GPU in " + datacenter.label(),
            .place = " in " + datacenter.label(),
            .unit = "Gbit/s",
            .now = most,
            .distance = sites.distance(int(d)),
            .set = set });
    }
}

/// Equal pools of one datacenter are worth the same.
bool hasEqualBefore(const std::vector<Pool> &pools, std::size_t at)
{
    return std::any_of(pools.begin(), pools.begin() + std::ptrdiff_t(at),
        [&](const Pool &other) { return areAlike(other, pools[at]); });
}

void addPools(std::vector<HardwareResource> &list, const Plan &plan, const Catalogue &catalogue, const UsedSites &sites)
{
    const MemoryStrategy &memory = plan.memory;
    const bool usesDrives = memory.activationOffload == ActivationOffload::Ssd
        || memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd;
    const bool usesHost = activationsLeaveTo(memory) == ActivationOffload::Host
        || memory.parameterOffload != ParameterOffload::None || memory.optimizerOffload != OptimizerOffload::None;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d) {
        const Datacenter &datacenter = plan.cluster.datacenters[d];
        for (std::size_t k = 0; k < datacenter.pools.size(); ++k) {
            const Pool &pool = datacenter.pools[k];
            if (pool.nodes <= 0 || hasEqualBefore(datacenter.pools, k))
                continue;
            const std::string id = datacenter.id + ":" + pool.id,
                              where = " in " + datacenter.label()
                + (datacenter.pools.size() > 1 ? " (" + pool.id + ")" : "");
            const auto add = [&](ResourceKind kind, const std::string &group, const std::string &what, const char *unit,
                                 double now, auto set) -> HardwareResource * {
                if (!(now > 0))
                    return nullptr;
                list.push_back({ .kind = kind,
                    .id = group + ":" + id,
                    .name = what + where,
                    .place = where,
                    .unit = unit,
                    .now = now,
                    .distance = sites.distance(int(d)),
                    .set = set });
                return &list.back();
            };
            HardwareResource *node = add(ResourceKind::Node, "nodes", "nodes", "nodes", pool.nodes,
                [=](Plan &p, double value) { p.cluster.datacenters[d].pools[k].nodes = int(value + 0.5); });
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            if (const double price = pool.usdPerGpuHour.value_or(gpu ? gpu->usdPerHour : 0); node && price > 0)
                node->usdPerHour = price * pool.gpusPerNode;
            if (usesDrives && pool.ssd)
                for (const auto &[key, what, rate] : { std::tuple("drives-read", "drives, reads,", &Ssd::readGBps),
                         std::tuple("drives-write", "drives, writes,", &Ssd::writeGBps) })
                    add(ResourceKind::DriveSpeed, key, what + std::string(" per node"), "GB/s", (*pool.ssd).*rate,
                        [=](Plan &p, double value) { (*p.cluster.datacenters[d].pools[k].ssd).*rate = value; });
            if (usesHost && pool.host)
                add(ResourceKind::HostLink, "host-link", "host memory per GPU", "GB/s",
                    pool.host->gbytesPerSecondPerGpu, [=](Plan &p, double value) {
                        p.cluster.datacenters[d].pools[k].host->gbytesPerSecondPerGpu = value;
                    });
        }
    }
}

} // namespace

const char *toString(ResourceKind kind)
{
    return kKindNames[std::size_t(kind)];
}

UsedSites::UsedSites(const Plan &plan, const Layout *layout)
    : m_isUsed(plan.cluster.datacenters.size(), layout == nullptr || layout->runs.empty())
{
    if (layout)
        for (const GpuRun &run : layout->runs)
            m_isUsed[std::size_t(run.datacenter)] = true;
}

int UsedSites::distance(int a, int b) const
{
    const auto isUnused = [&](int site) { return site >= 0 && !m_isUsed[std::size_t(site)]; };
    return isUnused(a) + isUnused(b);
}

std::vector<HardwareResource> resourcesOf(const Plan &plan, const Catalogue &catalogue, const Layout *layout)
{
    const UsedSites sites(plan, layout);
    const Calibration factors = calibrationOf(plan).value_or(Calibration {});
    std::vector<HardwareResource> list;
    addLinks(list, plan, sites, factors);
    addNics(list, plan, catalogue, sites, factors);
    detail::addGpuResources(list, plan, catalogue, sites);
    addPools(list, plan, catalogue, sites);
    return list;
}

} // namespace trainyard
