#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON read piece by piece, by one who knows what comes: no document is built, so that a column of a million numbers
// costs what it is kept as. A text that ends in the middle is told from one that is wrong. No recursion, one thread.

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::recording_file {

class JsonPull {
public:
    explicit JsonPull(std::string_view text)
        : m_text(text)
    {
    }

    // Each answers false once something is wrong or the text ends; what it was for is then left as it was.
    bool beginObject() { return begin('{', "an object"); }
    /// of the object begun last and not ended; false at its end too
    bool nextKey(std::string &key);
    bool beginArray() { return begin('[', "an array"); }
    /// false at its end too
    bool nextItem();
    /// false where something else stands there, which is no fault
    bool readNull();
    bool readWhole(std::int64_t &value);
    /// null: NaN; "Infinity"
    bool readReal(double &value);
    bool readFlag(bool &value);
    bool readText(std::string &value);
    /// a value, whatever it is
    bool skip();
    /// nothing but blanks is left
    bool atEnd();

    /// Ends the reading.
    bool fail(std::string what, std::string right = {});
    [[nodiscard]] bool isGood() const { return m_state == State::Good; }
    [[nodiscard]] bool isTruncated() const { return m_state == State::Ended; }
    [[nodiscard]] const std::string &what() const { return m_what; }
    [[nodiscard]] const std::string &right() const { return m_right; }
    [[nodiscard]] std::size_t at() const { return m_at; } // byte

private:
    enum class State : std::uint8_t { Good, Ended, Bad };
    /// next byte that is no blank; 0 at the end
    char peek();
    bool begin(char bracket, const char *what);
    /// true: a member follows
    bool separate(char closing);
    /// of the text
    bool end();
    /// number or word
    std::string_view token() const;

    std::string_view m_text;
    std::size_t m_at = 0;
    State m_state = State::Good;
    /// behind an opening bracket
    bool m_isFirst = false;
    std::string m_what, m_right;
};

} // namespace trainyard::recording_file
