// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/unequal_gpus/knapsack_internal.h"

#include <bit>

namespace trainyard {

SampleSet SampleSet::plus(const SampleSet &other) const
{
    SampleSet sum(m_most);
    for (std::size_t from = 0; from < m_words.size(); ++from) {
        for (std::uint64_t bits = m_words[from]; bits != 0; bits &= bits - 1) {
            const int shift = std::countr_zero(bits);
            for (std::size_t w = 0; w + from < m_words.size(); ++w) {
                sum.m_words[w + from] |= other.m_words[w] << shift;
                if (shift > 0 && w + from + 1 < m_words.size())
                    sum.m_words[w + from + 1] |= other.m_words[w] >> (64 - shift);
            }
        }
    }
    return sum;
}

SampleSet SampleSet::times(int count) const
{
    SampleSet sum(m_most), doubled = *this;
    sum.insert(0);
    for (; count > 0; count /= 2) {
        if (count % 2 > 0)
            sum = sum.plus(doubled);
        if (count > 1)
            doubled = doubled.plus(doubled);
    }
    return sum;
}

} // namespace trainyard
