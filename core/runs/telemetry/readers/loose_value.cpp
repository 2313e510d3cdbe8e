// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/loose_value.h"

#include "core/runs/telemetry/readers/json_text_internal.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <charconv>
#include <limits>

namespace trainyard::readers {

namespace {

constexpr int kDeepestValue = 48;

class Parser {
public:
    explicit Parser(std::string_view text)
        : m_text(text)
    {
    }

    LooseText run()
    {
        LooseText result;
        skipBlanks();
        result.isRead = value(result.value, 0);
        result.isTruncated = m_isTruncated;
        result.isBroken = m_isBroken;
        result.end = m_at;
        return result;
    }

private:
    [[nodiscard]] bool isAtEnd() const { return m_at >= m_text.size(); }
    [[nodiscard]] char here() const { return isAtEnd() ? '\0' : m_text[m_at]; }

    void skipBlanks()
    {
        while (!isAtEnd() && (here() == ' ' || here() == '\n' || here() == '\t' || here() == '\r'))
            ++m_at;
    }

    /// False where nothing of a value was read.
    bool value(LooseValue &made, int depth)
    {
        const char c = here();
        if (c == '{' || c == '[' || c == '(')
            return depth < kDeepestValue ? container(made, depth) : broken();
        if (c == '"' || c == '\'')
            return text(made);
        if (isDigit(c) || c == '-' || c == '+' || c == '.')
            return number(made);
        if (isLetter(c))
            return word(made, depth);
        return broken();
    }

    bool broken()
    {
        (isAtEnd() ? m_isTruncated : m_isBroken) = true;
        return false;
    }

    bool container(LooseValue &made, int depth)
    {
        const bool isMap = here() == '{';
        const char close = isMap ? '}' : here() == '[' ? ']' : ')';
        made.kind = isMap ? LooseValue::Kind::Map : LooseValue::Kind::List;
        ++m_at;
        while (true) {
            skipBlanks();
            if (here() == close && !isAtEnd()) {
                ++m_at;
                return true;
            }
            LooseValue item, key;
            if (isMap) {
                if (!value(key, kDeepestValue))
                    return true;
                skipBlanks();
                if (here() != ':') {
                    broken();
                    return true;
                }
                ++m_at;
                skipBlanks();
            }
            const bool isRead = value(item, depth + 1);
            // half a number or text at the end of the file is none; half a container holds what it has
            if (isRead && (!m_isTruncated || item.kind == LooseValue::Kind::List || item.isMap())) {
                made.items.push_back(std::move(item));
                if (isMap)
                    made.keys.push_back(std::move(key.text));
            }
            if (!isRead || m_isTruncated || m_isBroken)
                return true;
            skipBlanks();
            if (here() == ',' && !isAtEnd())
                ++m_at;
            else if (here() != close || isAtEnd()) {
                broken();
                return true;
            }
        }
    }

    bool text(LooseValue &made)
    {
        const char quote = here();
        made.kind = LooseValue::Kind::Text;
        for (++m_at; !isAtEnd(); ++m_at) {
            const char c = here();
            if (c == quote) {
                ++m_at;
                return true;
            }
            if (c != '\\')
                made.text.push_back(c);
            else if (++m_at < m_text.size())
                escape(made.text);
        }
        m_isTruncated = true;
        return true;
    }

    void escape(std::string &text)
    {
        switch (const char c = here()) {
        case 'n':
            text.push_back('\n');
            break;
        case 't':
            text.push_back('\t');
            break;
        case 'r':
            text.push_back('\r');
            break;
        case 'b':
            text.push_back('\b');
            break;
        case 'f':
            text.push_back('\f');
            break;
        case 'u':
            unicode(text);
            break;
        default:
            text.push_back(c);
        }
    }

    bool hexAt(std::size_t at, unsigned &code) const
    {
        if (at + 4 > m_text.size())
            return false;
        const char *first = m_text.data() + at;
        return std::from_chars(first, first + 4, code, 16).ptr == first + 4;
    }

    void unicode(std::string &text)
    {
        unsigned code = 0, low = 0;
        if (!hexAt(m_at + 1, code))
            return text.push_back('?');
        m_at += 4;
        if (code >= 0xd800 && code < 0xdc00 && m_text.substr(m_at + 1).starts_with("\\u") && hexAt(m_at + 3, low)
            && low >= 0xdc00 && low < 0xe000) {
            m_at += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        appendUtf8(text, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }

    bool number(LooseValue &made)
    {
        std::string_view rest = m_text.substr(m_at);
        // a list "[1,234]" holds two numbers: separators of thousands are not for these texts
        const std::size_t comma = rest.substr(0, 400).find(',');
        std::string_view own = rest.substr(0, comma);
        const std::size_t before = own.size();
        const auto read = takeNumber(own);
        if (!read)
            return broken();
        made.kind = LooseValue::Kind::Number;
        made.number = *read;
        made.text = rest.substr(0, before - own.size());
        made.isWhole = made.text.find_first_not_of("+-0123456789") == std::string::npos;
        m_at += made.text.size();
        m_isTruncated = m_isTruncated || isAtEnd();
        return true;
    }

    /// null, NaN, True …, or a call that wraps one value: np.float64(0.5), tensor(2.5, device='cuda:0').
    bool word(LooseValue &made, int depth)
    {
        const std::size_t start = m_at;
        while (!isAtEnd() && (isLetter(here()) || isDigit(here()) || here() == '.' || here() == '_'))
            ++m_at;
        const std::string_view word = m_text.substr(start, m_at - start);
        if (here() == '(' && !isAtEnd() && depth < kDeepestValue) {
            LooseValue wrapped;
            if (!container(wrapped, depth) || wrapped.items.empty())
                return false;
            LooseValue first = std::move(wrapped.items.front()); // out of what holds it, first
            made = std::move(first);
            return true;
        }
        const std::string lower = lowered(word);
        if (lower == "true" || lower == "false") {
            made.kind = LooseValue::Kind::Truth;
            made.number = lower == "true" ? 1 : 0;
        } else if (lower == "nan" || lower == "inf" || lower == "infinity") {
            made.kind = LooseValue::Kind::Number;
            made.number = std::numeric_limits<double>::quiet_NaN();
            made.text = word;
        } else if (lower != "null" && lower != "none") {
            made.kind = LooseValue::Kind::Text; // torch.bfloat16
            made.text = word;
        }
        m_isTruncated = m_isTruncated || isAtEnd();
        return true;
    }

    std::string_view m_text;
    std::size_t m_at = 0;
    bool m_isTruncated = false, m_isBroken = false;
};

} // namespace

const LooseValue *LooseValue::find(std::string_view key) const
{
    for (std::size_t i = keys.size(); i-- > 0;)
        if (keys[i] == key)
            return &items[i];
    return nullptr;
}

bool LooseValue::holdsNumber(double &value) const
{
    if (kind == Kind::Number) {
        value = number;
        return true;
    }
    std::string_view rest = text;
    const auto read = kind == Kind::Text ? takeNumber(rest) : std::nullopt;
    if (!read || !trimmed(rest).empty())
        return false;
    value = *read;
    return true;
}

std::string LooseValue::shown() const
{
    switch (kind) {
    case Kind::Null:
        return "None";
    case Kind::Truth:
        return number != 0 ? "True" : "False";
    case Kind::Number:
    case Kind::Text:
        return text;
    default:
        break;
    }
    std::string result = isMap() ? "{" : "[";
    for (std::size_t i = 0; i < items.size(); ++i)
        result += (i ? ", " : "") + (isMap() ? '"' + keys[i] + "\": " : std::string()) + items[i].shown();
    return result + (isMap() ? "}" : "]");
}

LooseText parseLoose(std::string_view text)
{
    return Parser(text).run();
}

} // namespace trainyard::readers
