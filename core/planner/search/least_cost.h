#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What so many GPUs of a cluster cost and draw at least, whichever they are: those with the lowest price, and those
// with the lowest draw. Bounds of objectives and budgets come from it. Immutable, any thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <string>
#include <vector>

namespace trainyard {

class LeastCost {
public:
    /// Of the datacenters with these ids; none: all.
    LeastCost(const Plan &plan, const Catalogue &catalogue, const std::vector<std::string> &datacenters);
    [[nodiscard]] double usdPerHour(int gpus) const { return least(m_usd, gpus); }
    /// What so many GPUs in one datacenter cost is that, whichever they are: all have one price, and so many fill
    /// nodes.
    [[nodiscard]] bool isExact(int gpus) const { return m_isExact && gpus % m_perNode == 0; }
    /// of the datacenters that it is of
    [[nodiscard]] int gpus() const { return m_usd.back().gpus; }
    /// What they draw in so many seconds, in which they compute for so many GPU-seconds, whichever do. They draw idle
    /// power all the time and the rest up to full power where they compute
    /// (core/evaluation/evaluate/metrics/chip_power.h); on unequal ones the mean of all computes, as Metrics has it.
    [[nodiscard]] double joules(int gpus, double seconds, double computing) const;

private:
    struct Step { // the cheapest so many come to so much; each further one costs `next`
        int gpus = 0;
        double sum = 0, next = 0;
    };
    static std::vector<Step> stepsOf(std::vector<std::pair<double, int>> pools);
    [[nodiscard]] static double least(const std::vector<Step> &steps, int gpus);

    /// waiting
    std::vector<Step> m_usd, m_kilowatts;
    bool m_isExact = false;
    /// GPUs of a node, where all have as many
    int m_perNode = 1;
};

} // namespace trainyard
