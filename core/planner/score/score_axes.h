#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which axes of a space each part of a score depends on, by the plan's keys that they set. An axis whose keys are not
// listed counts for every part: what nobody has thought about is only slower.

#include "core/planner/score/value_table.h"
#include "core/planner/space/space.h"

#include <array>
#include <deque>
#include <initializer_list>
#include <span>

namespace trainyard {

/// Rest: the axes that count for every part. Batch: how many micro-batches an iteration has. Shape: whether degrees,
/// model and schedule go together. Places: locations and replicas. Order: layers of the stages, and in which order they
/// work. Held: what lies on a GPU before there are micro-batches. Kept: what these add. Ends: what a stage does at the
/// end of an iteration. Work: times of micro-batches.
enum class Part : std::uint8_t { Rest, Batch, Shape, Places, Order, Held, Kept, Ends, Work };
inline constexpr std::size_t kParts = 9;

class ScoreAxes {
public:
    explicit ScoreAxes(const SearchSpace &space);

    /// The combination of the part's axes.
    [[nodiscard]] std::uint64_t key(Part part, const Candidate &candidate) const
    {
        std::uint64_t number = 0;
        for (const Term &term : m_terms[std::size_t(part)])
            number += term.step * (term.alike ? term.alike[candidate[term.axis]] : candidate[term.axis]);
        return number;
    }
    /// The candidate with the base's values wherever the part does not look.
    [[nodiscard]] Candidate representative(Part part, const Candidate &candidate) const;
    /// Whether candidates that differ in one axis may have the same key of each of these parts.
    [[nodiscard]] bool mayShare(std::initializer_list<Part> parts) const;
    /// Whether a 64-bit number tells all combinations apart.
    [[nodiscard]] bool isNumbered() const { return m_isNumbered; }

private:
    struct Term {
        std::size_t axis;
        std::uint64_t step;
        /// values that the part cannot tell apart have one number; nullptr: each its own
        const std::uint16_t *alike;
    };
    void add(Part part, std::size_t axis, const std::uint16_t *alike);
    [[nodiscard]] const std::uint16_t *alikeOf(Part part, const Axis &axis, const Plan &base);

    const SearchSpace &m_space;
    std::array<std::vector<Term>, kParts> m_terms;
    std::array<std::uint64_t, kParts> m_steps;
    /// stay where they are
    std::deque<std::vector<std::uint16_t>> m_alike;
    bool m_isNumbered = true;
};

} // namespace trainyard
