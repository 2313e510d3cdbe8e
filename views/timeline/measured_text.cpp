// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/measured_text.h"

#include "core/engine/timeline/analysis.h"
#include "views/timeline/span_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kMostRuns = 4; // of ranks, in a sentence
constexpr std::size_t kMostNameBytes = 1024; // of a name that a file gave

QString measuredText(const char *text)
{
    return QCoreApplication::translate("trainyard::MeasuredText", text);
}

/// "+11 %", "−0.4 %".
QString percent(double share)
{
    const double value = share * 100;
    const QString digits = QString::number(std::abs(value), 'f', std::abs(value) < 9.95 ? 1 : 0);
    const bool isNothing = digits.toDouble() == 0;
    return (isNothing ? QStringLiteral("±0") : (value < 0 ? QStringLiteral("−") : QStringLiteral("+")) + digits)
        + QStringLiteral(" %");
}

Nanoseconds busyTime(const Timeline &timeline, const Track &track)
{
    Nanoseconds busy = 0;
    for (std::uint32_t span = track.first; span < track.last; ++span)
        busy += timeline.end[span] - timeline.start[span];
    return busy;
}

/// Track of the plan that a measured row of a chart's row answers to.
std::optional<std::uint32_t> planTrack(const TimelineState &state, const TrackRow &row, const TrackKey &key)
{
    for (const std::uint32_t track : row.tracks)
        if (keyOf(*state.evaluation, state.timeline()->tracks[track]) == key)
            return track;
    return std::nullopt;
}

} // namespace

QString recordedWorkName(RecordedWork work)
{
    switch (work) {
    case RecordedWork::Compute:
        return measuredText("compute");
    case RecordedWork::Communication:
        return measuredText("communication");
    case RecordedWork::Copy:
        return measuredText("copy");
    case RecordedWork::Wait:
        return measuredText("wait");
    case RecordedWork::HostCall:
        return measuredText("host call");
    case RecordedWork::HostOperator:
        return measuredText("host operator");
    case RecordedWork::Annotation:
        return measuredText("annotation");
    case RecordedWork::Other:
        break;
    }
    return measuredText("other work");
}

QString ranksText(const std::vector<int> &ranks)
{
    QStringList runs;
    for (std::size_t first = 0, last = 0; first < ranks.size(); first = last) {
        while (last < ranks.size() && ranks[last] - ranks[first] == int(last - first))
            ++last;
        if (runs.size() == kMostRuns) {
            runs << QStringLiteral("…");
            break;
        }
        if (last - first > 2)
            runs << QStringLiteral("%1–%2").arg(ranks[first]).arg(ranks[last - 1]);
        else
            for (std::size_t r = first; r < last; ++r)
                runs << QString::number(ranks[r]);
    }
    const QString tail = runs.size() > 1 && runs.last() != QStringLiteral("…") ? runs.takeLast() : QString();
    const QString list = runs.join(QStringLiteral(", "));
    return (ranks.size() == 1 ? measuredText("rank %1") : measuredText("ranks %1"))
        .arg(tail.isEmpty() ? list : measuredText("%1 and %2").arg(list, tail));
}

QString shortSpanName(std::string_view name, qsizetype most)
{
    name = name.substr(0, kMostNameBytes);
    std::string plain;
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        if (c == '(' && depth == 0 && !plain.empty() && !name.substr(i).starts_with("(anonymous"))
            break; // its parameters
        depth += c == '<' || c == '(' ? 1 : 0;
        if (depth == 0)
            plain += c;
        depth -= (c == '>' || c == ')') && depth > 0 ? 1 : 0;
    }
    if (const auto scope = plain.rfind("::"); scope != std::string::npos && scope + 2 < plain.size())
        plain.erase(0, scope + 2);
    if (plain.starts_with("void "))
        plain.erase(0, 5);
    QString text = QString::fromUtf8(plain.empty() ? name : std::string_view(plain)).simplified();
    for (QChar &c : text)
        c = c.isPrint() ? c : QChar(u'?');
    return text.size() <= most ? text : text.left(std::max<qsizetype>(1, most - 1)) + u'…';
}

QString measuredName(const MeasuredLanes &measured, std::uint32_t span, qsizetype most)
{
    const MeasuredRow &row = measured.row(measured.rowOf(span));
    const std::uint32_t number = measured.numberOf[span];
    const RunPtr &run = measured.overlay->run;
    if (!run || !run->recording || number >= row.name.size() || row.name[number] >= run->recording->names.size())
        return {};
    return shortSpanName(run->recording->names[row.name[number]], most);
}

QString measuredTitle(const MeasuredLanes &measured, std::uint32_t span)
{
    QString name = measuredName(measured, span);
    if (name.isEmpty())
        name = recordedWorkName(measured.workOf(span));
    return measuredText("%1 · rank %2").arg(name).arg(measured.row(measured.rowOf(span)).shown);
}

NamedFacts measuredFacts(const TimelineState &state, std::uint32_t span)
{
    const MeasuredLanes &measured = *state.measured;
    const int index = measured.rowOf(span);
    const MeasuredRow &of = measured.row(index);
    const std::uint32_t number = measured.numberOf[span]; // its whole time: the lane may show a part
    const Nanoseconds start = of.start[number], end = of.end[number];
    NamedFacts facts { { {}, measuredText("%1, %2").arg(lengthText(end - start), intervalText(start, end)) } };
    const QString work = recordedWorkName(of.work[number]);
    facts << std::pair(measuredText("measured"),
        of.ranks.size() > 1 ? measuredText("%1, rank %2 of %3").arg(work).arg(of.shown).arg(ranksText(of.ranks))
                            : work);
    const int shownIn = rowOfMeasured(state, span);
    const TrackRow *row = shownIn < 0 ? nullptr : &state.layout.rows[std::size_t(shownIn)];
    if (const auto track = row ? planTrack(state, *row, of.key) : std::nullopt) {
        const Timeline &plan = *state.timeline();
        const Nanoseconds middle = start + (end - start) / 2;
        const std::uint32_t there = spanAt(plan, *track, middle);
        facts << std::pair(measuredText("plan here"),
            there != kNoSpan             ? spanName(*state.evaluation, there)
                : middle > plan.duration ? measuredText("the iteration is over")
                                         : measuredText("idle"));
        const Nanoseconds run = measured.busy[std::size_t(index)], planned = busyTime(plan, plan.tracks[*track]);
        facts << std::pair(measuredText("row busy"),
            measuredText("%1 in the run, %2 in the plan").arg(lengthText(run), lengthText(planned))
                + (planned > 0 ? QStringLiteral(" (%1)").arg(percent(double(run - planned) / double(planned)))
                               : QString()));
    }
    if (const QString missing = row ? missingText(measured, *row) : QString(); !missing.isEmpty())
        facts << std::pair(QString(), missing);
    return facts;
}

QStringList linesOf(const NamedFacts &facts)
{
    QStringList lines;
    for (const auto &[name, value] : facts)
        lines << (name.isEmpty() ? value : name + QStringLiteral(": ") + value);
    return lines;
}

QString measuredLabel(const MeasuredLanes &measured, const TrackRow &row)
{
    if (row.measured.empty())
        return {};
    if (measured.areMissing(row.measured)) {
        const bool isRecorded = std::ranges::any_of(row.measured, [&](std::uint32_t index) {
            return measured.row(int(index)).missing.size() < measured.row(int(index)).ranks.size();
        });
        return isRecorded ? measuredText("run · no spans") : measuredText("run · not recorded");
    }
    if (row.kind == TrackRow::Kind::Summary)
        return measuredText("run");
    for (const std::uint32_t index : row.measured)
        if (measured.row(int(index)).shown >= 0)
            return measuredText("run · rank %1").arg(measured.row(int(index)).shown);
    return {};
}

QString missingText(const MeasuredLanes &measured, const TrackRow &row)
{
    std::vector<int> missing, ranks;
    for (const std::uint32_t index : row.measured) {
        const MeasuredRow &of = measured.row(int(index));
        missing.insert(missing.end(), of.missing.begin(), of.missing.end());
        ranks.insert(ranks.end(), of.ranks.begin(), of.ranks.end());
    }
    for (std::vector<int> *each : { &missing, &ranks }) {
        std::ranges::sort(*each);
        each->erase(std::ranges::unique(*each).begin(), each->end());
    }
    if (missing.empty() && !ranks.empty() && measured.areMissing(row.measured))
        return measuredText("no spans of %1 in this step").arg(ranksText(ranks));
    return missing.empty() ? QString() : measuredText("no recording of %1").arg(ranksText(missing));
}

QString runDifference(const TimelineState &state)
{
    const Nanoseconds run = state.overlay ? stepOf(*state.overlay) : 0,
                      plan = state.isEmpty() ? 0 : state.timeline()->duration;
    if (state.overlay && !state.overlay->differences.otherJob.empty())
        return measuredText("of another job");
    return run > 0 && plan > 0 ? percent(double(run - plan) / double(plan)) : QString();
}

QString runSummary(const TimelineState &state)
{
    if (!state.overlay || endOf(*state.overlay) <= 0)
        return {};
    QString text = measuredText("a run lies under the plan: %1").arg(lengthText(stepOf(*state.overlay)));
    if (const QString difference = runDifference(state); !difference.isEmpty())
        text += QStringLiteral(", ") + difference;
    return text;
}

} // namespace trainyard
