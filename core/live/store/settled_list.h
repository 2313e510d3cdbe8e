#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Events that come in nearly any order and leave from the front: what came lately waits unsorted, and is put in order,
// without what is told twice, when somebody looks. T is ordered, by its `start` first. Not thread-safe.

#include "core/runs/telemetry/recording.h"

#include <algorithm>
#include <limits>
#include <span>

namespace trainyard::live {

template <class T> class SettledList {
public:
    void add(const T &event) { m_late.push_back(event); }
    [[nodiscard]] std::size_t size() const { return m_items.size() - m_begin + m_late.size(); }
    [[nodiscard]] std::size_t late() const { return m_late.size(); } // that have not settled
    [[nodiscard]] std::size_t bytes() const { return (m_items.capacity() + m_late.capacity()) * sizeof(T); }

    /// How many were told twice and are out now.
    std::size_t settle()
    {
        if (m_late.empty())
            return 0;
        std::sort(m_late.begin(), m_late.end());
        const auto from = std::lower_bound(m_items.begin() + std::ptrdiff_t(m_begin), m_items.end(), m_late.front())
            - m_items.begin(); // what is before it stays as it is
        const std::ptrdiff_t middle = std::ssize(m_items);
        m_items.insert(m_items.end(), m_late.begin(), m_late.end());
        if (from < middle)
            std::inplace_merge(m_items.begin() + from, m_items.begin() + middle, m_items.end());
        const auto twice = std::ranges::unique(m_items.begin() + from, m_items.end());
        const std::size_t count = twice.size();
        m_items.erase(twice.begin(), twice.end());
        m_late.clear();
        if (m_late.capacity() > kKept)
            std::vector<T>().swap(m_late);
        return count;
    }

    // Of what has settled

    [[nodiscard]] std::span<const T> items() const { return std::span(m_items).subspan(m_begin); }
    [[nodiscard]] std::span<T> items() { return std::span(m_items).subspan(m_begin); }
    /// Those that start at `from` or later, and before `to`.
    [[nodiscard]] std::span<const T> between(Moment from, Moment to) const
    {
        const auto all = items();
        const auto first = std::ranges::lower_bound(all, from, {}, &T::start);
        const auto last = std::ranges::lower_bound(first, all.end(), to, {}, &T::start);
        return { first, last };
    }
    /// Lets those go that start before; how many.
    std::size_t removeBefore(Moment moment)
    {
        const std::size_t count = between(std::numeric_limits<Moment>::min(), moment).size();
        m_begin += count;
        if (m_begin > m_items.size() / 2) {
            m_items.erase(m_items.begin(), m_items.begin() + std::ptrdiff_t(m_begin));
            m_begin = 0;
            if (m_items.capacity() > 4 * m_items.size() + kKept)
                m_items.shrink_to_fit();
        }
        return count;
    }
    std::size_t remove(Moment from, Moment to)
    {
        const auto gone = between(from, to);
        const auto at = m_items.begin() + (gone.data() - m_items.data());
        if (!gone.empty())
            m_items.erase(at, at + std::ssize(gone));
        return gone.size();
    }

    /// Changes what does not change their starts, settled or not; those of equal starts are put in order anew.
    template <class Change> void change(const Change &change)
    {
        std::ranges::for_each(items(), change);
        std::ranges::for_each(m_late, change);
        for (std::size_t i = m_begin, next = i; i < m_items.size(); i = next) {
            while (next < m_items.size() && m_items[next].start == m_items[i].start)
                ++next;
            std::sort(m_items.begin() + std::ptrdiff_t(i), m_items.begin() + std::ptrdiff_t(next));
        }
    }

private:
    static constexpr std::size_t kKept = 4'096;
    /// from m_begin on in order
    std::vector<T> m_items;
    std::size_t m_begin = 0;
    std::vector<T> m_late;
};

} // namespace trainyard::live
