#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Keys numbered in the order in which they came, found by open addressing; what belongs to a number lies with whoever
// keeps the index. One a thread.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard {

[[nodiscard]] constexpr std::uint64_t slotHash(std::uint64_t word)
{
    word *= 0xd6e8feb86659fd93u;
    word ^= word >> 32;
    return (word * 0xd6e8feb86659fd93u) >> 20;
}

inline constexpr std::uint32_t kNoKey = ~std::uint32_t(0);

/// `Key`: compared by ==, and slotHash() takes it.
template <class Key> class KeyIndex {
public:
    /// With room for so many.
    explicit KeyIndex(std::size_t most = 0)
        : m_slots(most == 0 ? 0 : std::bit_ceil(2 * most))
    {
    }
    /// The number of the key, which counts from 0; kNoKey where it is not there.
    [[nodiscard]] std::uint32_t find(const Key &key) const
    {
        return m_slots.empty() ? kNoKey : m_slots[place(key)].number;
    }
    /// Of a key that is not there.
    std::uint32_t add(const Key &key)
    {
        if (2 * (std::size_t(m_size) + 1) > m_slots.size())
            grow();
        m_slots[place(key)] = { key, m_size };
        return m_size++;
    }
    [[nodiscard]] std::size_t size() const { return m_size; }

private:
    struct Slot {
        Key key {};
        std::uint32_t number = kNoKey;
    };

    [[nodiscard]] std::size_t place(const Key &key) const
    {
        std::size_t slot = slotHash(key) & (m_slots.size() - 1);
        while (m_slots[slot].number != kNoKey && !(m_slots[slot].key == key))
            slot = (slot + 1) & (m_slots.size() - 1);
        return slot;
    }
    void grow()
    {
        std::vector<Slot> before(std::max<std::size_t>(64, 2 * m_slots.size()));
        before.swap(m_slots);
        for (const Slot &known : before)
            if (known.number != kNoKey)
                m_slots[place(known.key)] = known;
    }

    /// a power of two, at most half full
    std::vector<Slot> m_slots;
    std::uint32_t m_size = 0;
};

} // namespace trainyard
