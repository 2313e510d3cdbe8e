#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a catalogue's figures come from, for people: the catalogue lists sources by key ("rtt_ms: AWS, 2025;
// usd_per_gb: …"), a form names the thing. Pure.

#include <QString>
#include <QStringList>

#include <string>
#include <utility>

namespace trainyard {

namespace source_parts {

inline QStringList of(const std::string &source)
{
    return QString::fromStdString(source).split(QStringLiteral("; "));
}

/// "rtt_ms: AWS, 2025" → "AWS, 2025" for this key; null where the part is of another.
inline QString afterKey(const QString &part, const char *key)
{
    const QString head = QLatin1String(key) + QLatin1String(": ");
    return part.startsWith(head) ? part.mid(head.size()) : QString();
}

} // namespace source_parts

/// The source of one figure; all of them where it is not among the keys.
[[nodiscard]] inline QString sourceOf(const std::string &source, const char *key)
{
    for (const QString &part : source_parts::of(source)) {
        if (const QString words = source_parts::afterKey(part, key); !words.isNull())
            return words;
    }
    return QString::fromStdString(source);
}

/// "rtt_ms: Azure statistics, 2025" as "round trip: Azure statistics, 2025".
[[nodiscard]] inline QString sourceInWords(const std::string &source)
{
    static constexpr std::pair<const char *, const char *> names[] = { { "rtt_ms", "round trip" },
        { "egress_usd_per_gb", "egress price" }, { "kg_co2_per_kwh", "carbon" }, { "usd_per_kwh", "electricity price" },
        { "usd_per_gb", "egress price" }, { "tcp_window_mb", "TCP window" }, { "latitude", "latitude" },
        { "longitude", "longitude" } };
    QStringList parts;
    for (const QString &part : source_parts::of(source)) {
        QString words = part;
        for (const auto &[key, name] : names) {
            if (const QString rest = source_parts::afterKey(part, key); !rest.isNull())
                words = QLatin1String(name) + QLatin1String(": ") + rest;
        }
        parts += words;
    }
    return parts.join(QStringLiteral("; "));
}

} // namespace trainyard
