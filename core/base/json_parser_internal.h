#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one way from JSON text to a document, for both of nlohmann's kinds (sorted and in the file's order): nesting is
// bounded, because copies and destructors of a document recurse; no exception leaves; every fault names line:column or
// a pointer. Private: include it in .cpp files only.

#include "core/base/error.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace trainyard::detail {

inline constexpr std::size_t kMaxDepth = 64;
/// more help nobody
inline constexpr std::size_t kMaxErrors = 100;
/// bytes of a key in a message
inline constexpr std::size_t kMaxShownKey = 80;

struct JsonLimits {
    /// of one object
    std::size_t mostMembers = std::numeric_limits<std::size_t>::max();
    /// else the last of equal keys counts
    bool refusesDuplicates = false;
};

/// "line:column" of a byte, counted from 1.
[[nodiscard]] std::string lineAndColumn(std::string_view text, std::size_t position);
/// What the parser says, without its own prefix, on one line and not long.
[[nodiscard]] std::string syntaxReason(std::string message);
/// What would be right where Python's True, False or None stops the parser; empty where it is another thing.
[[nodiscard]] std::string pythonsWord(std::string_view text, std::size_t position);
/// A key as a step of a JSON pointer, cut to what a reader reads.
[[nodiscard]] std::string escapedPointerStep(std::string_view key);

/// Builds the document and collects what a plain parser would swallow.
template <class Json> class JsonBuilder final : public nlohmann::json_sax<Json> {
    using Base = nlohmann::json_sax<Json>;

public:
    JsonBuilder(std::string_view text, const std::string &fileName, JsonLimits limits)
        : m_text(text)
        , m_file(fileName)
        , m_limits(limits)
    {
    }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(typename Base::number_integer_t value) override { return add(value); }
    bool number_unsigned(typename Base::number_unsigned_t value) override { return add(value); }
    bool number_float(typename Base::number_float_t value, const typename Base::string_t &) override
    {
        return add(value);
    }
    bool string(typename Base::string_t &value) override { return add(std::move(value)); }
    bool binary(typename Base::binary_t &) override { return false; }

    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(typename Base::string_t &name) override
    {
        Level &level = m_levels.back();
        level.key = std::move(name);
        if (m_limits.refusesDuplicates && !level.keys.insert(level.key).second)
            fail(m_file + ": " + pointer() + "/" + escapedPointerStep(level.key), "this key is given twice",
                "each key once in an object");
        if (level.value->size() >= m_limits.mostMembers) {
            fail(m_file + ": " + pointer(),
                "this object has more than " + std::to_string(m_limits.mostMembers) + " keys",
                "at most " + std::to_string(m_limits.mostMembers));
            return false;
        }
        return true;
    }

    bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &e) override
    {
        fail(m_file + ":" + lineAndColumn(m_text, position), "not valid JSON: " + syntaxReason(e.what()),
            pythonsWord(m_text, position));
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

    void fail(std::string where, std::string what, std::string right)
    {
        if (m_errors.size() < kMaxErrors)
            m_errors.push_back({ ErrorCode::BadSyntax, std::move(where), std::move(what), std::move(right) });
    }

    Json *place(Json value)
    {
        if (m_levels.empty()) {
            document = std::move(value);
            return &document;
        }
        Level &level = m_levels.back();
        if (level.value->is_array()) {
            auto &items = level.value->template get_ref<typename Json::array_t &>();
            items.push_back(std::move(value));
            return &items.back();
        }
        auto &members = level.value->template get_ref<typename Json::object_t &>();
        if constexpr (requires { members.insert_or_assign(level.key, std::move(value)); }) {
            return &members.insert_or_assign(level.key, std::move(value)).first->second;
        } else {
            // Appends without searching: `keys` has seen to duplicates, which are errors anyway.
            members.emplace_back(level.key, std::move(value));
            return &members.back().second;
        }
    }

    bool add(Json value)
    {
        place(std::move(value));
        return true;
    }

    bool open(Json empty)
    {
        if (m_levels.size() >= kMaxDepth) {
            fail(m_file + ": " + pointer(), "nested too deeply", "at most " + std::to_string(kMaxDepth) + " levels");
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
    JsonLimits m_limits;
    std::vector<Level> m_levels;
    Errors m_errors;
};

/// The document, or its faults.
template <class Json>
[[nodiscard]] ExpectedAll<Json> parsedJson(std::string_view text, const std::string &fileName, JsonLimits limits = {})
{
    JsonBuilder<Json> builder(text, fileName, limits);
    const bool isComplete = Json::sax_parse(text.begin(), text.end(), &builder);
    Errors errors = builder.takeErrors();
    if (errors.empty() && !isComplete)
        errors.push_back({ ErrorCode::BadSyntax, fileName, "not valid JSON", "" });
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return std::move(builder.document);
}

} // namespace trainyard::detail
