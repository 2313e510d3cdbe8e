#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Values by number, each made once: what a part of a score is for one combination of the axes that it depends on. A
// value never moves, and is known by a small number of its own, so that other parts can depend on it. The last one that
// was asked for is remembered, because candidates that follow each other differ in few axes. One a thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace trainyard {

/// `axes`: the combination in mixed radix; `beside`: whatever else it depends on, as one number.
struct ValueKey {
    std::uint64_t axes = 0, beside = 0;
    bool operator==(const ValueKey &) const = default;
};

template <class Value> class ValueTable {
public:
    struct Entry {
        Value value;
        std::uint32_t id; // counts from 0
    };

    /// The value of the key; `make()` where there is none yet.
    template <class Make> const Entry &of(ValueKey key, Make make)
    {
        if (m_last && m_lastKey == key)
            return *m_last;
        if (2 * m_entries.size() >= m_slots.size())
            grow();
        std::size_t slot = place(key);
        if (m_slots[slot].entry == kFree) {
            Value value = make(); // which may ask this table's owner for others, never this table
            m_slots[slot] = { key, static_cast<std::uint32_t>(m_entries.size()) };
            m_entries.push_back({ std::move(value), static_cast<std::uint32_t>(m_entries.size()) });
        }
        m_lastKey = key;
        m_last = &m_entries[m_slots[slot].entry];
        return *m_last;
    }
    [[nodiscard]] std::size_t size() const { return m_entries.size(); }
    void clear() { *this = {}; }

private:
    static constexpr std::uint32_t kFree = ~std::uint32_t(0);
    struct Slot {
        ValueKey key;
        std::uint32_t entry = kFree;
    };

    [[nodiscard]] std::size_t place(const ValueKey &key) const
    {
        std::uint64_t mixed = (key.axes ^ (key.beside * 0x9e3779b97f4a7c15u)) * 0xd6e8feb86659fd93u;
        mixed ^= mixed >> 32;
        std::size_t slot = (mixed * 0xd6e8feb86659fd93u) >> 20;
        for (slot &= m_slots.size() - 1; m_slots[slot].entry != kFree && m_slots[slot].key != key;)
            slot = (slot + 1) & (m_slots.size() - 1);
        return slot;
    }
    void grow()
    {
        std::vector<Slot> before(m_slots.empty() ? 64 : 2 * m_slots.size());
        before.swap(m_slots);
        for (const Slot &known : before)
            if (known.entry != kFree)
                m_slots[place(known.key)] = known;
    }

    std::vector<Slot> m_slots; // a power of two, at most half full
    std::deque<Entry> m_entries;
    ValueKey m_lastKey;
    const Entry *m_last = nullptr;
};

} // namespace trainyard
