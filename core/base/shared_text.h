#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A text that never changes and that many values have: copies share it, so that a name of a thousand series is in
// memory once. Equal texts that come one by one become one where a table makes them (SharedTexts). Texts may go from
// thread to thread; a table is one thread's.

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>

namespace trainyard {

class SharedText {
public:
    SharedText() = default;
    SharedText(const char *text)
        : SharedText(std::string_view(text))
    {
    }
    explicit SharedText(std::string_view text)
        : m_text(text.empty() ? nullptr : std::make_shared<const std::string>(text))
    {
    }

    [[nodiscard]] const std::string &text() const
    {
        static const std::string none;
        return m_text ? *m_text : none;
    }
    operator const std::string &() const { return text(); }
    operator std::string_view() const { return text(); }
    [[nodiscard]] bool empty() const { return !m_text; }
    [[nodiscard]] std::size_t size() const { return text().size(); }
    /// Whether both are the same bytes in memory, not only equal ones.
    [[nodiscard]] bool isOneWith(const SharedText &other) const { return m_text == other.m_text; }

    friend bool operator==(const SharedText &a, const SharedText &b)
    {
        return a.m_text == b.m_text || a.text() == b.text();
    }
    friend std::strong_ordering operator<=>(const SharedText &a, const SharedText &b) { return a.text() <=> b.text(); }
    template <class Text>
    requires std::is_convertible_v<Text, std::string_view>
    friend bool operator==(const SharedText &a, const Text &b)
    {
        return std::string_view(a.text()) == std::string_view(b);
    }

private:
    /// null: empty
    std::shared_ptr<const std::string> m_text;
};

/// A hash of texts beside each other, and of a number.
[[nodiscard]] inline std::size_t hashOfTexts(std::initializer_list<std::string_view> texts, int number)
{
    auto hash = static_cast<std::size_t>(number);
    for (const std::string_view text : texts)
        hash = hash * 1'099'511'628'211U + std::hash<std::string_view> {}(text);
    return hash;
}

/// Texts of which equal ones are one. They live as long as somebody has them or the table.
class SharedTexts {
public:
    [[nodiscard]] SharedText operator()(std::string_view text)
    {
        if (const auto known = m_texts.find(text); known != m_texts.end())
            return *known;
        return (*this)(SharedText(text));
    }
    /// Of one that the table has not, itself.
    [[nodiscard]] SharedText operator()(const SharedText &text)
    {
        const auto [at, isNew] = m_texts.insert(text);
        m_bytes += isNew ? bytesOfNew(text) : 0;
        return *at;
    }
    [[nodiscard]] SharedText operator()(const char *text) { return (*this)(std::string_view(text)); }
    [[nodiscard]] SharedText operator()(const std::string &text) { return (*this)(std::string_view(text)); }
    /// that the text would take beyond what there is: 0 of one that it has
    [[nodiscard]] std::size_t bytesFor(std::string_view text) const
    {
        return m_texts.contains(text) ? 0 : bytesOfNew(text);
    }
    /// of all
    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view> {}(text); }
    };
    /// with its place in the table, about
    static std::size_t bytesOfNew(std::string_view text) { return text.size() + 96; }

    std::unordered_set<SharedText, Hash, std::equal_to<>> m_texts;
    std::size_t m_bytes = 0;
};

} // namespace trainyard
