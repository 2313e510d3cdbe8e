// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/kineto_index_internal.h"

#include <simdjson.h>

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

enum Kind : std::uint8_t { Scalar, Blank, Structure, Quote };

constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds {};
    for (const char c : { ' ', '\t', '\n', '\r', '\0' })
        kinds[static_cast<unsigned char>(c)] = Blank;
    for (const char c : { '{', '}', '[', ']', ':', ',' })
        kinds[static_cast<unsigned char>(c)] = Structure;
    kinds[static_cast<unsigned char>('"')] = Quote;
    return kinds;
}();

Kind kindOf(char c)
{
    return kKinds[static_cast<unsigned char>(c)];
}

std::size_t pastBlanks(std::string_view text, std::size_t at)
{
    while (at < text.size() && kindOf(text[at]) == Blank)
        ++at;
    return at;
}

/// Whether a string may end at this quote.
bool mayEnd(std::string_view text, std::size_t quote)
{
    const std::size_t next = pastBlanks(text, quote + 1);
    if (next == text.size() || text[next] == '}' || text[next] == ']' || text[next] == ':')
        return true;
    if (text[next] != ',')
        return false;
    const std::size_t value = pastBlanks(text, next + 1);
    return value == text.size() || std::string_view("\"{[-0123456789tfnNI").find(text[value]) != std::string_view::npos;
}

/// The quote that ends the string that begins at `at`; npos: none does.
std::size_t endOfString(std::string_view text, std::size_t at)
{
    for (++at; at < text.size(); ++at)
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"' && mayEnd(text, at))
            return at;
    return std::string_view::npos;
}

} // namespace

struct StructuralIndex::Parser {
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
    std::size_t capacity = 0;

    bool reserve(std::size_t size)
    {
        if (size <= capacity)
            return true;
        capacity = 0;
        const std::size_t wanted = std::max<std::size_t>(size, 1 << 16);
        if (simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, parser))
            return false;
        capacity = wanted;
        return true;
    }
};

StructuralIndex::StructuralIndex()
    : m_parser(std::make_unique<Parser>())
{
}

StructuralIndex::~StructuralIndex() = default;

bool StructuralIndex::find(std::string_view text)
{
    m_marks = nullptr;
    m_size = 0;
    if (text.empty() || !m_parser->reserve(text.size()))
        return false;
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(text.data());
    const auto error = m_parser->parser->stage1(bytes, text.size(), simdjson::stage1_mode::regular);
    // What is no UTF-8 is replaced where a name is kept; simdjson has the whole index before it says so.
    if (error != simdjson::SUCCESS && error != simdjson::UTF8_ERROR)
        return false;
    m_marks = m_parser->parser->structural_indexes.get();
    m_size = m_parser->parser->n_structural_indexes;
    return true;
}

void StructuralIndex::findTolerantly(std::string_view text)
{
    m_own.clear();
    for (std::size_t at = 0; at < text.size();) {
        const Kind kind = kindOf(text[at]);
        if (kind == Blank) {
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        if (kind == Quote) {
            const std::size_t quote = endOfString(text, at);
            if (quote == std::string_view::npos)
                break;
            end = quote + 1;
        } else if (kind == Scalar) {
            while (end < text.size() && kindOf(text[end]) == Scalar)
                ++end;
        }
        m_own.push_back(static_cast<std::uint32_t>(at));
        at = end;
    }
    m_marks = m_own.data();
    m_size = m_own.size();
}

} // namespace trainyard::readers
