// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/space/rules.h"

#include "core/planner/space/rule_list_internal.h"

#include <algorithm>

namespace trainyard {

SpaceRules::SpaceRules(const SearchSpace &space, const Catalogue &catalogue)
    : m_space(&space)
    , m_rulesAt(space.axes().size())
    , m_below(space.axes().size(), 1)
    , m_base(space.number(space.baseCandidate()))
{
    for (std::size_t i = space.axes().size(); i-- > 1;)
        m_below[i - 1] = m_below[i] * space.axes()[i].values.size();
    for (detail::SpaceRule &rule : detail::spaceRules(space, catalogue)) {
        m_rulesAt[rule.lastAxis].push_back(m_rules.size());
        m_rules.push_back({ std::move(rule.text), std::move(rule.breaks) });
    }
}

const std::string *SpaceRules::whyNot(const Candidate &candidate) const
{
    const auto broken = std::ranges::find_if(m_rules, [&](const Rule &rule) { return rule.breaks(candidate); });
    return broken == m_rules.end() || candidate == m_space->baseCandidate() ? nullptr : &broken->text;
}

bool SpaceRules::walk(std::size_t depth, std::uint64_t number, Walk &walk) const
{
    if (depth == walk.candidate.size())
        return walk.visit(number, walk.candidate);
    for (std::uint16_t value = 0; value < m_space->axes()[depth].values.size(); ++value) {
        if (walk.stop.stop_requested()) // a load: what a rule asks costs more
            return false;
        walk.candidate[depth] = value;
        const std::uint64_t first = number + value * m_below[depth];
        const auto broken = std::ranges::find_if(
            m_rulesAt[depth], [&](std::size_t rule) { return m_rules[rule].breaks(walk.candidate); });
        if (broken == m_rulesAt[depth].end()) {
            if (!this->walk(depth + 1, first, walk))
                return false;
            continue;
        }
        walk.left[*broken].count += m_below[depth];
        if (m_base >= first && m_base - first < m_below[depth]) {
            --walk.left[*broken].count;
            if (!walk.visit(m_base, m_space->baseCandidate()))
                return false;
        }
    }
    return true;
}

std::vector<SpaceRules::LeftOut> SpaceRules::forEach(
    const std::function<bool(std::uint64_t, const Candidate &)> &visit, const std::stop_token &stop) const
{
    Walk walk { visit, stop, {}, Candidate(m_space->axes().size(), 0) };
    for (const Rule &rule : m_rules)
        walk.left.push_back({ rule.text, 0 });
    this->walk(0, 0, walk);
    std::erase_if(walk.left, [](const LeftOut &one) { return one.count == 0; });
    return std::move(walk.left);
}

std::uint64_t SpaceRules::count(std::uint64_t most) const
{
    std::uint64_t kept = 0;
    forEach([&](std::uint64_t, const Candidate &) { return ++kept < most; });
    return kept;
}

} // namespace trainyard
