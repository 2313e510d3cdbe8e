// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_words.h"

#include "models/text/format.h"
#include "views/theme/theme.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

QString tr(const char *text)
{
    return QCoreApplication::translate("RunWords", text);
}

const QString kBetween = QStringLiteral("  ·  ");
constexpr int kMostRanks = 65536; // a rank number of a file is anybody's
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

/// The largest parts of the difference that go its way, three at most.
QString whereFrom(const DifferenceTable &table)
{
    const double whole = table.measuredSeconds - table.referenceSeconds;
    std::vector<DifferenceRow> rows(table.rows.begin(), table.rows.end());
    std::ranges::sort(rows, std::greater {}, [](const DifferenceRow &row) { return std::abs(row.difference()); });
    QStringList parts;
    for (const DifferenceRow &row : rows)
        if (parts.size() < 3 && std::abs(row.difference()) > kLeastTold * std::max(table.measuredSeconds, 1e-9)
            && row.kind != DifferenceKind::Untold)
            parts << QStringLiteral("%1 %2").arg(inSentence(row.kind), signedSeconds(row.difference()));
    if (parts.isEmpty() || std::abs(whole) <= kLeastTold * table.measuredSeconds * 0.2)
        return parts.isEmpty() ? QString() : QStringLiteral(": ") + parts.join(QStringLiteral(", "));
    return QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

} // namespace

QString nameOf(const Run &run)
{
    return QString::fromStdString(run.recording->name);
}

QString overviewOf(const Run &run)
{
    const Recording &recording = *run.recording;
    QStringList parts;
    if (!recording.ranks.empty())
        parts << countOf(qint64(recording.ranks.size()), tr("rank"), tr("ranks"));
    if (!run.steps.empty())
        parts << countOf(qint64(run.steps.size()), tr("step"), tr("steps"));
    if (const std::size_t spans = recording.spanCount(); spans > 0)
        parts << countOf(qint64(spans), tr("span"), tr("spans"));
    parts << countOf(qint64(recording.sources.size()), tr("file"), tr("files"));
    if (const int refused = refusedFiles(run); refused > 0)
        parts << tr("%1 of them not read").arg(refused);
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

QString resultSentence(const RunOverlay &overlay)
{
    const DifferenceTable &table = overlay.differences;
    if (!overlay.run || overlay.step < 0)
        return tr("The recording shows no steps.");
    const auto number = QString::number(overlay.run->steps[std::size_t(overlay.step)].number);
    if (!(table.referenceSeconds > 0))
        return tr("Step %1 took %2.").arg(number, secondsText(table.measuredSeconds));
    const double more = table.measuredSeconds - table.referenceSeconds;
    const QString other = overlay.reference ? QStringLiteral("%1’s").arg(nameOf(*overlay.reference)) : tr("the plan’s");
    const QString all = secondsText(table.measuredSeconds), than = secondsText(table.referenceSeconds);
    if (std::abs(more) < 1e-3 * table.referenceSeconds)
        return tr("Step %1 took %2, as long as %3 %4%5.").arg(number, all, other, than, whereFrom(table));
    return tr("Step %1 took %2, %3 %4%5 than %6 %7%8.")
        .arg(number, all, secondsText(std::abs(more)), more > 0 ? tr("more") : tr("less"),
            changeText(table.referenceSeconds, table.measuredSeconds), other, than, whereFrom(table));
}

QString shortResult(const RunOverlay &overlay)
{
    const DifferenceTable &table = overlay.differences;
    if (!overlay.run || overlay.step < 0)
        return tr("no steps");
    if (!(table.referenceSeconds > 0))
        return secondsText(table.measuredSeconds);
    return tr("%1, %2 %3%4")
        .arg(secondsText(table.measuredSeconds), overlay.reference ? nameOf(*overlay.reference) : tr("plan"),
            secondsText(table.referenceSeconds), changeText(table.referenceSeconds, table.measuredSeconds));
}

QString stepSentence(const Run &run, const RunStep &step)
{
    QString text = tr("step %1").arg(step.number);
    if (step.isWarmUp)
        text += tr(": a warm-up, which no median counts");
    else if (step.isOutlier)
        text += tr(": over 1.5 × the median, which does not count it");
    else if (run.typicalStep >= 0 && &step == &run.steps[std::size_t(run.typicalStep)])
        text += tr(": nearest to the median");
    else if (run.medianSeconds > 0)
        text += tr(": median %1 %2").arg(secondsText(run.medianSeconds), changeText(run.medianSeconds, step.seconds));
    if (!step.hasSpans())
        text += tr(" · from logs alone");
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
        return { tr("No file has spans: there are no clocks to align.") };
    if (spanned == 1)
        return { tr("One rank was recorded: its clock is the only one.") };
    QStringList lines;
    if (run.collectives.empty())
        lines << tr("No collectives were matched across ranks: each keeps its own clock.");
    else if (aligned > 0)
        lines << tr("The clocks of %1 agree within %2 (median of %3).")
                     .arg(countOf(aligned, tr("rank"), tr("ranks")), secondsText(clocks.residual * 1e-9),
                         countOf(qint64(run.collectives.size()), tr("matched collective"), tr("matched collectives")));
    if (clocks.islands > 1)
        lines << tr("They fall into %1 groups that share no collectives; between groups times cannot be compared.")
                     .arg(clocks.islands);
    constexpr qsizetype kMostReasons = 3;
    lines += reasons.mid(0, kMostReasons);
    if (reasons.size() > kMostReasons)
        lines << tr("%1 more clocks were refused.").arg(refused - kMostReasons);
    return lines;
}

QString rangesText(const std::vector<int> &ascending)
{
    QStringList parts;
    constexpr qsizetype kMostParts = 6;
    for (std::size_t i = 0; i < ascending.size();) {
        std::size_t j = i;
        while (j + 1 < ascending.size() && ascending[j + 1] == ascending[j] + 1)
            ++j;
        if (parts.size() == kMostParts) {
            parts << QStringLiteral("…");
            break;
        }
        if (j > i + 1)
            parts << tr("%1 to %2").arg(ascending[i]).arg(ascending[j]);
        else
            for (std::size_t k = i; k <= j; ++k)
                parts << QString::number(ascending[k]);
        i = j + 1;
    }
    return parts.join(QStringLiteral(", "));
}

std::vector<int> unrecordedRanks(const RunOverlay &overlay)
{
    std::vector<bool> isRecorded;
    const auto grow = [&](int ranks) {
        isRecorded.resize(std::max(isRecorded.size(), std::size_t(std::max(ranks, 0))));
    };
    for (const RankRecording &rank : overlay.run->recording->ranks)
        grow(std::min(std::max(rank.worldSize, rank.rank + 1), kMostRanks));
    if (!overlay.missingRanks.empty())
        grow(std::min(overlay.missingRanks.back() + 1, kMostRanks));
    for (const RankRecording &rank : overlay.run->recording->ranks)
        if (rank.rank >= 0 && std::size_t(rank.rank) < isRecorded.size())
            isRecorded[std::size_t(rank.rank)] = true;
    std::vector<int> missing;
    for (std::size_t rank = 0; rank < isRecorded.size(); ++rank)
        if (!isRecorded[rank])
            missing.push_back(int(rank));
    return missing;
}

QString missingSentence(const RunOverlay &overlay)
{
    if (overlay.run->recording->ranks.empty())
        return {};
    const std::vector<int> missing = unrecordedRanks(overlay);
    if (missing.empty())
        return {};
    return missing.size() == 1
        ? tr("Nobody recorded rank %1; its place is hatched.").arg(missing.front())
        : tr("Nobody recorded %1 ranks: %2. Their places are hatched.").arg(missing.size()).arg(rangesText(missing));
}

QString curveValue(const RunCurve &curve, double value)
{
    if (std::isnan(value))
        return QStringLiteral("–");
    static constexpr std::array kShares { "mfu", "gpu_utilization", "tensor_active", "sm_active", "dram_active" };
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
    const auto quoted = [separator](
                            const QString &name) { return name.contains(separator) ? u'"' + name + u'"' : name; };
    const auto line = [&](const QString &name, double reference, double measured) {
        return quoted(name) + separator + QString::number(reference, 'g', 9) + separator
            + QString::number(measured, 'g', 9) + separator + QString::number(measured - reference, 'g', 9) + u'\n';
    };
    QString text =
        QStringList { tr("kind of work"), quoted(tr("%1 (s)").arg(QString::fromStdString(table.referenceName))),
            quoted(tr("%1 (s)").arg(QString::fromStdString(table.measuredName))), tr("difference (s)") }
            .join(separator)
        + u'\n';
    for (const DifferenceRow &row : table.rows)
        text += line(QString::fromLatin1(nameOf(row.kind)), row.reference, row.measured);
    return text + line(tr("step"), table.referenceSeconds, table.measuredSeconds);
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
        return tr("Some kernel computes, the optimizer's too.");
    case DifferenceKind::ExposedCommunication:
        return tr("Only communication or copies run, and they move data.");
    case DifferenceKind::Bubble:
        return tr("Nothing runs, or a receive waits, for another stage of the pipeline.");
    case DifferenceKind::Stragglers:
        return tr(
            "A collective that has begun waits for its last rank. A plan's replicas are as fast as their hardware, "
            "so that none wait.");
    case DifferenceKind::Host:
        return tr("Nothing runs because the host has not launched the next kernel yet; of the plan its overhead.");
    case DifferenceKind::Untold:
        return tr("The run shows no spans: its step is one piece.");
    }
    return {};
}

} // namespace trainyard
