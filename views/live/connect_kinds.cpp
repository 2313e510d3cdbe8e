// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/live/connect_kinds.h"

#include <QCoreApplication>

#include <algorithm>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("ConnectSheet", text);
}

bool isSecure(const QString &address)
{
    return address.startsWith(QStringLiteral("https:")) || address.startsWith(QStringLiteral("tls:"))
        || address.startsWith(QStringLiteral("wss:"));
}

} // namespace

const std::vector<ConnectKind> &connectKinds()
{
    using Type = live::SourceType;
    static const std::vector<ConnectKind> kinds {
        { Type::Prometheus, tr("Prometheus"),
            tr("a server that scrapes DCGM and node exporters, asked every few seconds"),
            { QStringLiteral("http://localhost:9090"), QStringLiteral("https://metrics.example.org/prometheus") },
            QStringLiteral("http") },
        { Type::Listener, tr("Listen"), tr("for whoever connects to us: OTLP/HTTP, WebSocket, lines of JSON"),
            { QStringLiteral("listen:4318"), QStringLiteral("listen:0.0.0.0:4318") }, QStringLiteral("listen:") },
        { Type::Tail, tr("Tail a log"), tr("a training log on this machine, as it grows"),
            { QStringLiteral("tail:/logs/train.log") }, QStringLiteral("tail:") },
        { Type::Command, tr("Command"), tr("what a command prints, such as a log over ssh"),
            { QStringLiteral("command:ssh node7 tail -F /logs/train.log") }, QStringLiteral("command:") },
        { Type::Stream, tr("Stream"), tr("lines of JSON that somebody serves, over TCP or WebSocket"),
            { QStringLiteral("tcp://node0:7070"), QStringLiteral("tls://node0:7070"),
                QStringLiteral("ws://node0:7070/stream"), QStringLiteral("wss://node0:7070/stream") },
            QStringLiteral("tcp://") },
        { Type::Replay, tr("Replay a recording"), tr("a recorded run, as if it happened now"),
            { QStringLiteral("replay:march-run.trainyard-recording") }, QStringLiteral("replay:") },
    };
    return kinds;
}

const ConnectKind &kindOf(live::SourceType type)
{
    const auto same = type == live::SourceType::WebSocket ? live::SourceType::Stream : type;
    return *std::ranges::find(connectKinds(), same, &ConnectKind::type);
}

const ConnectKind *kindOfAddress(const QString &text)
{
    const QString typed = text.trimmed();
    for (const char *scheme : { "tcp:", "tls:", "ws:", "wss:" })
        if (typed.startsWith(QLatin1String(scheme)))
            return &kindOf(live::SourceType::Stream);
    for (const ConnectKind &kind : connectKinds())
        if (typed.startsWith(kind.start))
            return &kind;
    return nullptr;
}

bool isUntouched(const QString &text)
{
    const QString typed = text.trimmed();
    return typed.isEmpty() || std::ranges::any_of(connectKinds(), [&](const ConnectKind &kind) {
        return typed == kind.start || kind.examples.contains(typed);
    });
}

std::vector<ConnectField> fieldsFor(const ConnectKind &kind, const QString &address)
{
    using enum ConnectField;
    std::vector<ConnectField> fields;
    switch (kind.type) {
    case live::SourceType::Prometheus:
        fields = { User, Password, Token, Headers, Interval, Backfill };
        break;
    case live::SourceType::Listener:
        return { Token, Certificate, Key };
    case live::SourceType::Stream:
    case live::SourceType::WebSocket:
        fields = { Token };
        break;
    case live::SourceType::Tail:
        return { FromEnd };
    case live::SourceType::Command:
        return {};
    case live::SourceType::Replay:
        return { Speed, Repeated };
    }
    if (isSecure(address.trimmed())) {
        fields.push_back(CaFile);
        fields.push_back(Verified);
    }
    return fields;
}

std::optional<ConnectField> fieldOf(const Error &error, const std::vector<ConnectField> &shown)
{
    const auto is = [&](ConnectField field) { return std::ranges::find(shown, field) != shown.end(); };
    const auto names = [&](const char *word) {
        return error.where.find(word) != std::string::npos || error.what.find(word) != std::string::npos;
    };
    const std::pair<const char *, ConnectField> words[] = { { "token", ConnectField::Token },
        { "password", ConnectField::Password }, { "certificate", ConnectField::Certificate },
        { "key", ConnectField::Key }, { "header", ConnectField::Headers }, { "CA", ConnectField::CaFile } };
    for (const auto &[word, field] : words)
        if (names(word) && is(field))
            return field;
    return std::nullopt;
}

} // namespace trainyard
