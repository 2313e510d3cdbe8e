#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan asks for, and where it lies. A Requested has names as figures and no place; a Workload is a Requested
// that was placed, and is what cost, memory and schedule read. Both keep the plan alive and are immutable once made:
// another plan or another layout makes another one. place.h and layouts/placements.h find layouts.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/cluster/link_index.h"
#include "core/facts/cluster/wan.h"
#include "core/iteration/placement/degrees.h"
#include "core/iteration/placement/layout.h"
#include "core/iteration/placement/stage_source.h"

#include <memory>
#include <utility>
#include <vector>

namespace trainyard {

/// calibrated.h
struct CalibratedHardware;

struct Requested {
    PlanPtr plan;
    /// of the plan, as the source is
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

    /// The same names on the same hardware, asked for by another plan (see sharesNames()).
    [[nodiscard]] Requested askedBy(PlanPtr next) const;
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

protected:
    void setPlan(PlanPtr next);
};

struct Workload : Requested {
    /// DP-cells are formed in it, shares are dealt
    Layout layout;

    Workload() = default;
    Workload(Requested asked, Layout at)
        : Requested(std::move(asked))
        , layout(std::move(at))
    {
    }
    /// In the same place, as another plan of the same names would have it there: a view of one class, a what-if.
    [[nodiscard]] Workload askedBy(PlanPtr next) const;
};

/// One workload after the other in the memory of the one before, for whoever tries a million plans or layouts. What it
/// hands out is valid until the next call.
class WorkloadInTurn : private Workload {
public:
    explicit WorkloadInTurn(Requested asked)
        : Workload(std::move(asked), {})
    {
    }
    [[nodiscard]] const Requested &asked() const { return *this; }
    [[nodiscard]] const Workload &now() const { return *this; }
    /// Another plan of the same names in the same place.
    const Workload &askedBy(PlanPtr next);
    /// The same plan in another place.
    const Workload &at(Layout next);
    [[nodiscard]] Layout takeLayout() { return std::exchange(layout, {}); }
};

} // namespace trainyard
