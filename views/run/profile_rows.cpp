// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/profile_rows.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/run/run_text.h"

#include <QLocale>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMostKernels = 500; // of kernels; the command line has all

QString timeOf(double nanoseconds)
{
    return formatSeconds(nanoseconds * 1e-9);
}

QString signedTime(double nanoseconds)
{
    if (std::abs(nanoseconds) < 0.5)
        return formatSeconds(0);
    return (nanoseconds > 0 ? QStringLiteral("+") : QStringLiteral("−")) + timeOf(std::abs(nanoseconds));
}

QString wholeOf(double count)
{
    return QLocale(QLocale::English).toString(qlonglong(std::llround(count)));
}

QString rankName(const ProfileOfRun &profile, std::uint32_t rank)
{
    const int number = profile.run->recording->ranks[rank].rank;
    return number >= 0 ? QString::number(number) : QStringLiteral("–");
}

QString streamName(const ProfileOfRun &profile, std::uint32_t rank, std::uint32_t stream)
{
    return stream == kNoIndex ? runText("all")
                              : QString::number(profile.run->recording->ranks[rank].streams[stream].stream);
}

QString kernelName(const std::string &name)
{
    return foreignText(QString::fromStdString(name));
}

QString workName(RecordedWork work)
{
    return work == RecordedWork::Compute      ? runText("compute")
        : work == RecordedWork::Communication ? runText("communication")
        : work == RecordedWork::Copy          ? runText("copy")
                                              : runText("other work");
}

QString changeName(KernelChange change)
{
    switch (change) {
    case KernelChange::New:
        return runText("new");
    case KernelChange::Gone:
        return runText("gone");
    case KernelChange::Longer:
        return runText("longer");
    case KernelChange::Shorter:
        return runText("shorter");
    case KernelChange::Same:
        break;
    }
    return runText("same");
}

QString pathName(PathKind kind)
{
    switch (kind) {
    case PathKind::Compute:
        return runText("compute");
    case PathKind::Communication:
        return runText("communication");
    case PathKind::Copy:
        return runText("copy");
    case PathKind::Launch:
        return runText("launch");
    case PathKind::Gap:
        return runText("between kernels");
    case PathKind::Host:
        return runText("host");
    case PathKind::Other:
        break;
    }
    return runText("other work");
}

TextRows changeRows(const ProfileOfRun &profile)
{
    TextRows rows;
    rows.titles = { {}, runText("Difference"), runText("By count"), runText("By mean"), runText("Count"),
        runText("Mean"), runText("Kernel"), runText("Grid × block") };
    for (const KernelDifference &row : profile.differences->rows) {
        if (rows.lines.size() == kMostKernels)
            break;
        const auto pair = [](const QString &before, const QString &after) {
            return before == after ? before : before + QStringLiteral(" → ") + after;
        };
        rows.lines.push_back(
            { { changeName(row.change), signedTime(row.difference()), signedTime(row.byCount), signedTime(row.byMean),
                  pair(formatCount(row.countBefore), formatCount(row.countAfter)),
                  pair(timeOf(row.meanBefore()), timeOf(row.meanAfter())), kernelName(row.name),
                  kernelName(row.shape) },
                Tone::Muted, -1, plainTip(kernelName(row.name)) });
    }
    return rows;
}

} // namespace

TextRows idleRows(const ProfileOfRun &profile)
{
    TextRows rows;
    rows.titles = { runText("Rank"), runText("Stream"), runText("Length"), runText("Busy"), runText("Host wait"),
        runText("Kernel wait"), runText("Other") };
    const auto add = [&](std::uint32_t rank, const IdleTime &time) {
        const auto idle = [&](std::int64_t nanoseconds) {
            const double share = time.length() > 0 ? double(nanoseconds) / double(time.length()) : 0;
            return timeOf(double(nanoseconds)) + QStringLiteral("  ") + formatPercent(share);
        };
        rows.lines.push_back(
            { { rankName(profile, rank), streamName(profile, rank, time.stream), timeOf(double(time.length())),
                  idle(time.busy), idle(time.idle.hostWait), idle(time.idle.kernelWait), idle(time.idle.other) },
                Tone::Plain, -1, {} });
    };
    for (const RankIdle &rank : profile.idle) {
        if (!rank.reason.empty())
            continue;
        add(rank.rank, rank.whole);
        for (const IdleTime &stream : rank.streams)
            add(rank.rank, stream);
    }
    return rows;
}

TextRows queueRows(const ProfileOfRun &profile)
{
    TextRows rows;
    rows.titles = { runText("Rank"), runText("Stream"), runText("Launched"), runText("Empty"), runText("Mean"),
        runText("Most") };
    const auto add = [&](std::uint32_t rank, const LaunchQueue &queue) {
        if (queue.launched > 0)
            rows.lines.push_back(
                { { rankName(profile, rank), streamName(profile, rank, queue.stream), wholeOf(double(queue.launched)),
                      formatPercent(queue.shareEmpty()), formatCount(queue.mean()), wholeOf(double(queue.most)) },
                    Tone::Plain, -1, {} });
    };
    for (const RankQueue &rank : profile.queues) {
        add(rank.rank, rank.whole);
        for (const LaunchQueue &stream : rank.streams)
            add(rank.rank, stream);
    }
    return rows;
}

TextRows kernelRows(const ProfileOfRun &profile)
{
    if (profile.differences)
        return changeRows(profile);
    TextRows rows;
    rows.titles = { runText("Time"), runText("Share"), runText("Count"), runText("Mean"), runText("Kind"),
        runText("Kernel"), runText("Grid × block") };
    for (const KernelRow &row : profile.kernels.rows) {
        if (rows.lines.size() == kMostKernels)
            break;
        rows.lines.push_back(
            { { timeOf(row.total), formatPercent(profile.kernels.total > 0 ? row.total / profile.kernels.total : 0),
                  wholeOf(double(row.count)), timeOf(row.mean()), workName(row.work), kernelName(row.name),
                  kernelName(row.shape) },
                Tone::Muted, -1, plainTip(kernelName(row.name)) });
    }
    return rows;
}

TextRows pathRows(const ProfileOfRun &profile)
{
    TextRows rows;
    rows.titles = { runText("Time"), runText("Share"), runText("Count"), runText("Kind"), runText("Kernel") };
    const double length = double(profile.path.end - profile.path.start);
    const auto share = [&](double nanoseconds) { return formatPercent(length > 0 ? nanoseconds / length : 0); };
    for (std::size_t kind = 0; kind < kPathKinds; ++kind)
        if (const double own = double(profile.path.nanoseconds[kind]); own > 0)
            rows.lines.push_back(
                { { timeOf(own), share(own), {}, pathName(PathKind(kind)), {} }, Tone::Plain, -1, {} });
    for (const PathShare &one : profile.pathShares) {
        if (one.name.empty() || rows.lines.size() == kMostKernels)
            continue;
        rows.lines.push_back({ { timeOf(one.seconds * 1e9), share(one.seconds * 1e9), wholeOf(double(one.count)),
                                   pathName(one.kind), kernelName(one.name) },
            Tone::Muted, -1, plainTip(kernelName(one.name)) });
    }
    return rows;
}

} // namespace trainyard
