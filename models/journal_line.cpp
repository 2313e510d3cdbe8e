// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/journal_line.h"

#include <QCryptographicHash>
#include <QJsonDocument>

namespace trainyard {

namespace {

constexpr qsizetype kSumLetters = 16; // 64 bits, in hexadecimal

QByteArray checksum(QByteArrayView content)
{
    return QCryptographicHash::hash(content, QCryptographicHash::Sha256).toHex().left(kSumLetters);
}

/// Without the ends of lines and the indentation behind them: no string of JSON has either.
QByteArray onOneLine(const QByteArray &json)
{
    QByteArray line;
    line.reserve(json.size());
    bool isIndentation = false;
    for (const char letter : json) {
        isIndentation = letter == '\n' || (isIndentation && letter == ' ');
        if (!isIndentation)
            line += letter;
    }
    return line;
}

} // namespace

QByteArray toBytes(const JournalLine &line)
{
    const QByteArray content = QJsonDocument(line.head).toJson(QJsonDocument::Compact) + '\t' + onOneLine(line.plan);
    return checksum(content) + '\t' + content + '\n';
}

std::optional<JournalLine> journalLine(QByteArrayView bytes)
{
    if (bytes.size() <= kSumLetters || bytes[kSumLetters] != '\t')
        return std::nullopt;
    const QByteArrayView content = bytes.sliced(kSumLetters + 1);
    const qsizetype tab = content.indexOf('\t');
    if (tab < 0 || checksum(content) != bytes.first(kSumLetters))
        return std::nullopt;
    const QJsonDocument head = QJsonDocument::fromJson(content.first(tab).toByteArray());
    if (!head.isObject())
        return std::nullopt;
    return JournalLine { head.object(), content.sliced(tab + 1).toByteArray() };
}

} // namespace trainyard
