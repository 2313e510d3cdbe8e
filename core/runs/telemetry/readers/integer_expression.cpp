// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/integer_expression.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <cmath>

namespace trainyard::readers {

namespace {

constexpr int kMostSumDepth = 40;
constexpr std::int64_t kMostExact = std::int64_t(1) << 53;

using Value = std::optional<std::int64_t>;

Value bounded(double value, std::int64_t exact)
{
    return std::abs(value) <= static_cast<double>(kMostExact) ? Value(exact) : std::nullopt;
}

class Sum {
public:
    Sum(std::string_view text, const std::function<Value(std::string_view)> &valueOf)
        : m_rest(text)
        , m_valueOf(valueOf)
    {
    }
    Value all()
    {
        const Value value = sum(0);
        return trimmedStart(m_rest).empty() ? value : std::nullopt;
    }

private:
    bool takes(char c)
    {
        m_rest = trimmedStart(m_rest);
        if (!m_rest.starts_with(c))
            return false;
        m_rest.remove_prefix(1);
        return true;
    }
    Value sum(int depth)
    {
        Value left = product(depth);
        while (left) {
            const bool isMinus = takes('-');
            if (!isMinus && !takes('+'))
                break;
            const Value right = product(depth);
            left = right ? bounded(double(*left) + double(*right), isMinus ? *left - *right : *left + *right)
                         : std::nullopt;
        }
        return left;
    }
    Value product(int depth)
    {
        Value left = atom(depth);
        while (left) {
            const char how = takes('*') ? '*' : takes('/') ? '/' : takes('%') ? '%' : '\0';
            if (how == '\0')
                break;
            const Value right = atom(depth);
            if (!right || (how != '*' && *right == 0))
                return std::nullopt;
            if (how != '*')
                left = how == '/' ? *left / *right : *left % *right;
            else
                left = std::abs(double(*left) * double(*right)) <= double(kMostExact) ? Value(*left * *right)
                                                                                      : std::nullopt;
        }
        return left;
    }
    Value atom(int depth)
    {
        if (depth > kMostSumDepth)
            return std::nullopt;
        if (takes('-')) {
            const Value value = atom(depth + 1);
            return value ? Value(-*value) : std::nullopt;
        }
        if (takes('(')) {
            const Value value = sum(depth + 1);
            return takes(')') ? value : std::nullopt;
        }
        if (const auto number = takeWhole(m_rest))
            return bounded(double(*number), *number);
        takeText(m_rest, "$");
        const bool hasBrace = takeText(m_rest, "{");
        std::size_t end = 0;
        while (end < m_rest.size() && (isLetter(m_rest[end]) || isDigit(m_rest[end]) || m_rest[end] == '_'))
            ++end;
        const std::string_view name = m_rest.substr(0, end);
        m_rest.remove_prefix(end);
        if (name.empty() || (hasBrace && !takes('}')))
            return std::nullopt;
        const Value value = m_valueOf(name);
        return value ? bounded(double(*value), *value) : value;
    }

    std::string_view m_rest;
    const std::function<Value(std::string_view)> &m_valueOf;
};

} // namespace

std::optional<std::int64_t> integerExpression(
    std::string_view text, const std::function<Value(std::string_view)> &valueOf)
{
    return Sum(text, valueOf).all();
}

} // namespace trainyard::readers
