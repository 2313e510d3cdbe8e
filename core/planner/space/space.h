#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search may choose: axes, each a few values of one decision (tensor-parallel degree, schedule, recomputation,
// which datacenters hold how many stages …), around a plan that gives all else. A candidate is one value of each axis,
// numbered by mixed radix, the first axis slowest. A space is immutable; any thread may read it.
//
//   const SearchSpace space = makeSpace(plan, builtinCatalogue(), { .fixed = { "parallelism.tensor" } });
//   for (std::uint64_t i = 0; i < space.size(); ++i)
//       run(space.plan(space.candidate(i)), …);
//
// Values of different axes need not go together: rules.h says which do, before anything is computed.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

struct AxisValue {
    /// as a person reads it: "8", "interleaved", "Virginia ×6 → Ohio ×3"
    std::string text;
    std::function<void(Plan &)> set;
};

struct Axis {
    /// "tensor", unique in its space
    std::string id;
    /// dotted keys of the plan that it sets; fixing one of them fixes the axis
    std::vector<std::string> keys;
    /// "Tensor parallel"
    std::string label;
    /// distinct, in an order of their own (degrees rise)
    std::vector<AxisValue> values;
    /// the plan's own value; it is always among them
    std::uint16_t base = 0;
    /// further values that were left out, which others do not stand for
    std::size_t thinned = 0;
};

/// [axis]: index into its values
using Candidate = std::vector<std::uint16_t>;

/// "Schedules that megatron-core does not have are not tried: GPipe, ZB-H1 and 9 more"; empty where its software has
/// all of them.
[[nodiscard]] std::string schedulesLeftOut(const Plan &plan);

class SearchSpace {
public:
    SearchSpace(PlanPtr base, std::vector<Axis> axes);

    [[nodiscard]] const PlanPtr &base() const { return m_base; }
    [[nodiscard]] const std::vector<Axis> &axes() const { return m_axes; }
    /// -1: no such axis.
    [[nodiscard]] int axis(std::string_view id) const;
    /// Of all combinations, those that cannot be included; kTooMany where a 64-bit number does not hold it.
    [[nodiscard]] std::uint64_t size() const { return m_size; }
    static constexpr std::uint64_t kTooMany = ~std::uint64_t(0);
    [[nodiscard]] Candidate candidate(std::uint64_t number) const;
    [[nodiscard]] std::uint64_t number(const Candidate &candidate) const;
    /// The plan as it is.
    [[nodiscard]] Candidate baseCandidate() const;
    /// Not validated; the base itself for its own candidate.
    [[nodiscard]] PlanPtr plan(const Candidate &candidate) const;

private:
    PlanPtr m_base;
    std::vector<Axis> m_axes;
    std::uint64_t m_size = 1;
};

struct SpaceOptions {
    /// dotted keys or their sections ("memory") that stay as the plan has them
    std::vector<std::string> fixed;
    /// ids of those that may be used; empty: all
    std::vector<std::string> datacenters;
    /// also values that affect convergence
    bool mayTrainOtherwise = false;
    /// Values of an axis are thinned to so many, the plan's own and the ends kept.
    std::size_t mostValues = 16;
    /// A number of replicas that is a value too: of a plan with `data: auto` what it has, where that is not the most.
    std::optional<int> ownReplicas = {};
};

/// Axes that make sense for this plan on this hardware: an axis of one value is left out, and so is what the stack does
/// not do, what needs hardware that is not there and, unless allowed, what affects convergence.
/// Errors: a fixed key that no plan has, with the nearest known one; names that the catalogue lacks.
[[nodiscard]] ExpectedAll<SearchSpace> makeSpace(
    const PlanPtr &plan, const Catalogue &catalogue, const SpaceOptions &options = {});

} // namespace trainyard
