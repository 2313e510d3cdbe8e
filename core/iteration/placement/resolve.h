#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// First room: a plan's names become figures, and its stages get locations. A Workload is what cost, memory and schedule
// read; it keeps the plan alive and is immutable once made.

#include "core/base/error.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/link_index.h"
#include "core/facts/cluster/wan.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/layout.h"
#include "core/iteration/placement/stage_source.h"

namespace trainyard {

/// calibrated.h
struct CalibratedHardware;

struct Workload {
    PlanPtr plan;
    /// of the plan, as the source is: set all three by setPlan
    Degrees degrees;
    StageSource source;
    ModelSpec model;
    StackSpec stack;
    /// [datacenter][pool]; owned by the catalogue or the plan
    std::vector<std::vector<const GpuSpec *>> gpus;
    /// likewise
    std::vector<std::vector<SustainedRates>> sustained;
    /// of a node pair of each WAN link
    std::vector<Transport> transports;
    /// null: the plan has no factors
    std::shared_ptr<const CalibratedHardware> calibrated;
    /// which link joins two datacenters
    LinkIndex links;
    Layout layout;

    /// Another plan of the same names on the same hardware.
    void setPlan(PlanPtr next);
    [[nodiscard]] const Pool &pool(StageLocation location) const;
    [[nodiscard]] const GpuSpec &gpu(StageLocation location) const;
    [[nodiscard]] SustainedRates sustainedRates(StageLocation location) const;
    /// Degree of tensor parallel there, and all degrees of what computes there.
    [[nodiscard]] int tensorAt(StageLocation location) const
    {
        return location.tensor > 0 ? location.tensor : degrees.tensor;
    }
    [[nodiscard]] Degrees degreesAt(StageLocation location) const;
    /// NIC bandwidth of one GPU of the location, 10^9 bits per second.
    [[nodiscard]] double fabricGbps(StageLocation location) const;
    /// Drives of its nodes, at the rates that calibration measured; nullptr: none.
    [[nodiscard]] const Ssd *drives(StageLocation location) const;
    /// Of one GPU to the memory of its host, each direction: what the pool states, else its PCIe's.
    [[nodiscard]] BytesPerSecond hostRate(StageLocation location) const;
    /// Of a WAN link, jitter included, milliseconds.
    [[nodiscard]] double roundTripMs(int link) const;
    /// Bytes of activation that one stage boundary carries per micro-batch and direction, in one of boundaryParts():
    /// 2·b·s·h/cp (or what was measured; `backward` asks for the gradient's).
    [[nodiscard]] double boundaryBytes(bool backward) const;
    /// The message by which a network source is asked what a node pair reaches: what a stage boundary carries, of a
    /// plan without one the gradients of a stage.
    [[nodiscard]] Bytes crossingBytes() const;
    /// Context ranks that send their own part of it.
    [[nodiscard]] int boundaryParts() const { return source.sendsWhole ? 1 : degrees.context; }
    /// Of an element of a gradient.
    [[nodiscard]] double gradientBytes() const;
};

/// Names to figures: GPUs, model and stack. The layout is left empty (see place.h).
/// Errors: every unknown name with the nearest known one, every contradiction that makes the plan meaningless.
[[nodiscard]] ExpectedAll<Workload> resolve(PlanPtr plan, const Catalogue &catalogue);

/// Whether a plan has the names and the hardware of another one that was resolved, so that resolveAgain() is enough:
/// cluster, model and stack are equal, and nothing else of a Workload depends on the rest of the plan.
[[nodiscard]] bool sharesNames(const Plan &resolved, const Plan &plan);
/// What resolve() would make of such a plan, but for the layout, which is left as it is. Errors: those of resolve();
/// the workload is then of no plan.
[[nodiscard]] Errors resolveAgain(Workload &workload, PlanPtr plan);

} // namespace trainyard
