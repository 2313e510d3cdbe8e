// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/imports/pipeline_layout.h"

#include <algorithm>
#include <string>

namespace trainyard::imports {

namespace {

constexpr std::size_t kMostLaidOut = 100'000;

/// Brackets and "*n" written out; false where it cannot be.
class Written {
public:
    explicit Written(std::string_view text)
        : m_text(text)
    {
    }
    std::optional<std::string> all()
    {
        std::string made;
        const bool isGood = part(made, 0) && m_at == m_text.size();
        return isGood ? std::optional(std::move(made)) : std::nullopt;
    }

private:
    bool part(std::string &made, int depth)
    {
        while (m_at < m_text.size() && m_text[m_at] != ')') {
            std::string own;
            const char c = m_text[m_at++];
            if (c == '(') {
                if (depth > 8 || !part(own, depth + 1) || m_at >= m_text.size())
                    return false;
                ++m_at;
            } else if (std::string_view("EtmL|").find(c) != std::string_view::npos) {
                own = c;
            } else if (c == ',' || c == ' ') {
                continue;
            } else {
                return false;
            }
            const std::size_t count = times();
            if (count == 0 || own.size() * count + made.size() > kMostLaidOut)
                return false;
            for (std::size_t i = 0; i < count; ++i)
                made += own;
        }
        return true;
    }

    /// "*29" at the front, else 1; 0: no number.
    std::size_t times()
    {
        if (m_at >= m_text.size() || m_text[m_at] != '*')
            return 1;
        std::size_t count = 0;
        for (++m_at; m_at < m_text.size() && m_text[m_at] >= '0' && m_text[m_at] <= '9' && count <= kMostLaidOut;
             ++m_at)
            count = count * 10 + static_cast<std::size_t>(m_text[m_at] - '0');
        return count;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

} // namespace

std::optional<std::vector<int>> layersOfLayout(std::string_view text)
{
    const auto written = Written(text).all();
    if (!written || written->find('E') == std::string::npos)
        return std::nullopt;
    std::vector<int> layers { 0 };
    for (const char c : *written)
        if (c == '|')
            layers.push_back(0);
        else if (c == 't')
            ++layers.back();
    return layers;
}

} // namespace trainyard::imports
