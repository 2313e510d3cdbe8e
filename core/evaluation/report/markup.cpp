// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/markup.h"

#include <array>
#include <charconv>
#include <cmath>

namespace trainyard::markup {

std::string escaped(std::string_view text)
{
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        switch (c) {
        case '&':
            safe += "&amp;";
            break;
        case '<':
            safe += "&lt;";
            break;
        case '>':
            safe += "&gt;";
            break;
        case '"':
            safe += "&quot;";
            break;
        case '\'':
            safe += "&#39;";
            break;
        default:
            safe += c;
        }
    }
    return safe;
}

std::string coordinate(double value)
{
    char buffer[32];
    const double rounded = std::round(value * 100) / 100;
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, rounded == 0 ? 0.0 : rounded, std::chars_format::fixed).ptr;
    return { buffer, end };
}

std::string workClass(WorkKind kind)
{
    std::string name = std::string("k-") + toString(kind);
    for (char &c : name)
        c = c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return name;
}

std::string jobClass(int job)
{
    return "j-" + std::to_string(job < 0 ? kJobLooks : std::size_t(job) % kJobLooks);
}

bool isDarkJob(int job)
{
    static constexpr std::array kIsDark { true, false, true, true, false, false, true, true, true, false, true, true };
    static_assert(kIsDark.size() == kJobLooks);
    return job >= 0 && kIsDark[std::size_t(job) % kJobLooks];
}

std::string rect(double x, double y, double width, double height, std::string_view styleClass, std::string_view tooltip)
{
    std::string svg = "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" + coordinate(width)
        + "\" height=\"" + coordinate(height) + "\" class=\"" + std::string(styleClass) + "\"";
    return tooltip.empty() ? svg + "/>" : svg + "><title>" + escaped(tooltip) + "</title></rect>";
}

std::string text(double x, double y, std::string_view styleClass, std::string_view content)
{
    return "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" class=\"" + std::string(styleClass) + "\">"
        + escaped(content) + "</text>";
}

} // namespace trainyard::markup
