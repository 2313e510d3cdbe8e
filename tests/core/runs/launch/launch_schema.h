#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the fields that a format has at a named commit, with their types, and whether a value is of one. For
// tests.

#include <QFile>
#include <QRegularExpression>
#include <QStringList>

#include <map>

namespace trainyard::trial {

struct FieldType {
    /// whole, number, switch, word, text, label, list
    QString how;
    bool mayBeNull = false;
    /// of a word, of a list, or of a whole number; empty: any
    QStringList choices;

    [[nodiscard]] bool takes(const QString &value) const
    {
        if (value == u"null")
            return mayBeNull;
        if (how == u"list") {
            const QStringList items = QString(value).remove(u'[').remove(u']').split(u',', Qt::SkipEmptyParts);
            return choices.isEmpty()
                || std::ranges::all_of(items, [&](const QString &one) { return choices.contains(one.trimmed()); });
        }
        if (!choices.isEmpty() && !choices.contains(value))
            return false;
        static const QRegularExpression whole(QStringLiteral("^-?[0-9]+$")),
            number(QStringLiteral("^-?[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?$")),
            isSwitch(QStringLiteral("^([Tt]rue|[Ff]alse)$")), label(QStringLiteral("^[a-z]([-a-z0-9]*[a-z0-9])?$"));
        return how == u"whole" ? whole.match(value).hasMatch()
            : how == u"number" ? number.match(value).hasMatch()
            : how == u"switch" ? isSwitch.match(value).hasMatch()
            : how == u"label"  ? label.match(value).hasMatch() && value.size() <= 63
                               : !value.isEmpty();
    }
};

/// Lines of "path type choice…"; "type?" may be null.
inline std::map<QString, FieldType> fieldsOf(const char *name)
{
    QFile list(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/core/runs/launch/") + QString::fromUtf8(name));
    if (!list.open(QIODevice::ReadOnly))
        qFatal("no table of fields");
    std::map<QString, FieldType> fields;
    for (const QByteArray &line : list.readAll().split('\n')) {
        const QStringList words = QString::fromUtf8(line).split(u' ', Qt::SkipEmptyParts);
        if (words.size() < 2 || words[0] == u"#")
            continue;
        const bool mayBeNull = words[1].endsWith(u'?');
        fields[words[0]] = { mayBeNull ? words[1].chopped(1) : words[1], mayBeNull, words.mid(2) };
    }
    return fields;
}

/// "" where every value is one of its field, else the first that is none.
inline QString notTaken(
    const std::map<QString, FieldType> &fields, const std::vector<std::pair<QString, QString>> &values)
{
    static const QRegularExpression index(QStringLiteral("\\.[0-9]+(?=\\.|$)"));
    for (const auto &[path, value] : values) {
        const auto known = fields.find(QString(path).replace(index, QStringLiteral(".N")));
        if (known == fields.end())
            return path + QStringLiteral(" is no field");
        if (!known->second.takes(value))
            return path + QStringLiteral(" is ") + value.left(80) + QStringLiteral(", which is no ")
                + known->second.how;
    }
    return {};
}

} // namespace trainyard::trial
