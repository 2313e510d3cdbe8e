#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which values of a space go together, told by the numbers of the axes alone: what needs more GPUs than there are, what
// a schedule or a stack does not do, and what is another candidate over again (virtual stages where there is one
// stage). A candidate that a rule leaves out is refused by run(), or equals one that is kept. Whole branches are left
// out at once: going through a space costs no more than its candidates that are kept, and the edges beside them.
// Read-only, any thread.
//
//   const SpaceRules rules(space, builtinCatalogue());
//   rules.forEach([&](std::uint64_t number, const Candidate &candidate) { …; return true; });

#include "core/planner/space/space.h"

#include <functional>
#include <span>
#include <stop_token>

namespace trainyard {

class SpaceRules {
public:
    /// Refers to the space.
    SpaceRules(const SearchSpace &space, const Catalogue &catalogue);

    /// Why a candidate is left out, one sentence without a full stop; null where it is kept. The plan as it is always
    /// is.
    [[nodiscard]] const std::string *whyNot(const Candidate &candidate) const;

    struct LeftOut {
        std::string reason;
        std::uint64_t count = 0;
    };
    /// Calls with each candidate that is kept, in the order of their numbers, until it answers false. Answers how many
    /// were left out, and by which rule, as far as it went.
    /// After a stop none is visited any more; it ends wherever it is, also between candidates that are far apart.
    std::vector<LeftOut> forEach(const std::function<bool(std::uint64_t number, const Candidate &)> &visit,
        const std::stop_token &stop = {}) const;
    /// How many are kept; at most `most`, which is where counting stops.
    [[nodiscard]] std::uint64_t count(std::uint64_t most) const;

private:
    struct Rule {
        std::string text;
        std::function<bool(const Candidate &)> breaks;
    };
    struct Walk {
        const std::function<bool(std::uint64_t, const Candidate &)> &visit;
        const std::stop_token &stop;
        std::vector<LeftOut> left;
        Candidate candidate;
    };
    bool walk(std::size_t depth, std::uint64_t number, Walk &walk) const;

    const SearchSpace *m_space;
    std::vector<Rule> m_rules;
    /// [axis]: rules whose last axis it is
    std::vector<std::vector<std::size_t>> m_rulesAt;
    /// [axis]: candidates of one value and all before it
    std::vector<std::uint64_t> m_below;
    std::uint64_t m_base = 0;
};

} // namespace trainyard
