// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/prefill/trace_file.h"

#include "core/base/ascii_text.h"
#include "core/base/printable.h"
#include "core/base/text_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace trainyard {

namespace {

constexpr const char *kHeader = "time_s,prompt_tokens";
constexpr std::size_t kMostErrors = 20;
constexpr double kLatest = 9e9; // seconds: what the ticks hold
constexpr int kMostTokens = 100'000'000;

template <class Number> std::optional<Number> number(std::string_view text)
{
    Number value {};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    return code == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// As it may stand in a message: printable, on one line, and not long.
std::string shown(std::string_view text)
{
    return "\"" + printable(shortened(text, 40)) + "\"";
}

/// Text has no control bytes but tabs and ends of lines.
bool isText(std::string_view text)
{
    return std::ranges::none_of(
        text, [](unsigned char c) { return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f; });
}

class TraceParser {
public:
    explicit TraceParser(std::string name)
        : m_name(std::move(name))
    {
    }

    void line(std::string_view text)
    {
        ++m_line;
        if (m_line == 1 && text.starts_with("\xEF\xBB\xBF"))
            text.remove_prefix(3);
        text = trimmed(text);
        if (text.empty() || errors.size() >= kMostErrors)
            return;
        const std::size_t comma = text.find(',');
        const std::string_view first = trimmed(text.substr(0, comma));
        const std::string_view second =
            comma == std::string_view::npos ? std::string_view() : trimmed(text.substr(comma + 1));
        if (!m_hasHeader) {
            m_hasHeader = true;
            if (first != "time_s" || second != "prompt_tokens")
                fail("the header is " + shown(text), kHeader);
            return;
        }
        const auto time = number<double>(first);
        const auto tokens = number<int>(second);
        if (comma == std::string_view::npos)
            fail(shown(text) + " is one column", kHeader);
        else if (!time || !(*time >= 0 && *time <= kLatest))
            fail("time_s is " + shown(first), "seconds from 0 on");
        else if (!tokens || *tokens < 1 || *tokens > kMostTokens)
            fail("prompt_tokens is " + shown(second), "a whole number from 1 to " + std::to_string(kMostTokens));
        else
            requests.push_back({ toNanoseconds(Seconds { *time }), *tokens });
    }

    void finish()
    {
        if (!m_hasHeader)
            errors.push_back({ ErrorCode::BadSyntax, m_name, "the file is empty",
                std::string(kHeader) + " and a line for each request" });
    }

    std::vector<PrefillRequest> requests;
    Errors errors;

private:
    void fail(std::string what, std::string right)
    {
        errors.push_back(
            { ErrorCode::BadValue, m_name + ":" + std::to_string(m_line), std::move(what), std::move(right) });
    }

    std::string m_name;
    int m_line = 0;
    bool m_hasHeader = false;
};

} // namespace

ExpectedAll<std::vector<PrefillRequest>> parseRequestTrace(const std::string &text, const std::string &name)
{
    if (!isText(text))
        return std::unexpected(Errors { { ErrorCode::BadSyntax, name, "this is not text",
            std::string("a CSV file with the columns ") + kHeader } });
    TraceParser parser(name);
    for (std::string_view rest = text; !rest.empty();) {
        const std::size_t end = rest.find('\n');
        parser.line(rest.substr(0, end));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    parser.finish();
    if (!parser.errors.empty())
        return std::unexpected(std::move(parser.errors));
    std::ranges::stable_sort(parser.requests, {}, &PrefillRequest::arrival);
    return std::move(parser.requests);
}

ExpectedAll<std::vector<PrefillRequest>> readRequestTrace(const std::string &path)
{
    const auto text =
        readTextFile(path, std::string("a CSV file with the columns ") + kHeader, { .mostBytes = kMostTableBytes });
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parseRequestTrace(*text, path);
}

} // namespace trainyard
