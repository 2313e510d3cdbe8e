#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Values by number, each made once: what a part of a score is for one combination of the axes that it depends on. A
// value never moves, and is known by a small number of its own, so that other parts can depend on it. The last one that
// was asked for is remembered, because candidates that follow each other differ in few axes. One a thread.

#include "core/planner/score/key_index.h"

#include <deque>
#include <utility>

namespace trainyard {

/// `axes`: the combination in mixed radix; `beside`: whatever else it depends on, as one number.
struct ValueKey {
    std::uint64_t axes = 0, beside = 0;
    bool operator==(const ValueKey &) const = default;
};
[[nodiscard]] constexpr std::uint64_t slotHash(const ValueKey &key)
{
    return slotHash(key.axes ^ (key.beside * 0x9e3779b97f4a7c15u));
}

template <class Value> class ValueTable {
public:
    struct Entry {
        Value value;
        /// counts from 0
        std::uint32_t id;
    };

    /// The value of the key; `make()` where there is none yet: it may ask this table's owner for others, never this
    /// table.
    template <class Make> const Entry &of(ValueKey key, Make make)
    {
        if (m_last && m_lastKey == key)
            return *m_last;
        std::uint32_t number = m_index.find(key);
        if (number == kNoKey) {
            Value value = make();
            number = m_index.add(key);
            m_entries.push_back({ std::move(value), number });
        }
        m_lastKey = key;
        m_last = &m_entries[number];
        return *m_last;
    }
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    void clear() { *this = {}; }

private:
    KeyIndex<ValueKey> m_index;
    std::deque<Entry> m_entries;
    ValueKey m_lastKey;
    const Entry *m_last = nullptr;
};

} // namespace trainyard
