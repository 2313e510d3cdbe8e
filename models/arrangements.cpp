// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/arrangements.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSettings>

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

namespace {

const QString kStored = QStringLiteral("window/arrangements");
constexpr int kLongestName = 60;

template <std::size_t Count> QJsonArray sharesJson(const std::array<double, Count> &shares)
{
    QJsonArray array;
    for (const double share : shares)
        array.append(share);
    return array;
}

template <std::size_t Count> bool readShares(const QJsonValue &json, std::array<double, Count> &shares)
{
    const QJsonArray array = json.toArray();
    if (array.size() != qsizetype(Count))
        return false;
    for (std::size_t i = 0; i < Count; ++i) {
        shares[i] = array[qsizetype(i)].toDouble(-1);
        if (!std::isfinite(shares[i]) || shares[i] < 0 || shares[i] > 1)
            return false;
    }
    return true;
}

QString cleaned(const QString &name)
{
    return name.simplified().left(kLongestName);
}

bool isCalled(const NamedArrangement &one, const QString &name)
{
    return one.name.compare(name, Qt::CaseInsensitive) == 0;
}

} // namespace

QJsonObject toJson(const Arrangement &arrangement)
{
    return { { QStringLiteral("left"), arrangement.left }, { QStringLiteral("rows"), sharesJson(arrangement.rows) },
        { QStringLiteral("sides"), sharesJson(arrangement.sides) }, { QStringLiteral("upper"), arrangement.upper },
        { QStringLiteral("lower"), arrangement.lower } };
}

std::optional<Arrangement> arrangementFrom(const QJsonObject &json)
{
    Arrangement read;
    read.left = json[QStringLiteral("left")].toDouble(-1);
    read.upper = json[QStringLiteral("upper")].toString();
    read.lower = json[QStringLiteral("lower")].toString();
    if (!(read.left > 0 && read.left <= 1) || !readShares(json[QStringLiteral("rows")], read.rows)
        || !readShares(json[QStringLiteral("sides")], read.sides))
        return std::nullopt;
    if (std::ranges::all_of(read.rows, [](double share) { return share == 0; }))
        return std::nullopt;
    return read;
}

const std::vector<NamedArrangement> &builtInArrangements()
{
    const auto named = [](const char *name) { return QCoreApplication::translate("Arrangements", name); };
    static const std::vector<NamedArrangement> all {
        { QStringLiteral("design"), named(QT_TRANSLATE_NOOP("Arrangements", "Design")),
            { 0.68, { 0.56, 0.44, 0 }, { 0.66, 0.34 }, QStringLiteral("strategies"), QStringLiteral("why") } },
        { QStringLiteral("analyse"), named(QT_TRANSLATE_NOOP("Arrangements", "Analyse")),
            { 0.68, { 0, 0.62, 0.38 }, { 0.34, 0.66 }, QStringLiteral("strategies"), QStringLiteral("why") } },
        { QStringLiteral("run"), named(QT_TRANSLATE_NOOP("Arrangements", "Run")),
            { 0.7, { 0.28, 0.46, 0.26 }, { 0, 1 }, QStringLiteral("strategies"), QStringLiteral("details") } },
        { QStringLiteral("present"), named(QT_TRANSLATE_NOOP("Arrangements", "Present")),
            { 1, { 0.52, 0.48, 0 }, { 0, 0 }, QStringLiteral("strategies"), QStringLiteral("why") } },
    };
    return all;
}

ArrangementStore::ArrangementStore(QObject *parent)
    : QObject(parent)
{
    const QJsonArray stored = QJsonDocument::fromJson(QSettings().value(kStored).toByteArray()).array();
    for (const QJsonValue &entry : stored) {
        const QJsonObject one = entry.toObject();
        const QString name = cleaned(one[QStringLiteral("name")].toString());
        const auto value = arrangementFrom(one);
        if (value && !name.isEmpty() && !find(name))
            m_own.push_back({ {}, name, *value });
    }
}

QString ArrangementStore::save(const QString &name, const Arrangement &arrangement)
{
    const QString wanted = cleaned(name);
    if (wanted.isEmpty())
        return {};
    QString free = wanted;
    const auto isBuiltIn = [&] {
        return std::ranges::any_of(
            builtInArrangements(), [&](const NamedArrangement &one) { return isCalled(one, free); });
    };
    for (int number = 2; isBuiltIn(); ++number)
        free = QStringLiteral("%1 %2").arg(wanted).arg(number);
    const auto same = std::ranges::find_if(m_own, [&](const NamedArrangement &one) { return isCalled(one, free); });
    if (same != m_own.end()) {
        free = same->name;
        same->value = arrangement;
    } else {
        m_own.push_back({ {}, free, arrangement });
    }
    keep();
    return free;
}

bool ArrangementStore::rename(std::size_t index, const QString &name)
{
    const QString wanted = cleaned(name);
    const NamedArrangement *same = find(wanted);
    if (index >= m_own.size() || wanted.isEmpty() || (same && same != &m_own[index]))
        return false;
    emit renamed(std::exchange(m_own[index].name, wanted), wanted);
    keep();
    return true;
}

void ArrangementStore::remove(std::size_t index)
{
    if (index >= m_own.size())
        return;
    m_removed = { index, m_own[index] };
    m_own.erase(m_own.begin() + std::ptrdiff_t(index));
    keep();
}

void ArrangementStore::restoreRemoved()
{
    if (!m_removed || find(m_removed->second.name))
        return;
    const std::size_t at = std::min(m_removed->first, m_own.size());
    m_own.insert(m_own.begin() + std::ptrdiff_t(at), m_removed->second);
    m_removed.reset();
    keep();
}

const NamedArrangement *ArrangementStore::find(const QString &name) const
{
    for (const auto *list : { &builtInArrangements(), &m_own })
        for (const NamedArrangement &one : *list)
            if (isCalled(one, name))
                return &one;
    return nullptr;
}

void ArrangementStore::keep()
{
    QJsonArray all;
    for (const NamedArrangement &one : m_own) {
        QJsonObject json = toJson(one.value);
        json[QStringLiteral("name")] = one.name;
        all.append(json);
    }
    QSettings().setValue(kStored, QJsonDocument(all).toJson(QJsonDocument::Compact));
    emit changed();
}

} // namespace trainyard
