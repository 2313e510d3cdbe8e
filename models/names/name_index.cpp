// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/names/name_index.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

constexpr int kBeginnings = 6; // worse than any word
constexpr int kFewWords = 12, kMostDigits = 7;
constexpr int kFirstOnes = 5; // of ranks, where no number is typed

constexpr qint64 kBeyond = qint64(1) << 31; // any number

bool isNumber(const QString &word)
{
    return word.size() <= kMostDigits
        && std::ranges::all_of(word, [](QChar c) { return c >= QChar(u'0') && c <= QChar(u'9'); });
}

/// Beginnings of words, run together: "zoin" and "zi" of "zoom in". Each letter begins a word or follows the one
/// before.
bool areBeginnings(QStringView wanted, QStringView text, qsizetype from = 0, bool mayFollow = false)
{
    if (wanted.isEmpty())
        return true;
    for (qsizetype at = text.indexOf(wanted.front(), from); at >= 0; at = text.indexOf(wanted.front(), at + 1)) {
        const bool begins = at == 0 || !text[at - 1].isLetterOrNumber();
        if ((begins || (mayFollow && at == from)) && areBeginnings(wanted.mid(1), text, at + 1, true))
            return true;
    }
    return false;
}

} // namespace

struct NameIndex::Hit {
    NameRank rank;
    ThingKind kind;
    /// the shorter name first
    int length = 0;
    /// of m_things or, with a number, of m_numbered
    std::size_t at = 0;
    int number = -1;

    [[nodiscard]] auto order() const { return std::tuple(rank, kind, length, at, number); }
    [[nodiscard]] bool isBefore(const Hit &other) const { return order() < other.order(); }
};

void NameIndex::clear()
{
    m_things.clear();
    m_numbered.clear();
}

void NameIndex::add(NamedThing thing)
{
    FoldedName text = foldedName(thing.name, thing.alias, thing.group);
    m_things.push_back({ std::move(thing), std::move(text) });
}

void NameIndex::add(NumberedThings things)
{
    if (things.count <= 0)
        return;
    FoldedName text = foldedName(QString(things.name).remove(QStringLiteral("%1")), things.alias, things.group);
    m_numbered.push_back({ std::move(things), std::move(text) });
}

void NameIndex::findWords(const NameWords &words, int most, std::vector<Hit> &hits, int &more) const
{
    for (std::size_t i = 0; i < m_things.size(); ++i)
        if (const auto rank = words.rankIn(m_things[i].text))
            hits.push_back({ *rank, m_things[i].thing.kind, m_things[i].text.nameEnd, i });
    if (int(hits.size()) <= most)
        return;
    std::ranges::nth_element(hits, hits.begin() + most, &Hit::isBefore);
    more += int(hits.size()) - most;
    hits.resize(std::size_t(most));
}

/// The number that is typed, then those that begin with its digits: 12, 120 … 129, 1200 …
void NameIndex::findNumbered(const NameWords &words, int most, std::vector<Hit> &hits, int &more) const
{
    const auto offer = [&](std::size_t family, NameRank rank, qint64 from, qint64 to, int atMost) {
        const NumberedThings &things = m_numbered[family].things;
        from = std::max<qint64>(from, things.first);
        to = std::min<qint64>(to, qint64(things.first) + things.count);
        for (qint64 shown = from; shown < std::min(to, from + atMost); ++shown)
            hits.push_back({ rank, things.kind, m_numbered[family].text.nameEnd + int(QString::number(shown).size()),
                family, int(shown - things.first) });
        more += int(std::max<qint64>(0, to - from - atMost));
    };
    for (std::size_t i = 0; i < m_numbered.size(); ++i) {
        const FoldedName &text = m_numbered[i].text;
        if (const auto all = words.rankIn(text)) { // no number: the first of them
            if (all->worst <= 1)
                offer(i, *all, 0, kBeyond, kFirstOnes);
            continue;
        }
        for (int w = 0; w < int(words.words().size()); ++w) {
            if (!isNumber(words.words()[std::size_t(w)]))
                continue;
            auto rank = words.rankIn(text, w);
            const bool isAlone = words.words().size() == 1; // of nodes there is one of that number in each place
            if (!rank || (isAlone && !m_numbered[i].things.alias.isEmpty()))
                continue;
            const qint64 number = words.words()[std::size_t(w)].toLongLong();
            offer(i, *rank, number, number + 1, 1);
            rank->worst = std::max(rank->worst, 1); // the digits begin a longer number
            ++rank->sum;
            for (qint64 from = number * 10, span = 10; number > 0 && from < kBeyond; from *= 10, span *= 10)
                offer(i, *rank, from, from + span, most);
            break;
        }
    }
}

void NameIndex::findBeginnings(const QString &typed, std::vector<Hit> &hits) const
{
    QString wanted = folded(typed);
    wanted.removeIf([](QChar c) { return !c.isLetterOrNumber(); });
    if (wanted.size() < 2)
        return;
    std::vector<std::size_t> known;
    for (const Hit &hit : hits)
        if (hit.number < 0)
            known.push_back(hit.at);
    std::ranges::sort(known);
    for (std::size_t i = 0; i < m_things.size(); ++i) {
        const QStringView name = QStringView(m_things[i].text.text).left(m_things[i].text.nameEnd);
        if (areBeginnings(wanted, name) && !std::ranges::binary_search(known, i))
            hits.push_back({ { kBeginnings, 0, 0 }, m_things[i].thing.kind, int(name.size()), i });
    }
}

NamedThing NameIndex::thingOf(const Hit &hit) const
{
    if (hit.number < 0)
        return m_things[hit.at].thing;
    const NumberedThings &of = m_numbered[hit.at].things;
    return { of.kind, of.group, of.name.arg(hit.number + of.first), of.detail ? of.detail(hit.number) : QString(),
        of.alias, of.id, hit.number };
}

FoundThings NameIndex::find(const QString &typed, int most) const
{
    FoundThings found;
    const NameWords words(typed);
    if (words.isEmpty()) {
        for (const Entry &entry : m_things)
            if (entry.thing.kind == ThingKind::Command)
                found.things.push_back(entry.thing);
        return found;
    }
    std::vector<Hit> hits;
    findWords(words, most, hits, found.more);
    findNumbered(words, most, hits, found.more);
    if (int(hits.size()) < kFewWords)
        findBeginnings(typed, hits);
    std::ranges::sort(hits, &Hit::isBefore);
    if (int(hits.size()) > most) {
        found.more += int(hits.size()) - most;
        hits.resize(std::size_t(most));
    }
    for (const Hit &hit : hits)
        found.things.push_back(thingOf(hit));
    return found;
}

} // namespace trainyard
