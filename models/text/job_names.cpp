// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/text/job_names.h"

#include <QSet>

#include <algorithm>
#include <map>
#include <vector>

namespace trainyard {

namespace {

/// Whole words ("batch ", "gpt-3-") with which all begin.
qsizetype sharedWords(const QStringList &values)
{
    const QString &first = values.front();
    qsizetype shared = first.size();
    for (const QString &value : values) {
        const auto [a, b] = std::ranges::mismatch(first, value);
        shared = std::min(shared, qsizetype(a - first.begin()));
    }
    while (shared > 0 && first[shared - 1] != u' ' && first[shared - 1] != u'-')
        --shared;
    const bool isWhole = std::ranges::any_of(values, [&](const QString &value) { return value.size() <= shared; });
    return isWhole ? 0 : shared;
}

/// [name][part], each with as many parts as the others.
QStringList shortened(const std::vector<QStringList> &names)
{
    std::vector<qsizetype> differing, cuts;
    for (qsizetype part = 0; part < names.front().size(); ++part) {
        QStringList values;
        for (const QStringList &name : names)
            values << name[part];
        if (std::ranges::all_of(values, [&](const QString &value) { return value == values.front(); }))
            continue;
        differing.push_back(part);
        cuts.push_back(sharedWords(values));
    }
    QStringList result;
    for (const QStringList &name : names) {
        QStringList kept;
        for (std::size_t i = 0; i < differing.size(); ++i) // one number alone would not say of what
            kept << name[differing[i]].sliced(differing.size() > 1 ? cuts[i] : 0);
        result << kept.join(QStringLiteral(" · "));
    }
    return result;
}

} // namespace

QStringList shortJobNames(const QStringList &names)
{
    std::map<qsizetype, std::vector<qsizetype>> byParts;
    std::vector<QStringList> parts;
    for (const QString &name : names) {
        parts.push_back(name.split(QStringLiteral(", ")));
        byParts[parts.back().size()].push_back(qsizetype(parts.size()) - 1);
    }
    QStringList result = names;
    for (const auto &[count, members] : byParts) {
        if (count < 2 || members.size() < 2)
            continue;
        std::vector<QStringList> alike;
        for (const qsizetype member : members)
            alike.push_back(parts[std::size_t(member)]);
        const QStringList cut = shortened(alike);
        for (std::size_t i = 0; i < members.size(); ++i)
            result[members[i]] = cut[qsizetype(i)];
    }
    const bool isUnique = QSet<QString>(result.begin(), result.end()).size() == names.size();
    return isUnique && !result.contains(QString()) ? result : names;
}

} // namespace trainyard
