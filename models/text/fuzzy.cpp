// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/fuzzy.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace trainyard {

namespace {

constexpr int kNone = std::numeric_limits<int>::min() / 2;
constexpr int kMatch = 2, kFollows = 7, kBeginsWord = 8, kBeginsText = 4;

int letterScore(const QString &text, qsizetype at)
{
    if (at == 0)
        return kMatch + kBeginsWord + kBeginsText;
    return text[at - 1].isLetterOrNumber() ? kMatch : kMatch + kBeginsWord;
}

} // namespace

std::optional<int> fuzzyScore(const QString &pattern, const QString &text)
{
    QString wanted = pattern.toCaseFolded();
    wanted.remove(u' ');
    const QString given = text.toCaseFolded();
    if (wanted.isEmpty())
        return 0;
    // best[j]: best score of the letters so far where the last of them is matched at j.
    std::vector<int> best(std::size_t(given.size()), kNone), next(best.size());
    for (qsizetype i = 0; i < wanted.size(); ++i) {
        int before = i == 0 ? 0 : kNone; // best of any earlier end
        for (qsizetype j = 0; j < given.size(); ++j) {
            const int adjacent = i > 0 && j > 0 ? best[std::size_t(j - 1)] + kFollows : kNone;
            const int from = std::max(before, adjacent);
            next[std::size_t(j)] = given[j] == wanted[i] && from > kNone / 2 ? from + letterScore(given, j) : kNone;
            if (i > 0)
                before = std::max(before, best[std::size_t(j)]);
        }
        std::swap(best, next);
    }
    const int score = best.empty() ? kNone : *std::ranges::max_element(best);
    if (score <= kNone / 2)
        return std::nullopt;
    return score * 8 - int(std::min<qsizetype>(given.size(), 200)) / 8; // among equals the shorter text
}

} // namespace trainyard
