// SPDX-License-Identifier: GPL-3.0-or-later
// Names and groups of the span store: numbers of a batch to its own, and what nobody uses any more cleared out, when
// there are too many.
#include "core/live/store/span_store.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostGroupRanks = std::size_t(1) << 24; // of all groups

std::size_t hashOf(const CommunicatorGroup &group)
{
    std::size_t key = std::hash<std::string> {}(group.name);
    for (const int rank : group.ranks)
        key = key * 1'099'511'628'211u + static_cast<std::size_t>(rank) + 1;
    return key;
}

} // namespace

void SpanStore::mapNames(const Recording &part)
{
    for (bool isCleared = false;; isCleared = true) {
        m_nameOf.clear();
        std::size_t unknown = 0;
        for (const std::string &name : part.names) {
            const auto number = (*m_names)(name);
            unknown += number ? 0 : 1;
            m_nameOf.push_back(number ? *number : (*m_names)("").value_or(0)); // without a name
        }
        m_unknownNames += unknown;
        if (unknown == 0 || isCleared || m_unknownNames < m_limits.names / 16)
            return;
        m_unknownNames = 0;
        clearNames();
    }
}

void SpanStore::mapGroups(const Recording &part)
{
    for (bool isCleared = false;; isCleared = true) {
        m_groupOf.clear();
        std::size_t unknown = 0;
        for (const CommunicatorGroup &group : part.groups) {
            m_groupOf.push_back(groupOf(group));
            unknown += m_groupOf.back() == kNoIndex ? 1 : 0;
        }
        m_unknownGroups += unknown;
        if (unknown == 0 || isCleared || m_unknownGroups < m_limits.groups / 16)
            return;
        m_unknownGroups = 0;
        clearGroups();
    }
}

std::uint32_t SpanStore::groupOf(const CommunicatorGroup &group)
{
    const std::size_t key = hashOf(group);
    const auto [first, last] = m_groupIndex.equal_range(key);
    for (auto at = first; at != last; ++at)
        if (m_groups[at->second].name == group.name && m_groups[at->second].ranks == group.ranks)
            return at->second;
    if (m_groups.size() >= m_limits.groups || m_groupRanks + group.ranks.size() > kMostGroupRanks)
        return kNoIndex;
    const auto number = static_cast<std::uint32_t>(m_groups.size());
    m_groupIndex.emplace(key, number);
    m_groups.push_back(group);
    m_groupRanks += group.ranks.size();
    return number;
}

void SpanStore::clearNames()
{
    std::vector<std::uint32_t> renamed(m_names->size(), kNoIndex);
    auto names = std::make_unique<Interner>(m_limits.names, mostNameBytes);
    const auto rename = [&](std::uint32_t &name) {
        if (renamed[name] == kNoIndex)
            renamed[name] = (*names)((*m_names)[name]).value_or(0);
        name = renamed[name];
    };
    for (StoredRank &rank : m_ranks) {
        for (StoredStream &stream : rank.streams)
            stream.spans.change([&](StoredSpan &span) { rename(span.name); });
        rank.collectives.change([&](StoredCollective &one) {
            rename(one.operation);
            if (one.span != kNoIndex)
                rename(one.span);
        });
    }
    m_names = std::move(names);
}

void SpanStore::clearGroups()
{
    std::vector<std::uint32_t> moved(m_groups.size(), kNoIndex);
    std::vector<CommunicatorGroup> groups;
    for (StoredRank &rank : m_ranks)
        rank.collectives.change([&](StoredCollective &one) {
            if (one.group == kNoIndex)
                return;
            if (moved[one.group] == kNoIndex) {
                moved[one.group] = static_cast<std::uint32_t>(groups.size());
                groups.push_back(std::move(m_groups[one.group]));
            }
            one.group = moved[one.group];
        });
    m_groups = std::move(groups);
    m_groupIndex.clear();
    m_groupRanks = 0;
    for (std::uint32_t i = 0; i < m_groups.size(); ++i) {
        m_groupIndex.emplace(hashOf(m_groups[i]), i);
        m_groupRanks += m_groups[i].ranks.size();
    }
}

} // namespace trainyard::live
