// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/calibrated.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

using enum CalibratedPart;

/// All that passes the link takes `factor` times as long.
void slow(LinkClass &kind, double factor)
{
    for (double LinkClass::*share :
        { &LinkClass::fraction, &LinkClass::expertFraction, &LinkClass::expertPassFraction })
        kind.*share /= factor;
    for (double LinkClass::*time : { &LinkClass::startUs, &LinkClass::stepUs, &LinkClass::rampUs,
             &LinkClass::expertStartUs, &LinkClass::ringStepUs })
        kind.*time *= factor;
}

class Calibrator {
public:
    Calibrator(Requested &inMaking, const Calibration &factors)
        : m_work(inMaking)
        , m_factors(factors)
        , m_cluster(inMaking.plan->cluster)
        , m_own(std::make_shared<CalibratedHardware>())
    {
        m_own->roundTripMs.resize(m_cluster.wanLinks.size());
        for (const Datacenter &datacenter : m_cluster.datacenters) {
            m_own->device.emplace_back(datacenter.pools.size());
            m_own->fabric.emplace_back(datacenter.pools.size());
            m_own->drives.emplace_back(datacenter.pools.size());
            m_own->toHost.emplace_back(datacenter.pools.size());
        }
    }

    std::shared_ptr<const CalibratedHardware> apply()
    {
        for (const auto &[id, factor] : m_factors) {
            const bool hasEffect = factor.what == Overlap ? applyToStack(factor)
                : factor.what == Wan                      ? applyToLinks(factor)
                                                          : applyToPools(factor);
            if (!hasEffect)
                m_own->idle.push_back(id);
        }
        return m_own;
    }

private:
    bool applyToStack(const CalibrationFactor &factor)
    {
        StackSpec &stack = m_work.stack;
        for (double StackSpec::*overlap : { &StackSpec::tensorOverlap, &StackSpec::asyncTensorOverlap,
                 &StackSpec::pipelineOverlap, &StackSpec::gradientOverlap, &StackSpec::parameterOverlap })
            stack.*overlap = std::min(1.0, stack.*overlap * *factor.factor);
        return true;
    }

    bool applyToLinks(const CalibrationFactor &factor)
    {
        bool found = false;
        for (std::size_t i = 0; i < m_cluster.wanLinks.size(); ++i) {
            const WanLink &link = m_cluster.wanLinks[i];
            const auto &ends = factor.between;
            if (!ends.empty() && !std::ranges::is_permutation(ends, link.between))
                continue;
            found = true;
            Transport &transport = m_work.transports[i];
            if (factor.factor)
                transport.rate.value /= *factor.factor;
            if (factor.gbytesPerS) {
                transport.rate = gbytesPerSecond(*factor.gbytesPerS);
                transport.capGbps = *factor.gbytesPerS * 8;
                transport.isMeasured = true;
            }
            if (factor.latencyUs)
                m_own->roundTripMs[i] = 2e-3 * *factor.latencyUs;
        }
        return found;
    }

    bool applyToPools(const CalibrationFactor &factor)
    {
        bool found = false;
        for (std::size_t d = 0; d < m_cluster.datacenters.size(); ++d) {
            const Datacenter &datacenter = m_cluster.datacenters[d];
            for (std::size_t p = 0; p < datacenter.pools.size(); ++p) {
                const bool isMeant = (factor.datacenter.empty() || factor.datacenter == datacenter.id)
                    && (factor.gpu.empty() || factor.gpu == m_work.gpus[d][p]->id);
                if (isMeant && applyTo({ .datacenter = int(d), .pool = int(p) }, factor))
                    found = true;
            }
        }
        return found;
    }

    bool applyTo(StageLocation at, const CalibrationFactor &factor)
    {
        const auto d = std::size_t(at.datacenter), p = std::size_t(at.pool);
        SustainedRates &rates = m_work.sustained[d][p];
        const double times = factor.factor.value_or(1);
        switch (factor.what) {
        case Products:
            rates.half /= times, rates.eight /= times, rates.four /= times;
            return true;
        case Attention:
            rates.attention /= times;
            return true;
        case Memory:
            rates.memory /= times;
            return true;
        case Host:
            rates.host *= times, rates.microBatchHost *= times;
            return true;
        case Nvlink:
            setWay(m_own->device[d][p], deviceLink(*m_work.gpus[d][p], builtinNetwork()), factor);
            return true;
        case Fabric:
            setWay(m_own->fabric[d][p], nominalFabric(m_work, at), factor);
            return true;
        case Pcie:
            setPcie(at, factor);
            return true;
        case Drive:
            return setDrives(at, factor);
        case Wan:
        case Overlap:
            break;
        }
        return false;
    }

    void setWay(Link &way, const Link &nominal, const CalibrationFactor &factor)
    {
        way = calibratedLink(way.kind ? way : nominal, factor, m_own->kinds.emplace_back());
    }

    void setPcie(StageLocation at, const CalibrationFactor &factor)
    {
        auto &own = m_own->toHost[std::size_t(at.datacenter)][std::size_t(at.pool)];
        own = factor.gbytesPerS ? gbytesPerSecond(*factor.gbytesPerS) : m_work.hostRate(at) / factor.factor.value_or(1);
        const GpuSpec *&shown = m_work.gpus[std::size_t(at.datacenter)][std::size_t(at.pool)];
        double rate = shown->pcieGBps / factor.factor.value_or(1);
        if (factor.gbytesPerS)
            rate = *factor.gbytesPerS / builtinNetwork().pcie.fraction;
        // Pools of one GPU share the copy: who compares pointers sees the same hardware.
        const auto [found, isNew] = m_copies.try_emplace({ shown, rate }, nullptr);
        if (isNew) {
            GpuSpec &copy = m_own->gpus.emplace_back(*shown);
            copy.pcieGBps = rate;
            found->second = &copy;
        }
        shown = found->second;
    }

    bool setDrives(StageLocation at, const CalibrationFactor &factor)
    {
        const Pool &pool = m_work.pool(at);
        if (!pool.ssd || pool.ssd->writeGBps <= 0)
            return false;
        auto &own = m_own->drives[std::size_t(at.datacenter)][std::size_t(at.pool)];
        Ssd drives = own.value_or(*pool.ssd);
        // The rate is that of writes; reads keep their proportion to them.
        const double gain = factor.gbytesPerS ? *factor.gbytesPerS / drives.writeGBps : 1 / factor.factor.value_or(1);
        drives.writeGBps *= gain, drives.readGBps *= gain;
        own = drives;
        return true;
    }

    Requested &m_work;
    const Calibration &m_factors;
    const Cluster &m_cluster;
    std::shared_ptr<CalibratedHardware> m_own;
    std::map<std::pair<const GpuSpec *, double>, const GpuSpec *> m_copies;
};

} // namespace

Link calibratedLink(const Link &before, const CalibrationFactor &factor, LinkClass &kind)
{
    kind = *before.kind;
    if (factor.factor)
        slow(kind, *factor.factor);
    if (factor.gbytesPerS || factor.latencyUs)
        kind.rampUs = 0;
    if (factor.latencyUs)
        kind.startUs = *factor.latencyUs;
    return { factor.gbytesPerS ? BytesPerSecond { gbytesPerSecond(*factor.gbytesPerS).value / kind.fraction }
                               : before.bandwidth,
        &kind };
}

Link nominalFabric(const Requested &asked, StageLocation location)
{
    const BytesPerSecond perGpu = gbitsPerSecond(asked.fabricGbps(location));
    const Datacenter &datacenter = asked.plan->cluster.datacenters[std::size_t(location.datacenter)];
    const bool isTcp = datacenter.fabric == FabricKind::Tcp;
    Link link = isTcp ? tcpLink(perGpu, asked.pool(location).gpusPerNode, builtinNetwork())
                      : fabricLink(perGpu, builtinNetwork());
    // Large messages reach what was measured (not more than this pool's NICs carry); start, steps and ramp stay the
    // class's.
    if (datacenter.fabricMeasuredGBps)
        link.bandwidth = BytesPerSecond { std::min(gbytesPerSecond(*datacenter.fabricMeasuredGBps).value, perGpu.value)
            / link.kind->fraction };
    return link;
}

ExpectedAll<void> applyCalibration(Requested &inMaking)
{
    const auto factors = calibrationOf(*inMaking.plan);
    if (!factors)
        return std::unexpected(factors.error());
    if (!factors->empty())
        inMaking.calibrated = Calibrator(inMaking, *factors).apply();
    return {};
}

} // namespace trainyard
