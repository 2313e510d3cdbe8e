// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/json_document_internal.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace trainyard::detail {

namespace {

std::string lineAndColumn(std::string_view text, std::size_t position)
{
    const std::size_t end = std::min(position > 0 ? position - 1 : 0, text.size());
    const auto before = text.substr(0, end);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t lineStart = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return std::to_string(line) + ":" + std::to_string(end - lineStart + 1);
}

/// nlohmann's message without its own prefix: "[json...] parse error at line 1, column 2: <this>".
std::string reason(std::string message)
{
    for (const std::string_view mark : { "column ", "] " }) {
        if (const auto at = message.find(mark); at != std::string::npos) {
            const auto colon = mark == "column " ? message.find(": ", at) : at;
            if (colon != std::string::npos) {
                message = message.substr(colon + 2);
                break;
            }
        }
    }
    std::erase_if(message, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    return message.substr(0, 160);
}

/// Builds the document and collects what a plain parser would swallow.
class Builder final : public nlohmann::json_sax<Json> {
public:
    Builder(std::string_view text, const std::string &fileName) : m_text(text), m_file(fileName) { }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t &) override { return add(value); }
    bool string(string_t &value) override { return add(std::move(value)); }
    bool binary(binary_t &) override { return false; }

    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t &name) override
    {
        Level &level = m_levels.back();
        if (!level.keys.insert(name).second)
            m_errors.push_back({ ErrorCode::BadSyntax, m_file + ": " + pointer() + "/" + escapedPointerStep(name),
                "this key is given twice", "each key once in an object" });
        level.key = std::move(name);
        return true;
    }

    bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &e) override
    {
        m_errors.push_back({ ErrorCode::BadSyntax, m_file + ":" + lineAndColumn(m_text, position),
            "not valid JSON: " + reason(e.what()), "" });
        return false;
    }

    Json document;
    Errors takeErrors() { return std::move(m_errors); }

private:
    struct Level {
        Json *value;
        std::string key;
        std::unordered_set<std::string> keys;
    };

    Json *place(Json value)
    {
        if (m_levels.empty()) {
            document = std::move(value);
            return &document;
        }
        Level &level = m_levels.back();
        if (level.value->is_array()) {
            auto &items = level.value->get_ref<Json::array_t &>();
            items.push_back(std::move(value));
            return &items.back();
        }
        // Appends without searching: `keys` has seen to duplicates, which are errors anyway.
        auto &members = level.value->get_ref<Json::object_t &>();
        members.emplace_back(level.key, std::move(value));
        return &members.back().second;
    }

    bool add(Json value)
    {
        place(std::move(value));
        return true;
    }

    bool open(Json empty)
    {
        if (m_levels.size() >= kMaxDepth) {
            m_errors.push_back({ ErrorCode::BadSyntax, m_file + ": " + pointer(), "nested too deeply",
                "at most " + std::to_string(kMaxDepth) + " levels" });
            return false;
        }
        m_levels.push_back({ place(std::move(empty)), {}, {} });
        return true;
    }

    bool close()
    {
        m_levels.pop_back();
        return true;
    }

    std::string pointer() const
    {
        std::string path;
        for (std::size_t i = 0; i < m_levels.size(); ++i) {
            const bool innermost = i + 1 == m_levels.size();
            if (m_levels[i].value->is_array())
                path += innermost ? "" : "/" + std::to_string(m_levels[i].value->size() - 1);
            else if (!innermost)
                path += "/" + escapedPointerStep(m_levels[i].key);
        }
        return path;
    }

    std::string_view m_text;
    std::string m_file;
    std::vector<Level> m_levels;
    Errors m_errors;
};

constexpr auto kReplace = Json::error_handler_t::replace;

std::string compact(const Json &value)
{
    if (!value.is_structured())
        return value.dump(-1, ' ', false, kReplace);
    const bool isObject = value.is_object();
    std::string text = isObject ? "{ " : "[";
    bool first = true;
    for (const auto &[key, item] : value.items()) {
        text += first ? "" : ", ";
        first = false;
        if (isObject)
            text += Json(key).dump(-1, ' ', false, kReplace) + ": ";
        text += compact(item);
    }
    return text + (isObject ? " }" : "]");
}

bool hasOnlyPlainValues(const Json &value)
{
    return std::ranges::none_of(value, [](const Json &item) { return item.is_structured(); });
}

void appendPretty(std::string &out, const Json &value, int indent, bool inList)
{
    constexpr std::size_t kLine = 110;
    if (!value.is_structured() || value.empty()) {
        out += value.is_structured() ? (value.is_object() ? "{}" : "[]") : compact(value);
        return;
    }
    if (hasOnlyPlainValues(value) && (value.is_array() || inList)) {
        if (const std::string line = compact(value); line.size() + static_cast<std::size_t>(indent) <= kLine) {
            out += line;
            return;
        }
    }
    const bool isObject = value.is_object();
    out += isObject ? "{" : "[";
    bool first = true;
    for (const auto &[key, item] : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(static_cast<std::size_t>(indent) + 2, ' ');
        if (isObject)
            out += Json(key).dump(-1, ' ', false, kReplace) + ": ";
        appendPretty(out, item, indent + 2, !isObject);
    }
    out += "\n";
    out.append(static_cast<std::size_t>(indent), ' ');
    out += isObject ? "}" : "]";
}

} // namespace

ExpectedAll<Json> parseJson(std::string_view text, const std::string &fileName)
{
    Builder builder(text, fileName);
    const bool complete = Json::sax_parse(text.begin(), text.end(), &builder);
    Errors errors = builder.takeErrors();
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    if (!complete)
        return std::unexpected(Errors { { ErrorCode::BadSyntax, fileName, "not valid JSON", "" } });
    return std::move(builder.document);
}

std::string prettyJson(const Json &value)
{
    std::string text;
    appendPretty(text, value, 0, false);
    return text;
}

std::string brief(const Json &value)
{
    constexpr std::size_t kLongest = 40;
    if (value.is_object())
        return "an object";
    if (value.is_array())
        return "a list of " + std::to_string(value.size());
    std::string text = value.dump(-1, ' ', true, kReplace);   // ASCII only, so that cutting never splits a character
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

Json numberToJson(double value)
{
    constexpr double kExact = 9007199254740992.0;   // 2^53: whole numbers up to here are exact
    const bool negativeZero = value == 0 && std::signbit(value);
    if (std::abs(value) <= kExact && value == std::floor(value) && !negativeZero)
        return static_cast<std::int64_t>(value);
    return value;
}

std::string escapedPointerStep(std::string_view key)
{
    std::string step;
    for (const char c : key.substr(0, 80))
        step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return step;
}

} // namespace trainyard::detail
