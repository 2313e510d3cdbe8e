// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/words.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace trainyard {

std::string formatted(const char *format, ...)
{
    char text[256];
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return text;
}

std::string capitalised(std::string text)
{
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = char(text.front() - 'a' + 'A');
    return text;
}

std::string asSentence(std::string text)
{
    text = capitalised(std::move(text));
    return text.empty() || text.ends_with('.') ? text : text + ".";
}

std::string counted(std::int64_t count, std::string_view thing)
{
    return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string> &texts, std::string_view between)
{
    return joined(texts, between, between);
}

std::string joined(const std::vector<std::string> &texts, std::string_view between, std::string_view last)
{
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i)
        (all += i == 0 ? "" : i + 1 == texts.size() ? last : between) += texts[i];
    return all;
}

std::string plainNumber(double value)
{
    return formatted(std::abs(value) < 1e15 && value == std::floor(value) ? "%.0f" : "%g", value);
}

} // namespace trainyard
