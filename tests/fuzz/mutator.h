#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Makes texts that are almost right out of texts that are: bytes flipped, parts of two inputs joined, words of the
// format put in, numbers moved to where arithmetic breaks, JSON values replaced, doubled, dropped and nested. The same
// seed makes the same texts. Not thread-safe.

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace trainyard::fuzz {

class Mutator {
public:
    Mutator(std::uint64_t seed, std::vector<std::string> dictionary);

    /// One to eight changes of `input`; some take a part of `other`. At most kMostBytes long.
    [[nodiscard]] std::string mutated(const std::string &input, const std::string &other);
    [[nodiscard]] std::size_t below(std::size_t bound) { return bound == 0 ? 0 : std::size_t(m_random() % bound); }

    static constexpr std::size_t kMostBytes = std::size_t(32) << 10;

private:
    void changeOnce(std::string &text, const std::string &other);
    void changeByte(std::string &text);
    void changeBlock(std::string &text, const std::string &other);
    void changeNumber(std::string &text);
    void changeValue(std::string &text, const std::string &other);
    void insertWord(std::string &text);
    [[nodiscard]] std::string number(const std::string &old);
    [[nodiscard]] std::string value(const std::string &other);

    std::mt19937_64 m_random;
    std::vector<std::string> m_dictionary;
};

/// A value of a JSON text, or a member with its key, by its bytes.
struct JsonSpan {
    std::size_t begin = 0, end = 0;
    bool isMember = false;
};
/// Of a text that need not be whole: what is closed is found.
[[nodiscard]] std::vector<JsonSpan> jsonSpans(const std::string &text);

} // namespace trainyard::fuzz
