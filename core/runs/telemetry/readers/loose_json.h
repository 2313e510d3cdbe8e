#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON as tools of the field write it, and the Python literals that their logs print instead: numbers in strings, NaN
// and Infinity bare, control characters in strings, single quotes, True and None, tuples, np.float64(0.5), a file that
// ends in the middle, several values one after the other. A value is read as far as it goes; what is unfinished at the
// end (a number, a string, a key without its value) is left out, and containers close with what they have. Values are
// views of the text, which has to outlive them; memory is 28 bytes a value. Reading does not recurse; any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

class LooseJson;

/// A value of a LooseJson, or nothing where the way to it does not exist: asking on is safe.
class LooseJsonValue {
public:
    LooseJsonValue() = default;
    explicit operator bool() const { return m_json != nullptr; }
    [[nodiscard]] LooseJsonValue operator[](std::string_view key) const; // of an object; the first of equal keys
    [[nodiscard]] std::string_view key() const; // in its object, as written
    [[nodiscard]] std::string name() const; // the key, unescaped
    [[nodiscard]] std::string text() const; // of a string, unescaped; of a number or a word, as written
    [[nodiscard]] std::string_view raw() const; // the same without unescaping
    /// Of a number or of a string that holds one ("5", "+Inf", "nan"); nothing otherwise.
    [[nodiscard]] std::optional<double> number() const;
    /// Whole numbers without the way through double; of "12.0" too.
    [[nodiscard]] std::optional<std::int64_t> integer() const;
    [[nodiscard]] double numberOr(double other) const { return number().value_or(other); }
    /// number(), NaN where it is not finite.
    [[nodiscard]] std::optional<double> finiteNumber() const;
    /// As an argument is shown: texts and numbers as they stand, True, None, lists and objects as JSON.
    [[nodiscard]] std::string shown() const;
    [[nodiscard]] bool isTrue() const; // true, "true", "1", 1
    [[nodiscard]] bool isNull() const; // null, None
    [[nodiscard]] bool isNumber() const; // bare, no string
    [[nodiscard]] bool isString() const;
    [[nodiscard]] bool isArray() const;
    [[nodiscard]] bool isObject() const;

    /// Elements of an array, members of an object.
    class Walk {
    public:
        Walk(const LooseJson *json, std::uint32_t at)
            : m_json(json)
            , m_at(at)
        {
        }
        [[nodiscard]] LooseJsonValue operator*() const { return { m_json, m_at }; }
        Walk &operator++();
        bool operator!=(const Walk &other) const { return m_at != other.m_at; }

    private:
        const LooseJson *m_json;
        std::uint32_t m_at;
    };
    [[nodiscard]] Walk begin() const;
    [[nodiscard]] Walk end() const;
    [[nodiscard]] LooseJsonValue first() const; // element
    [[nodiscard]] LooseJsonValue second() const;

private:
    friend class LooseJson;
    LooseJsonValue(const LooseJson *json, std::uint32_t at)
        : m_json(json)
        , m_at(at)
    {
    }
    const LooseJson *m_json = nullptr;
    std::uint32_t m_at = 0;
};

class LooseJson {
public:
    /// Reads one value that begins at or behind `from` (blanks before it). What was read before is forgotten. False
    /// where there is none.
    bool read(std::string_view text, std::size_t from = 0);
    [[nodiscard]] LooseJsonValue root() const;
    [[nodiscard]] std::size_t end() const { return m_end; } // behind the value
    [[nodiscard]] bool isTruncated() const { return m_isTruncated; } // the text ends in the middle
    [[nodiscard]] bool isBroken() const { return m_isBroken; } // a byte that is no JSON; reading ended there

private:
    friend class LooseJsonValue;
    friend class LooseJsonValue::Walk;
    enum class Kind : std::uint8_t { Word, String, Array, Object, Call };
    struct Node {
        std::uint32_t key = 0, keySize = 0, value = 0, valueSize = 0, child = 0, next = 0;
        Kind kind = Kind::Word;
    };
    struct Open {
        std::uint32_t node, last;
    };
    bool readString(std::size_t &at, std::uint32_t &begin, std::uint32_t &size) const;
    void readWord(std::size_t &at, std::uint32_t &begin, std::uint32_t &size) const;
    void close();
    bool addValue(std::size_t &at, std::uint32_t key, std::uint32_t keySize);
    bool addMember(std::size_t &at);

    std::string_view m_text;
    std::vector<Node> m_nodes;
    std::vector<Open> m_open;
    std::size_t m_end = 0;
    bool m_isTruncated = false, m_isBroken = false;
};

/// The objects of a text, one after the other, from the first brace at or behind `from` on: `take` is given each, and
/// answers whether to go on. Returns whether the last is truncated or broken, which ends it.
template <class Take> bool eachObject(std::string_view text, std::size_t from, const Take &take)
{
    LooseJson json;
    for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', json.end())) {
        if (!json.read(text, at))
            return false;
        if (!take(json.root(), at))
            return false;
        if (json.isTruncated() || json.isBroken())
            return true;
    }
    return false;
}

} // namespace trainyard::readers
