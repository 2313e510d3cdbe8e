// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame_probe.h"

#include "core/base/printable.h"
#include "models/live_words.h"
#include "views/timeline/timeline_view.h"

#include <QEvent>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <cstdio>
#include <unistd.h>

namespace trainyard {

namespace {

constexpr int kTickMs = 1000;
constexpr double kWarmSeconds = 10; // opening the window and its plan is another measurement

double residentMegabytes()
{
    QFile file(QStringLiteral("/proc/self/statm"));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    return file.readAll().split(' ').value(1).toDouble() * double(sysconf(_SC_PAGESIZE)) * 1e-6;
}

/// Since the kernel started it, to the 10 ms of its clock; below 0 where that is not told.
double ageOfProcessMs()
{
    QFile stat(QStringLiteral("/proc/self/stat")), uptime(QStringLiteral("/proc/uptime"));
    if (!stat.open(QIODevice::ReadOnly) || !uptime.open(QIODevice::ReadOnly))
        return -1;
    // Field 22, in ticks since the machine started; the name, field 2, may hold blanks and ends with a bracket.
    const QByteArray text = stat.readAll();
    const double started = text.mid(text.lastIndexOf(')') + 2).split(' ').value(19).toDouble();
    return (uptime.readAll().split(' ').value(0).toDouble() - started / double(sysconf(_SC_CLK_TCK))) * 1e3;
}

template <class Counts> QJsonArray arrayOf(const Counts &counts)
{
    QJsonArray array;
    for (const std::int64_t count : counts)
        array.append(qint64(count));
    return array;
}

} // namespace

FrameProbe::FrameProbe(LiveDocument &live, TimelineView &timeline, QString path)
    : m_live(live)
    , m_timeline(timeline)
    , m_path(std::move(path))
{
    m_since.start();
    m_ticks.setInterval(kTickMs);
    connect(&m_ticks, &QTimer::timeout, this, &FrameProbe::look);
    connect(&live, &LiveDocument::sourcesChanged, this, [this] {
        for (const LiveSourceRow &row : m_live.sources()) {
            const QString address = QString::fromStdString(row.status.address.text());
            if (row.status.address.type != live::SourceType::Listener || row.status.address.port == 0
                || m_told.contains(address))
                continue;
            m_told << address;
            std::printf("%s\n", printable(address.toStdString()).c_str());
            std::fflush(stdout);
        }
    });
    m_ticks.start();
    timeline.canvas()->installEventFilter(this);
}

FrameProbe::~FrameProbe()
{
    QFile file(m_path);
    if (!file.open(QIODevice::WriteOnly) || file.write(toJson()) < 0)
        std::fprintf(stderr, "trainyard: %s could not be written\n", printable(m_path.toStdString()).c_str());
}

bool FrameProbe::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Paint && !m_timeline.state().isEmpty()) {
        watched->removeEventFilter(this);
        QTimer::singleShot(0, this, [this] { m_firstGanttMs = ageOfProcessMs(); }); // it is painted by then
    }
    return false;
}

void FrameProbe::look()
{
    const double seconds = double(m_since.elapsed()) * 1e-3;
    if (!m_isWarm && seconds >= kWarmSeconds) {
        m_isWarm = true;
        m_clock.restart();
    }
    std::int64_t dropped = 0;
    for (const Dropped &one : m_live.counts().dropped)
        dropped += one.count;
    m_moments.push_back({ seconds, residentMegabytes(), m_live.counts().events, dropped });
}

QByteArray FrameProbe::toJson() const
{
    const FrameTimes &times = m_clock.times();
    QJsonObject frames { { QStringLiteral("turns"), qint64(times.turns) },
        { QStringLiteral("longest_ms"), times.longestMs }, { QStringLiteral("longest_busy_ms"), times.longestBusyMs },
        { QStringLiteral("busy_s"), times.busySeconds }, { QStringLiteral("by_wall"), arrayOf(times.byWall) },
        { QStringLiteral("by_busy"), arrayOf(times.byBusy) } };
    QJsonArray bounds, moments, sources;
    for (const double bound : FrameTimes::kBounds)
        bounds.append(bound);
    frames.insert(QStringLiteral("bounds_ms"), bounds);
    for (const Moment &one : m_moments)
        moments.append(
            QJsonObject { { QStringLiteral("s"), one.seconds }, { QStringLiteral("resident_mb"), one.megabytes },
                { QStringLiteral("events"), qint64(one.events) }, { QStringLiteral("dropped"), qint64(one.dropped) } });
    for (const LiveSourceRow &row : m_live.sources())
        sources.append(QJsonObject { { QStringLiteral("address"), QString::fromStdString(row.status.address.text()) },
            { QStringLiteral("state"), stateText(row.status, live::unixNow()) },
            { QStringLiteral("bytes"), qint64(row.status.bytes) },
            { QStringLiteral("batches"), qint64(row.status.batches) },
            { QStringLiteral("dropped_bytes"), qint64(row.status.dropped) } });
    const live::StoreCounts &counts = m_live.counts();
    const QJsonObject store { { QStringLiteral("events"), qint64(counts.events) },
        { QStringLiteral("duplicates"), qint64(counts.duplicates) }, { QStringLiteral("aged"), qint64(counts.aged) },
        { QStringLiteral("thinned"), qint64(counts.thinned) } };
    return QJsonDocument(QJsonObject { { QStringLiteral("first_gantt_ms"),
                                           m_firstGanttMs >= 0 ? QJsonValue(m_firstGanttMs) : QJsonValue() },
                             { QStringLiteral("frames"), frames }, { QStringLiteral("memory"), moments },
                             { QStringLiteral("sources"), sources }, { QStringLiteral("store"), store },
                             { QStringLiteral("left_out"), m_live.dropped() },
                             { QStringLiteral("newest_step"), qint64(m_live.newestStep()) } })
        .toJson();
}

} // namespace trainyard
