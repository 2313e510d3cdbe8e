// SPDX-License-Identifier: GPL-3.0-or-later
// The list of a run's files, for the page about it.
#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/run/run_text.h"
#include "views/run/run_words.h"

#include <QLocale>

#include <algorithm>

namespace trainyard {

namespace {

QString droppedText(const RecordedSource &source)
{
    QStringList parts;
    for (const Dropped &dropped : source.dropped)
        parts << QStringLiteral("%1 %2").arg(
            QLocale(QLocale::English).toString(qlonglong(dropped.count)), QString::fromStdString(dropped.reason));
    return parts.join(QStringLiteral("; "));
}

} // namespace

int refusedFiles(const Run &run)
{
    return int(std::ranges::count_if(
        run.recording->sources, [](const RecordedSource &source) { return !source.refused.empty(); }));
}

TextRows sourceTable(const Run &run)
{
    TextRows rows;
    rows.titles = { runText("File"), runText("What it is"), runText("Size"), runText("Taken"),
        runText("Left out, and why") };
    for (const RecordedSource &source : run.recording->sources) {
        const QString path = QString::fromStdString(source.file);
        const bool isRefused = !source.refused.empty();
        QStringList told;
        if (isRefused)
            told << QString::fromStdString(source.refused);
        if (source.isTruncated)
            told << runText("ends in the middle");
        if (const QString dropped = droppedText(source); !dropped.isEmpty())
            told << dropped;
        for (const std::string &note : source.notes)
            told << QString::fromStdString(note);
        rows.lines.push_back(
            { { fileText(path), QString::fromLatin1(nameOf(source.kind)), formatBytes(double(source.bytes)),
                  isRefused ? runText("nothing") : QLocale(QLocale::English).toString(qlonglong(source.taken)),
                  told.join(QStringLiteral(". ")) },
                isRefused            ? Tone::Bad
                    : told.isEmpty() ? Tone::Plain
                                     : Tone::Muted,
                -1, plainTip(pathText(path) + (told.isEmpty() ? QString() : u'\n' + told.join(u'\n'))) });
    }
    return rows;
}

} // namespace trainyard
