#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How well typed words fit the name of a thing, by rules that a person can foresee: a whole word, then the beginning of
// a word, then the middle of one; in the name before what else the thing is known by. Every word that is typed must be
// found, in any order. Case, accents and punctuation do not count. Pure.
//
//   const NameWords words("oregon - virg");
//   words.rankIn(foldedName("Oregon – Virginia", "", "Link"));   // a rank; smaller is better

#include <QString>

#include <compare>
#include <optional>
#include <vector>

namespace trainyard {

/// Small letters without accents: "São Paulo" → "sao paulo".
[[nodiscard]] QString folded(const QString &text);

/// The texts by which a thing is found, folded once.
struct FoldedName {
    /// name, further words ("parallelism.tensor") and group ("Link"), behind each other
    QString text;
    /// where name and further words end
    int nameEnd = 0, aliasEnd = 0;
};
[[nodiscard]] FoldedName foldedName(const QString &name, const QString &alias, const QString &group);

/// Smaller is better.
struct NameRank {
    /// of the word that fits worst: 0 it is a word of the name … 5 it lies inside a word that is not shown
    int worst = 0;
    /// 0: the name begins with the first word that was typed
    int place = 0;
    /// over all words
    int sum = 0;
    auto operator<=>(const NameRank &) const = default;
};

class NameWords {
public:
    explicit NameWords(const QString &typed);

    /// Nothing that could be found was typed.
    [[nodiscard]] bool isEmpty() const { return m_words.empty(); }
    [[nodiscard]] const std::vector<QString> &words() const { return m_words; }
    /// Empty where a word is missing. `without`: a word that is left out, found elsewhere; -1: none.
    [[nodiscard]] std::optional<NameRank> rankIn(const FoldedName &name, int without = -1) const;

private:
    std::vector<QString> m_words;
};

} // namespace trainyard
