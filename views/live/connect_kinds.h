#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of live sources as the sheet offers them: what each is for, how its address looks, and which of the
// settings matter for an address. Pure functions.

#include "models/live_document.h"

#include <QStringList>

#include <array>

namespace trainyard {

struct ConnectKind {
    live::SourceType type;
    /// "Prometheus", "asked every few seconds"
    QString title, line;
    /// the first stands in the field until something is typed
    QStringList examples;
    /// how such an address begins: "tail:"
    QString start;
};
[[nodiscard]] const std::vector<ConnectKind> &connectKinds();
/// Of what is typed so far, by how it begins; nullptr: it tells no kind.
[[nodiscard]] const ConnectKind *kindOfAddress(const QString &text);
[[nodiscard]] const ConnectKind &kindOf(live::SourceType type);
/// It says nothing but its kind, or is one of the examples: may be replaced by another kind's.
[[nodiscard]] bool isUntouched(const QString &text);

enum class ConnectField : std::uint8_t {
    User,
    Password,
    Token,
    Headers,
    CaFile,
    Verified,
    Certificate,
    Key,
    Interval,
    Backfill,
    FromEnd,
    Speed,
    Repeated
};
inline constexpr std::size_t kConnectFields = 13;
[[nodiscard]] std::vector<ConnectField> fieldsFor(const ConnectKind &kind, const QString &address);
/// The field that an error is about; empty: the address.
[[nodiscard]] std::optional<ConnectField> fieldOf(const Error &error, const std::vector<ConnectField> &shown);

} // namespace trainyard
