#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What so many GPUs of a cluster cost and draw at least, whichever they are: those with the lowest price, and those
// with the lowest draw, waiting. Bounds of objectives and budgets come from it. Immutable, any thread.

#include "core/catalogue/catalogue.h"
#include "core/plan/plan.h"

#include <string>
#include <vector>

namespace trainyard {

class LeastCost {
public:
    /// Of the datacenters with these ids; none: all.
    LeastCost(const Plan &plan, const Catalogue &catalogue, const std::vector<std::string> &datacenters);
    [[nodiscard]] double usdPerHour(int gpus) const { return least(m_usd, gpus); }
    /// What so many GPUs in one datacenter cost is that, whichever they are: all have one price.
    [[nodiscard]] bool isExact() const { return m_isExact; }
    [[nodiscard]] double kilowatts(int gpus) const { return least(m_kilowatts, gpus); }

private:
    struct Step { // the cheapest so many come to so much; each further one costs `next`
        int gpus = 0;
        double sum = 0, next = 0;
    };
    static std::vector<Step> stepsOf(std::vector<std::pair<double, int>> pools);
    [[nodiscard]] static double least(const std::vector<Step> &steps, int gpus);

    std::vector<Step> m_usd, m_kilowatts;
    bool m_isExact = false;
};

} // namespace trainyard
