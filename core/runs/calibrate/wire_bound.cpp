// SPDX-License-Identifier: GPL-3.0-or-later
// No link carries more than its wire: what says so has told wrong sizes or times, or is of another machine.
#include "core/base/number_text.h"
#include "core/facts/hardware/network_spec.h"
#include "core/iteration/placement/calibrated.h"
#include "core/runs/calibrate/calibration_case_internal.h"

namespace trainyard {

namespace {

struct GpuWire {
    Link nominal; // that a factor is a multiple of
    BytesPerSecond wire;
    const char *name = "";
};

GpuWire wayOf(const Workload &workload, StageLocation at, CalibratedPart what)
{
    if (what == CalibratedPart::Fabric)
        return { nominalFabric(workload, at), gbitsPerSecond(workload.fabricGbps(at)), "its share of the NICs" };
    const GpuSpec &gpu = workload.gpu(at);
    const Link link = deviceLink(gpu, builtinNetwork());
    return { link, link.bandwidth, gpu.linkGBps > 0 ? "its link to the GPUs beside it" : "its PCIe" };
}

/// B/s of one GPU that large messages reach.
double reached(const Link &nominal, const CalibrationFactor &factor)
{
    if (factor.gbytesPerS)
        return gbytesPerSecond(*factor.gbytesPerS).value;
    return nominal.bandwidth.value * nominal.kind->fraction / factor.factor.value_or(1);
}

} // namespace

std::string beyondWire(const CalibrationCase &of, const CalibrationFactor &factor)
{
    if (factor.what != CalibratedPart::Nvlink && factor.what != CalibratedPart::Fabric)
        return {};
    for (const GpuRun &run : of.workload.layout.runs) {
        const StageLocation at = run.location();
        const Datacenter &datacenter = of.workload.plan->cluster.datacenters[std::size_t(at.datacenter)];
        if ((!factor.gpu.empty() && factor.gpu != of.workload.gpu(at).id)
            || (!factor.datacenter.empty() && factor.datacenter != datacenter.id))
            continue;
        const GpuWire way = wayOf(of.workload, at, factor.what);
        if (const double rate = reached(way.nominal, factor); !(rate <= way.wire.value))
            return "A GPU would reach " + bytesText(rate) + "/s where " + way.name + " carries "
                + bytesText(way.wire.value)
                + "/s: the sizes or times of these collectives are not what went over that wire, they are of another "
                  "machine, or reduced by switches otherwise than modelled";
    }
    return {};
}

} // namespace trainyard
