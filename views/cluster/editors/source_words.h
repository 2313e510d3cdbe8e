#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a catalogue's figures come from, for people: the catalogue lists sources by key, a form names the thing. Pure.

#include <QString>
#include <QStringList>

#include <string>
#include <utility>

namespace trainyard {

/// "rtt_ms: Azure statistics, 2025" as "round trip: Azure statistics, 2025".
[[nodiscard]] inline QString sourceInWords(const std::string &source)
{
    static constexpr std::pair<const char *, const char *> names[] = {
        {"rtt_ms", "round trip"}, {"egress_usd_per_gb", "egress price"}, {"kg_co2_per_kwh", "carbon"}, {"usd_per_kwh", "electricity price"},
        {"usd_per_gb", "egress price"}, {"tcp_window_mb", "TCP window"}, {"latitude", "latitude"}, {"longitude", "longitude"}};
    QStringList parts;
    for (const QString &part : QString::fromStdString(source).split(QStringLiteral("; "))) {
        QString words = part;
        for (const auto &[key, name] : names) {
            if (part.startsWith(QLatin1String(key) + QLatin1String(": ")))
                words = QLatin1String(name) + part.mid(qsizetype(qstrlen(key)));
        }
        parts += words;
    }
    return parts.join(QStringLiteral("; "));
}

} // namespace trainyard
