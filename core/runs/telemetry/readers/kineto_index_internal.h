#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the structure of a stretch of JSON lies: the offsets of {}[]:, outside of strings, and of the first byte of
// each string, number and word. simdjson finds them 64 bytes at a time; where a stretch is no JSON (control characters
// or quotes inside a string, which several releases of PyTorch wrote) a plain loop finds what was meant.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace trainyard::readers {

class StructuralIndex {
public:
    StructuralIndex();
    ~StructuralIndex();
    StructuralIndex(const StructuralIndex &) = delete;
    StructuralIndex &operator=(const StructuralIndex &) = delete;

    /// False where the stretch ends inside a string or holds what JSON forbids; then marks() is empty.
    bool find(std::string_view text);
    /// A quote ends a string only where what follows may follow a string; control characters are taken. A string that
    /// does not end is left out.
    void findTolerantly(std::string_view text);

    [[nodiscard]] const std::uint32_t *marks() const { return m_marks; }
    [[nodiscard]] std::size_t size() const { return m_size; }

private:
    struct Parser;
    std::unique_ptr<Parser> m_parser;
    std::vector<std::uint32_t> m_own;
    const std::uint32_t *m_marks = nullptr;
    std::size_t m_size = 0;
};

} // namespace trainyard::readers
