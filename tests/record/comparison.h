#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between two records. Spans and labels have to be equal, whole nanoseconds included; figures and bytes to
// a relative tolerance, for a sum may be added up in another order. Curves equal to the tolerance and not to the byte
// are counted.

#include "tests/record/record.h"

namespace trainyard::record {

struct Tolerance {
    bool ofCauses = true; // false: other causes are a difference
    double relative = 1e-9;
    double absolute = 1e-12; // of what is the difference of large numbers: a picosecond, no byte
    [[nodiscard]] bool holds(double before, double after) const;
};

struct PlanDifference {
    std::string name;
    std::vector<std::string> what; // one sentence each: place, before and after
};

struct Comparison {
    std::vector<PlanDifference> plans;
    std::vector<std::string> missing, added; // plans of the first record alone, of the second alone
    std::size_t compared = 0; // plans in both
    std::size_t rows = 0, spans = 0, figures = 0, curves = 0; // of them, before
    // No differences, for two predecessors may end at one instant and rows may be listed in any order, but worth a look
    std::size_t roundedCurves = 0; // equal to the tolerance, not to the byte
    std::size_t otherCauses = 0; // rows in which other spans set the starts
    std::size_t otherOrders = 0; // plans whose rows come in another order
    /// Whether every plan of both says the same. A plan that is in one alone breaks nothing: records of parts can be
    /// compared.
    [[nodiscard]] bool agrees() const { return plans.empty() && compared > 0; }
};

[[nodiscard]] Comparison compared(const Record &before, const Record &after, const Tolerance &tolerance = {});

/// For people: of at most `plans` plans at most `perPlan` differences, then what there is in all.
void writeComparison(std::ostream &out, const Comparison &comparison, std::size_t plans, std::size_t perPlan);

} // namespace trainyard::record
