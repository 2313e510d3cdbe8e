// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_words.h"

#include "core/base/words.h"
#include "models/text/format.h"
#include "views/run/run_text.h"
#include "views/theme/theme.h"

#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

const QString kBetween = QStringLiteral("  ·  ");
constexpr double kAsLong = 1e-3; // of the step: as long as each other
constexpr double kLeastTold = 0.005; // of the step: smaller differences are not worth a word

/// Lower case at its beginning, but for names.
QString inSentence(DifferenceKind kind)
{
    QString name = QString::fromLatin1(nameOf(kind));
    if (!name.isEmpty())
        name[0] = name[0].toLower();
    return name;
}

QString changeText(double before, double after)
{
    const QString change = formatChange(before, after);
    return change.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(change);
}

/// The largest parts of the difference that go its way, three at most; of steps as long as each other, whichever.
QString whereFrom(const DifferenceTable &table)
{
    const double whole = table.measuredSeconds - table.referenceSeconds;
    const bool isNone = std::abs(whole) < kAsLong * table.referenceSeconds;
    if (table.rows[std::size_t(DifferenceKind::Untold)].measured > table.measuredSeconds / 2)
        return {}; // what is told is too little to say where the rest comes from
    std::vector<DifferenceRow> rows(table.rows.begin(), table.rows.end());
    std::ranges::stable_sort(
        rows, std::greater {}, [](const DifferenceRow &row) { return std::abs(row.difference()); });
    QStringList parts;
    for (const DifferenceRow &row : rows)
        if (parts.size() < 3 && std::abs(row.difference()) > kLeastTold * std::max(table.measuredSeconds, 1e-9)
            && isComparable(row, table) && (isNone || (row.difference() > 0) == (whole > 0)))
            parts << QStringLiteral("%1 %2").arg(inSentence(row.kind), signedSeconds(row.difference()));
    return parts.isEmpty() ? QString() : QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

/// As one field of a table: with commas quotes around what needs them, with tabs none.
QString quoted(QString text, QChar separator)
{
    if (separator == u'\t')
        return text.replace(u'\t', u' ');
    return text.contains(separator) || text.contains(u'"') ? u'"' + text.replace(u'"', QStringLiteral("\"\"")) + u'"'
                                                           : text;
}

} // namespace

QString sentenceOf(const std::string &text)
{
    return QString::fromStdString(asSentence(text));
}

QString nameOf(const Run &run)
{
    return QString::fromStdString(run.recording->name);
}

QString overviewOf(const Run &run)
{
    const Recording &recording = *run.recording;
    QStringList parts;
    if (!recording.ranks.empty())
        parts << countOf(qint64(recording.ranks.size()), runText("rank"), runText("ranks"));
    if (!run.steps.empty())
        parts << countOf(qint64(run.steps.size()), runText("step"), runText("steps"));
    if (const std::size_t spans = recording.spanCount(); spans > 0)
        parts << countOf(qint64(spans), runText("span"), runText("spans"));
    parts << countOf(qint64(recording.sources.size()), runText("file"), runText("files"));
    if (const int refused = refusedFiles(run); refused > 0)
        parts << runText("%1 of them not read").arg(refused);
    return parts.join(kBetween);
}

QString secondsText(double seconds)
{
    return std::abs(seconds) < 5e-10 ? QStringLiteral("0 s") : formatSeconds(seconds);
}

QString signedSeconds(double seconds)
{
    if (std::abs(seconds) < 5e-10)
        return secondsText(0);
    return seconds > 0 ? QStringLiteral("+") + secondsText(seconds) : secondsText(seconds);
}

bool isComparable(const DifferenceRow &row, const DifferenceTable &table)
{
    constexpr double kHardlyAny = 0.01; // of the step
    const double untold = table.rows[std::size_t(DifferenceKind::Untold)].measured;
    return row.isReferenceTold && row.isMeasuredTold && row.kind != DifferenceKind::Untold
        && (row.difference() >= 0 || untold <= kHardlyAny * table.measuredSeconds);
}

QString resultSentence(const RunOverlay &overlay)
{
    const DifferenceTable &table = overlay.differences;
    if (!overlay.run || overlay.step < 0)
        return runText("The recording shows no steps.");
    const auto number = QString::number(overlay.run->steps[std::size_t(overlay.step)].number);
    if (!table.otherJob.empty())
        return runText("Another job: %1. Step %2 took %3.")
            .arg(QString::fromStdString(table.otherJob), number, secondsText(table.measuredSeconds));
    if (!(table.referenceSeconds > 0))
        return runText("Step %1 took %2.").arg(number, secondsText(table.measuredSeconds));
    const QString sizes = sizesSentence(overlay); // first: two jobs of different size
    const double more = table.measuredSeconds - table.referenceSeconds;
    const QString other =
        overlay.reference ? QStringLiteral("%1’s").arg(nameOf(*overlay.reference)) : runText("the plan’s");
    const QString all = secondsText(table.measuredSeconds), than = secondsText(table.referenceSeconds);
    if (std::abs(more) < kAsLong * table.referenceSeconds)
        return sizes + runText("Step %1 took %2, as long as %3 %4%5.").arg(number, all, other, than, whereFrom(table));
    return sizes
        + runText("Step %1 took %2, %3 %4%5 than %6 %7%8.")
              .arg(number, all, secondsText(std::abs(more)), more > 0 ? runText("more") : runText("less"),
                  changeText(table.referenceSeconds, table.measuredSeconds), other, than, whereFrom(table));
}

QString shortResult(const RunOverlay &overlay)
{
    const DifferenceTable &table = overlay.differences;
    if (!overlay.run || overlay.step < 0)
        return runText("no steps");
    if (!table.otherJob.empty())
        return runText("%1, another job").arg(secondsText(table.measuredSeconds));
    if (!(table.referenceSeconds > 0))
        return secondsText(table.measuredSeconds);
    return runText("%1, %2 %3%4")
        .arg(secondsText(table.measuredSeconds), overlay.reference ? nameOf(*overlay.reference) : runText("plan"),
            secondsText(table.referenceSeconds), changeText(table.referenceSeconds, table.measuredSeconds));
}

QString stepSentence(const Run &run, const RunStep &step)
{
    QString text = runText("step %1").arg(step.number);
    if (step.isWarmUp)
        text += runText(": a warm-up, which no median counts");
    else if (step.isOutlier)
        text += runText(": over 1.5 × the median, which does not count it");
    else if (run.typicalStep >= 0 && &step == &run.steps[std::size_t(run.typicalStep)])
        text += runText(": nearest to the median");
    else if (run.medianSeconds > 0)
        text +=
            runText(": median %1 %2").arg(secondsText(run.medianSeconds), changeText(run.medianSeconds, step.seconds));
    if (!step.hasSpans())
        text += runText(" · from logs alone");
    return text;
}

QStringList clockSentences(const Run &run)
{
    const ClockAlignment &clocks = run.alignment;
    qint64 spanned = 0, refused = 0, aligned = 0;
    QStringList reasons;
    for (const ClockFit &fit : clocks.ranks) {
        const RankRecording &rank = run.recording->ranks[fit.rank];
        spanned += rank.streams.empty() && rank.collectives.empty() ? 0 : 1;
        if (fit.refused.empty()) {
            aligned += 1;
        } else {
            refused += 1;
            reasons << QString::fromStdString(fit.refused);
        }
    }
    if (spanned == 0)
        return { runText("No file has spans: there are no clocks to align.") };
    if (spanned == 1)
        return { runText("One rank was recorded: its clock is the only one.") };
    QStringList lines;
    if (run.collectives.empty())
        lines << runText("No collectives were matched across ranks: each keeps its own clock.");
    else if (aligned > 0)
        lines << runText("The clocks of %1 agree within %2 (median of %3).")
                     .arg(countOf(aligned, runText("rank"), runText("ranks")), secondsText(clocks.residual * 1e-9),
                         countOf(qint64(run.collectives.size()), runText("matched collective"),
                             runText("matched collectives")));
    if (clocks.islands > 1)
        lines << runText("They fall into %1 groups that share no collectives; between groups times cannot be compared.")
                     .arg(clocks.islands);
    constexpr qsizetype kMostReasons = 3;
    lines += reasons.mid(0, kMostReasons);
    if (reasons.size() > kMostReasons)
        lines << runText("%1 more clocks were refused.").arg(refused - kMostReasons);
    return lines;
}

QString curveValue(const RunCurve &curve, double value)
{
    if (std::isnan(value))
        return QStringLiteral("–");
    static constexpr std::array kShares { "mfu", "gpu_utilization", "tensor_active", "sm_active", "dram_active",
        "compute_share" };
    if (curve.unit == "s")
        return secondsText(value);
    if (curve.unit == "B")
        return formatBytes(value);
    if (curve.unit == "B/s")
        return formatBytes(value) + QStringLiteral("/s");
    if (curve.unit == "1" && std::ranges::find(kShares, curve.name) != kShares.end())
        return formatPercent(value);
    const QString number = std::abs(value) >= 1e5 ? formatCount(value) : QString::number(value, 'g', 4);
    return curve.unit == "1" || curve.unit.empty() ? number : number + u' ' + QString::fromStdString(curve.unit);
}

QString differenceText(const RunOverlay &overlay, QChar separator)
{
    const DifferenceTable &table = overlay.differences;
    const bool hasReference = table.referenceSeconds > 0 && table.otherJob.empty();
    const auto number = [](double value, bool isTold) { return isTold ? QString::number(value, 'g', 9) : QString(); };
    const auto line = [&](const QString &name, const DifferenceRow &row, bool isSum) {
        const bool isReferenceTold = hasReference && row.isReferenceTold;
        const bool isTold = hasReference && (isSum || isComparable(row, table));
        return QStringList { quoted(name, separator), number(row.reference, isReferenceTold),
            number(row.measured, row.isMeasuredTold), number(row.difference(), isTold) }
                   .join(separator)
            + u'\n';
    };
    QString text = QStringList { runText("kind of work"),
        quoted(runText("%1 (s)").arg(QString::fromStdString(table.referenceName)), separator),
        quoted(runText("%1 (s)").arg(QString::fromStdString(table.measuredName)), separator),
        runText("difference (s)") }
                       .join(separator)
        + u'\n';
    for (const DifferenceRow &row : table.rows)
        text += line(QString::fromLatin1(nameOf(row.kind)), row, false);
    DifferenceRow sum;
    sum.reference = table.referenceSeconds;
    sum.measured = table.measuredSeconds;
    return text + line(runText("step"), sum, true);
}

QColor colorOf(DifferenceKind kind)
{
    switch (kind) {
    case DifferenceKind::Compute:
        return theme().work(WorkKind::Forward);
    case DifferenceKind::ExposedCommunication:
        return theme().work(WorkKind::Collective);
    case DifferenceKind::Bubble:
        return theme().isDark ? theme().border.lighter(130) : theme().border.darker(112);
    case DifferenceKind::Stragglers:
        return theme().work(WorkKind::GradientReduce);
    case DifferenceKind::Host:
        return theme().work(WorkKind::Overhead);
    case DifferenceKind::Untold:
        return theme().textFaint;
    }
    return theme().textFaint;
}

QString meaningOf(DifferenceKind kind)
{
    switch (kind) {
    case DifferenceKind::Compute:
        return runText("Some kernel computes, the optimizer's too.");
    case DifferenceKind::ExposedCommunication:
        return runText("Only communication or copies run, and they move data.");
    case DifferenceKind::Bubble:
        return runText("Nothing runs, or a receive waits, for another stage of the pipeline.");
    case DifferenceKind::Stragglers:
        return runText(
            "A collective that has begun waits for its last rank. A plan's replicas are as fast as their hardware, "
            "so that none wait.");
    case DifferenceKind::Host:
        return runText("Nothing runs because the host has not launched the next kernel yet; of the plan its overhead.");
    case DifferenceKind::Untold:
        return runText("The run shows no spans: its step is one piece.");
    }
    return {};
}

} // namespace trainyard
