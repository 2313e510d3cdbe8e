#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Columns of text for a terminal: padded by what is seen (UTF-8 code points), not by bytes. Plain value.

#include <string>
#include <vector>

namespace trainyard {

/// what a cell says for a figure that is not there
inline constexpr const char *kNoFigure = "\u2013";

class TextTable {
public:
    enum class Align { Left, Right };
    /// An empty heading list prints no heading.
    explicit TextTable(std::vector<Align> align, std::vector<std::string> headings = {});
    void add(std::vector<std::string> cells);
    /// ends in a newline
    [[nodiscard]] std::string text() const;

private:
    std::vector<Align> m_align;
    std::vector<std::vector<std::string>> m_rows;
    bool m_hasHeadings = false;
};

} // namespace trainyard
