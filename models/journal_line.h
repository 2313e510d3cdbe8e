#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A line of a journal: a checksum, a head of JSON, and the plan that it is about, with tabs between them. Values; any
// thread.

#include <QByteArray>
#include <QJsonObject>

#include <optional>

namespace trainyard {

struct JournalLine {
    QJsonObject head;
    /// as a plan file has it, on one line; empty: it is about none
    QByteArray plan;
};

/// With the end of the line.
[[nodiscard]] QByteArray toBytes(const JournalLine &line);
/// Without its end. Nothing where it is not what was written.
[[nodiscard]] std::optional<JournalLine> journalLine(QByteArrayView bytes);

} // namespace trainyard
