// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/names/name_match.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kWholeWord = 0, kBeginsWord = 1, kOfAlias = 2, kOfGroup = 3, kInside = 4, kInsideAlias = 5, kMissing = 6;

bool isOfWord(const QString &text, qsizetype at)
{
    return at >= 0 && at < text.size() && text[at].isLetterOrNumber();
}

/// One occurrence.
int costAt(const FoldedName &name, qsizetype at, qsizetype length)
{
    const bool begins = !isOfWord(name.text, at - 1), ends = !isOfWord(name.text, at + length);
    if (at < name.nameEnd)
        return !begins ? kInside : ends ? kWholeWord : kBeginsWord;
    if (at < name.aliasEnd)
        return begins ? kOfAlias : kInsideAlias;
    return begins ? kOfGroup : kMissing;
}

int costOf(const FoldedName &name, const QString &word)
{
    int best = kMissing;
    for (qsizetype at = name.text.indexOf(word); at >= 0 && best > kWholeWord; at = name.text.indexOf(word, at + 1))
        best = std::min(best, costAt(name, at, word.size()));
    return best;
}

} // namespace

QString folded(const QString &text)
{
    const bool isPlain = std::ranges::all_of(text, [](QChar c) { return c.unicode() < 128; });
    if (isPlain)
        return text.toLower();
    QString apart = text.toCaseFolded().normalized(QString::NormalizationForm_D);
    apart.removeIf([](QChar c) { return c.category() == QChar::Mark_NonSpacing; });
    return apart;
}

FoldedName foldedName(const QString &name, const QString &alias, const QString &group)
{
    FoldedName made;
    made.text = folded(name);
    made.nameEnd = int(made.text.size());
    made.text += u'\n' + folded(alias);
    made.aliasEnd = int(made.text.size());
    made.text += u'\n' + folded(group);
    return made;
}

NameWords::NameWords(const QString &typed)
{
    QString word;
    const QString all = folded(typed) + u' ';
    for (const QChar c : all) {
        if (c.isLetterOrNumber()) {
            word += c;
        } else if (!word.isEmpty()) {
            m_words.push_back(word);
            word.clear();
        }
    }
}

std::optional<NameRank> NameWords::rankIn(const FoldedName &name, int without) const
{
    NameRank rank;
    for (int i = 0; i < int(m_words.size()); ++i) {
        if (i == without)
            continue;
        const int cost = costOf(name, m_words[std::size_t(i)]);
        if (cost == kMissing)
            return std::nullopt;
        rank.worst = std::max(rank.worst, cost);
        rank.sum += cost;
    }
    rank.place = m_words.empty() || name.text.startsWith(m_words.front()) ? 0 : 1;
    return rank;
}

} // namespace trainyard
