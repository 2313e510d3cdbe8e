#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences by small numbers, so that many candidates that are refused alike share one. One a thread.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace trainyard {

class Reasons {
public:
    /// 1 for the first; beyond what a number of 16 bits tells apart, that of "it is refused".
    [[nodiscard]] std::uint16_t of(const std::string &text)
    {
        if (const auto known = m_numbers.find(text); known != m_numbers.end())
            return known->second;
        if (m_texts.size() >= kMost)
            return kOther;
        const auto number = static_cast<std::uint16_t>(m_texts.size());
        m_texts.push_back(text);
        m_numbers.emplace(text, number);
        return number;
    }
    [[nodiscard]] const std::string &text(std::uint16_t number) const { return m_texts[number]; }

private:
    static constexpr std::size_t kMost = 65'536;
    static constexpr std::uint16_t kOther = 1;
    std::vector<std::string> m_texts { "", "it is refused" };
    std::unordered_map<std::string, std::uint16_t> m_numbers;
};

} // namespace trainyard
