// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/loose_json.h"

#include "core/runs/telemetry/readers/json_text_internal.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr std::size_t kMostJsonText = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t kMostJsonDepth = 512;

std::size_t skipBlanks(std::string_view text, std::size_t at)
{
    while (at < text.size() && isJsonBlank(text[at]))
        ++at;
    return at;
}

bool isWordByte(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '+'
        || byte == '-' || byte == '.' || byte == '_';
}

/// Of "\uXXXX" whose digits begin at `at`; nothing where they are none.
std::optional<unsigned> hexCode(std::string_view text, std::size_t at)
{
    unsigned code = 0;
    if (at + 4 > text.size())
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    return error == std::errc() && end == text.data() + at + 4 ? std::optional(code) : std::nullopt;
}

std::string unescaped(std::string_view text)
{
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            plain += text[i];
            continue;
        }
        const char escape = text[++i];
        if (escape == 'u') {
            auto code = hexCode(text, i + 1);
            if (!code)
                continue;
            i += 4;
            if (*code >= 0xd800 && *code < 0xdc00 && i + 2 < text.size() && text[i + 1] == '\\' && text[i + 2] == 'u')
                if (const auto low = hexCode(text, i + 3); low && *low >= 0xdc00 && *low < 0xe000) {
                    code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
                    i += 6;
                }
            appendUtf8(plain, *code >= 0xd800 && *code < 0xe000 ? 0xfffdu : *code);
        } else {
            constexpr std::string_view kFrom = "nrtbf", kTo = "\n\r\t\b\f";
            const auto known = kFrom.find(escape);
            plain += known == std::string_view::npos ? escape : kTo[known];
        }
    }
    return plain;
}

} // namespace

bool LooseJson::readString(std::size_t &at, std::uint32_t &begin, std::uint32_t &size) const
{
    const char quote = m_text[at];
    const std::size_t first = at + 1;
    for (std::size_t i = first; i < m_text.size(); ++i)
        if (m_text[i] == '\\') {
            ++i;
        } else if (m_text[i] == quote) {
            begin = static_cast<std::uint32_t>(first);
            size = static_cast<std::uint32_t>(i - first);
            at = i + 1;
            return true;
        }
    at = m_text.size();
    return false;
}

void LooseJson::readWord(std::size_t &at, std::uint32_t &begin, std::uint32_t &size) const
{
    const std::size_t first = at;
    while (at < m_text.size() && isWordByte(m_text[at]))
        ++at;
    begin = static_cast<std::uint32_t>(first);
    size = static_cast<std::uint32_t>(at - first);
}

/// A call that wraps a value, np.float64(0.5) or tensor(2.5, device='cuda:0'), is that value.
void LooseJson::close()
{
    Node &call = m_nodes[m_open.back().node];
    m_open.pop_back();
    if (call.kind != Kind::Call)
        return;
    const Node first = call.child != 0 ? m_nodes[call.child] : Node();
    call.kind = first.kind;
    call.value = first.value;
    call.valueSize = first.valueSize;
    call.child = first.child;
}

bool LooseJson::addValue(std::size_t &at, std::uint32_t key, std::uint32_t keySize)
{
    if (at >= m_text.size())
        return false;
    Node node;
    node.key = key;
    node.keySize = keySize;
    const char first = m_text[at];
    if (first == '"' || first == '\'') {
        node.kind = Kind::String;
        if (!readString(at, node.value, node.valueSize))
            return false;
    } else if (first == '{' || first == '[' || first == '(') {
        node.kind = first == '{' ? Kind::Object : Kind::Array;
        node.value = static_cast<std::uint32_t>(at++);
    } else {
        readWord(at, node.value, node.valueSize);
        // half a word at the end is none, but the text may be one word
        if (node.valueSize == 0 || (at == m_text.size() && !m_open.empty()))
            return m_isBroken = node.valueSize == 0, false;
        if (at < m_text.size() && m_text[at] == '(') {
            node.kind = Kind::Call;
            ++at;
        }
    }
    const auto index = static_cast<std::uint32_t>(m_nodes.size());
    m_nodes.push_back(node);
    if (!m_open.empty()) {
        Open &parent = m_open.back();
        (parent.last == 0 ? m_nodes[parent.node].child : m_nodes[parent.last].next) = index;
        parent.last = index;
    }
    if (node.kind == Kind::Object || node.kind == Kind::Array || node.kind == Kind::Call) {
        if (m_open.size() >= kMostJsonDepth)
            return m_isBroken = true, false;
        m_open.push_back({ index, 0 });
    }
    return true;
}

bool LooseJson::addMember(std::size_t &at)
{
    std::uint32_t key = 0, size = 0;
    if (m_nodes[m_open.back().node].kind == Kind::Object) {
        if (m_text[at] != '"' && m_text[at] != '\'')
            readWord(at, key, size);
        else if (!readString(at, key, size))
            return false;
        at = skipBlanks(m_text, at);
        if (at >= m_text.size())
            return false;
        if (m_text[at] != ':')
            return m_isBroken = true, false;
        at = skipBlanks(m_text, at + 1);
    }
    return addValue(at, key, size);
}

bool LooseJson::read(std::string_view text, std::size_t from)
{
    m_text = text.substr(0, kMostJsonText);
    m_nodes.assign(1, {}); // index 0 is nothing
    m_open.clear();
    m_isTruncated = m_isBroken = false;
    std::size_t at = skipBlanks(m_text, from);
    bool goesOn = addValue(at, 0, 0);
    while (goesOn && !m_open.empty()) {
        at = skipBlanks(m_text, at);
        if (at >= m_text.size()) {
            goesOn = false;
        } else if (m_text[at] == ',' || (m_text[at] == '=' && m_nodes[m_open.back().node].kind == Kind::Call)) {
            ++at;
        } else if (m_text[at] == ']' || m_text[at] == '}' || m_text[at] == ')') {
            ++at;
            close();
        } else {
            goesOn = addMember(at);
        }
    }
    m_isTruncated = !goesOn && !m_isBroken && m_nodes.size() > 1;
    while (!m_open.empty())
        close();
    m_end = at;
    return m_nodes.size() > 1;
}

LooseJsonValue LooseJson::root() const
{
    return m_nodes.size() > 1 ? LooseJsonValue(this, 1) : LooseJsonValue();
}

LooseJsonValue::Walk &LooseJsonValue::Walk::operator++()
{
    m_at = m_json->m_nodes[m_at].next;
    return *this;
}

LooseJsonValue::Walk LooseJsonValue::begin() const
{
    return { m_json, m_json ? m_json->m_nodes[m_at].child : 0 };
}

LooseJsonValue::Walk LooseJsonValue::end() const
{
    return { m_json, 0 };
}

LooseJsonValue LooseJsonValue::first() const
{
    const auto at = m_json ? m_json->m_nodes[m_at].child : 0;
    return at ? LooseJsonValue(m_json, at) : LooseJsonValue();
}

LooseJsonValue LooseJsonValue::second() const
{
    const LooseJsonValue one = first();
    const auto at = one ? m_json->m_nodes[one.m_at].next : 0;
    return at ? LooseJsonValue(m_json, at) : LooseJsonValue();
}

LooseJsonValue LooseJsonValue::operator[](std::string_view key) const
{
    if (isObject())
        for (const LooseJsonValue member : *this)
            if (member.key() == key)
                return member;
    return {};
}

std::string_view LooseJsonValue::key() const
{
    if (!m_json)
        return {};
    const auto &node = m_json->m_nodes[m_at];
    return m_json->m_text.substr(node.key, node.keySize);
}

std::string LooseJsonValue::name() const
{
    return unescaped(key());
}

std::string_view LooseJsonValue::raw() const
{
    if (!m_json)
        return {};
    const auto &node = m_json->m_nodes[m_at];
    return m_json->m_text.substr(node.value, node.valueSize);
}

std::string LooseJsonValue::text() const
{
    return isString() ? unescaped(raw()) : std::string(raw());
}

std::optional<double> LooseJsonValue::number() const
{
    return isArray() || isObject() ? std::nullopt : numberIn(raw());
}

std::optional<std::int64_t> LooseJsonValue::integer() const
{
    return isArray() || isObject() ? std::nullopt : integerIn(raw());
}

std::optional<double> LooseJsonValue::finiteNumber() const
{
    const auto value = number();
    return value && !std::isfinite(*value) ? std::optional(std::numeric_limits<double>::quiet_NaN()) : value;
}

std::string LooseJsonValue::shown() const
{
    if (isNull())
        return "None";
    if (!isString() && (raw() == "true" || raw() == "false"))
        return raw() == "true" ? "True" : "False";
    if (!isArray() && !isObject())
        return text();
    std::string result = isObject() ? "{" : "[";
    for (const LooseJsonValue one : *this)
        result +=
            (result.size() > 1 ? ", " : "") + (isObject() ? '"' + one.name() + "\": " : std::string()) + one.shown();
    return result + (isObject() ? "}" : "]");
}

bool LooseJsonValue::isTrue() const
{
    return raw() == "true" || raw() == "1" || raw() == "True";
}

bool LooseJsonValue::isNull() const
{
    return m_json && !isString() && (raw() == "null" || raw() == "None");
}

bool LooseJsonValue::isString() const
{
    return m_json && m_json->m_nodes[m_at].kind == LooseJson::Kind::String;
}

bool LooseJsonValue::isNumber() const
{
    return m_json && !isString() && number().has_value();
}

bool LooseJsonValue::isArray() const
{
    return m_json && m_json->m_nodes[m_at].kind == LooseJson::Kind::Array;
}

bool LooseJsonValue::isObject() const
{
    return m_json && m_json->m_nodes[m_at].kind == LooseJson::Kind::Object;
}

} // namespace trainyard::readers
