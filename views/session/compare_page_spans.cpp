// SPDX-License-Identifier: GPL-3.0-or-later
// The table of what differs between the timelines.
#include "views/session/compare_page.h"

#include "models/text/duration.h"
#include "models/text/format.h"
#include "models/validation/text_table_model.h"
#include "views/timeline/span_text.h"

#include <QComboBox>

#include <cmath>

namespace trainyard {

namespace {

double secondsOf(Nanoseconds time)
{
    return toSeconds(time).value;
}

QString signedTime(Nanoseconds time)
{
    const double seconds = secondsOf(time);
    return (seconds < 0 ? QStringLiteral("−") : QStringLiteral("+")) + formatDuration(std::abs(seconds));
}

} // namespace

void ComparePage::showSpans(const ComparedPair &pair)
{
    const TimelineDifference &difference = pair.difference;
    TextRows table;
    if (difference.areMatched()) {
        table.titles = { tr("Span"), tr("What"), tr("Replicas"), tr("Longer by"), tr("Begins later by") };
        for (const std::size_t i : pair.largest) {
            const SpanDifference &span = difference.spans[i];
            const QString title =
                span.before != kNoSpan ? spanTitle(*pair.before, span.before) : spanTitle(*pair.after, span.after);
            table.lines.push_back(
                { { title, QString::fromLatin1(toString(span.change())), QString::number(span.replicas),
                      signedTime(span.longer), span.shift ? signedTime(span.shift) : QString() },
                    Tone::Plain, -1, title });
        }
        if (table.lines.empty())
            table.lines.push_back({ { tr("The timelines are equal."), {}, {}, {}, {} }, Tone::Muted, -1, {} });
    } else {
        const QString why = QString::fromStdString(difference.whyNotMatched);
        table.titles = { tr("GPU time by place and kind"), tr("Kind"), before->currentText(), after->currentText(),
            tr("Difference") };
        table.lines.push_back({ { why, {}, {}, {}, {} }, Tone::Muted, -1, why });
        for (const GpuTimeDifference &row : pair.gpuTimes)
            table.lines.push_back({ { QString::fromStdString(row.place), QString::fromLatin1(toString(row.kind)),
                                        formatDuration(secondsOf(row.before)), formatDuration(secondsOf(row.after)),
                                        signedTime(row.difference()) },
                row.difference() < 0 ? Tone::Good : Tone::Bad, -1, {} });
    }
    m_spansModel->setTable(std::move(table));
}

} // namespace trainyard
