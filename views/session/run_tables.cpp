// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/run_tables.h"

#include "models/text/format.h"
#include "views/run/profile_rows.h"
#include "views/run/run_words.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostPlaces = 400; // rows of a table

QString tableText(const char *source)
{
    return QCoreApplication::translate("RunTables", source);
}

const QString &dash()
{
    static const QString text = QStringLiteral("–");
    return text;
}

QString valueText(const ComparedNumber &number, const std::optional<double> &value)
{
    return value ? curveValue(RunCurve { .name = number.name, .unit = number.unit }, *value) : dash();
}

TextRows::Line lineOf(const PlaceDifference &row)
{
    const QString place = row.place.empty() ? tableText("all that both tell") : QString::fromStdString(row.place);
    const Tone tone = !row.isTold() || std::abs(row.difference()) < 5e-10 ? Tone::Muted
        : row.difference() < 0                                            ? Tone::Good
                                                                          : Tone::Bad;
    return { { place, QString::fromLatin1(nameOf(row.kind)), row.isReferenceTold ? secondsText(row.reference) : dash(),
                 row.isMeasuredTold ? secondsText(row.measured) : dash(),
                 row.isTold() ? signedSeconds(row.difference()) : dash() },
        tone, -1, meaningOf(row.kind) };
}

} // namespace

TextRows numberRows(const ComparedRuns &pair)
{
    TextRows table { { tableText("Number"), pair.before.name, pair.after.name, tableText("Difference") }, {} };
    for (const ComparedNumber &number : pair.numbers) {
        const bool isTold = pair.whyNot.isEmpty() && number.before && number.after && *number.before != 0;
        const bool isSame = isTold && *number.before == *number.after;
        const Tone tone = !isTold || isSame || number.better == 0     ? Tone::Muted
            : (*number.after > *number.before) == (number.better > 0) ? Tone::Good
                                                                      : Tone::Bad;
        table.lines.push_back({ { number.title, valueText(number, number.before), valueText(number, number.after),
                                    isTold ? formatChange(*number.before, *number.after) : dash() },
            tone, -1, number.title });
    }
    return table;
}

TextRows gpuTimeRows(const ComparedRuns &pair)
{
    TextRows table { { tableText("Time of a GPU in the step"), tableText("Kind"), pair.before.name, pair.after.name,
                         tableText("Difference") },
        {} };
    for (const PlaceDifference &row : pair.kinds)
        table.lines.push_back(lineOf(row));
    std::vector<PlaceDifference> places = pair.places;
    std::ranges::stable_sort(places, {}, [](const PlaceDifference &row) {
        return row.isTold() ? -std::abs(row.difference()) : 1; // what one side does not tell comes last
    });
    places.resize(std::min(places.size(), kMostPlaces));
    for (const PlaceDifference &row : places)
        table.lines.push_back(lineOf(row));
    if (table.lines.empty()) {
        const QString why = pair.whyNot.isEmpty() ? tableText("Traces of both would tell it.") : pair.whyNot;
        table.lines.push_back({ { why, {}, {}, {}, {} }, Tone::Muted, -1, why });
    }
    return table;
}

TextRows kernelChangeRows(const ComparedRuns &pair)
{
    if (pair.kernels)
        return kernelRows(*pair.kernels);
    const QString why = tableText("Kernels are compared of two runs with traces.");
    return { { tableText("Kernels") }, { { { why }, Tone::Muted, -1, why } } };
}

TextRows noteRows(const ComparedRuns &pair)
{
    TextRows table { { tableText("What has to be known of these figures") }, {} };
    for (const QString &note : pair.whyNot.isEmpty() ? pair.notes : QStringList { pair.whyNot } + pair.notes)
        table.lines.push_back({ { note }, Tone::Plain, -1, note });
    return table;
}

QString verdictOf(const ComparedRuns &pair)
{
    if (!pair.whyNot.isEmpty())
        return pair.whyNot;
    const auto step = std::ranges::find(pair.numbers, std::string_view("step_time"), &ComparedNumber::name);
    if (step == pair.numbers.end() || !step->before || !step->after)
        return {};
    return tableText("%1 → %2 a step (%3)")
        .arg(secondsText(*step->before), secondsText(*step->after), formatChange(*step->before, *step->after));
}

} // namespace trainyard
