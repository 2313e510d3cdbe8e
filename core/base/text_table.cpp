// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_table.h"

#include "core/base/printable.h"

#include <algorithm>

namespace trainyard {

namespace {

std::size_t seenWidth(const std::string &text)
{
    return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

} // namespace

TextTable::TextTable(std::vector<Align> align, std::vector<std::string> headings)
    : m_align(std::move(align))
    , m_hasHeadings(!headings.empty())
{
    if (m_hasHeadings)
        add(std::move(headings));
}

void TextTable::add(std::vector<std::string> cells)
{
    cells.resize(m_align.size());
    for (std::string &cell : cells)
        cell = printable(cell);
    m_rows.push_back(std::move(cells));
}

std::string TextTable::text() const
{
    std::vector<std::size_t> width(m_align.size());
    for (const auto &row : m_rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            width[c] = std::max(width[c], seenWidth(row[c]));
    }
    std::string text;
    for (std::size_t r = 0; r < m_rows.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < m_rows[r].size(); ++c) {
            const std::string padding(width[c] - seenWidth(m_rows[r][c]), ' ');
            line += c > 0 ? "  " : "";
            line += m_align[c] == Align::Right ? padding + m_rows[r][c] : m_rows[r][c] + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        if (r == 0 && m_hasHeadings) {
            std::size_t total = width.empty() ? 0 : 2 * (width.size() - 1);
            for (const std::size_t w : width)
                total += w;
            for (std::size_t i = 0; i < total; ++i)
                text += "\u2500";
            text += "\n";
        }
    }
    return text;
}

} // namespace trainyard
