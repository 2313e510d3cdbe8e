#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of texts that a peer names, bounded in how many and in their bytes: one beyond that has no number. Not
// thread-safe.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace trainyard::live {

class Interner {
public:
    Interner(std::size_t most, std::size_t mostBytes)
        : m_most(most)
        , m_mostBytes(mostBytes)
    {
    }
    [[nodiscard]] std::optional<std::uint32_t> operator()(std::string_view text)
    {
        if (const auto known = m_index.find(text); known != m_index.end())
            return known->second;
        if (m_texts.size() >= m_most || m_bytes + text.size() > m_mostBytes)
            return std::nullopt;
        m_bytes += text.size();
        const auto number = static_cast<std::uint32_t>(m_texts.size());
        m_texts.emplace_back(text);
        m_index.emplace(m_texts.back(), number);
        return number;
    }
    /// of one that was named before
    [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const
    {
        const auto known = m_index.find(text);
        return known != m_index.end() ? std::optional(known->second) : std::nullopt;
    }
    [[nodiscard]] const std::string &operator[](std::uint32_t number) const { return m_texts[number]; }
    [[nodiscard]] std::size_t size() const { return m_texts.size(); }
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    std::size_t m_most, m_mostBytes, m_bytes = 0;
    /// in their places for good: m_index views them
    std::deque<std::string> m_texts;
    std::unordered_map<std::string_view, std::uint32_t> m_index;
};

} // namespace trainyard::live
