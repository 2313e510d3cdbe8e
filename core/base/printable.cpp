// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace trainyard {

namespace {

struct Character {
    std::size_t bytes = 1;
    char32_t code = 0;
    bool isValid = false;
};

bool isContinuation(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// The character that the text begins with.
Character firstOf(std::string_view text)
{
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80)
        return { 1, lead, true };
    struct Form {
        unsigned char mask, mark;
        std::size_t bytes;
        char32_t least;
    };
    static constexpr std::array<Form, 3> kForms { { { 0xe0, 0xc0, 2, 0x80 }, { 0xf0, 0xe0, 3, 0x800 },
        { 0xf8, 0xf0, 4, 0x10000 } } };
    for (const Form &form : kForms) {
        if ((lead & form.mask) != form.mark)
            continue;
        if (text.size() < form.bytes)
            return {};
        char32_t code = lead & static_cast<unsigned char>(~form.mask);
        for (std::size_t i = 1; i < form.bytes; ++i) {
            if (!isContinuation(text[i]))
                return {};
            code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
        }
        const bool isSurrogate = code >= 0xd800 && code < 0xe000;
        if (code < form.least || code > 0x10ffff || isSurrogate)
            return {};
        return { form.bytes, code, true };
    }
    return {};
}

/// Line and paragraph separators and the marks of bidirectional text reorder what stands around them.
bool isDangerous(char32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f
        || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

} // namespace

std::string printable(std::string_view text, LineBreaks breaks)
{
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Character c = firstOf(text);
        char escape[16];
        if (!c.isValid)
            shown.append(escape,
                std::size_t(std::snprintf(escape, sizeof escape, "\\x%02x", static_cast<unsigned char>(text.front()))));
        else if (isDangerous(c.code) && !(c.code == '\n' && breaks == LineBreaks::Kept))
            shown.append(escape,
                std::size_t(
                    std::snprintf(escape, sizeof escape, c.code < 0x80 ? "\\x%02x" : "\\u%04x", unsigned(c.code))));
        else
            shown += text.substr(0, c.bytes);
        text.remove_prefix(c.bytes);
    }
    return shown;
}

std::string shortened(std::string_view text, std::size_t most)
{
    if (text.size() <= most)
        return std::string(text);
    std::size_t head = most * 2 / 3, tail = text.size() - most / 3;
    while (head > 0 && isContinuation(text[head]))
        --head;
    while (tail < text.size() && isContinuation(text[tail]))
        ++tail;
    return std::string(text.substr(0, head)) + "…" + std::string(text.substr(tail));
}

bool isUtf8(std::string_view text)
{
    while (!text.empty()) {
        const Character c = firstOf(text);
        if (!c.isValid)
            return false;
        text.remove_prefix(c.bytes);
    }
    return true;
}

} // namespace trainyard
