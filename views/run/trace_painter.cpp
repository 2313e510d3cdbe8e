// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/trace_painter.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "views/run/run_text.h"
#include "views/theme/recorded_colors.h"
#include "views/theme/theme.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

constexpr int kPixelsApart = 4; // of spans that are told apart, on average
constexpr int kLeastName = 24; // pixels of a bar with a name in it

QString workText(RecordedWork work)
{
    switch (work) {
    case RecordedWork::Compute:
        return runText("compute");
    case RecordedWork::Communication:
        return runText("communication");
    case RecordedWork::Copy:
        return runText("copy");
    case RecordedWork::Wait:
        return runText("wait");
    case RecordedWork::HostCall:
        return runText("host call");
    case RecordedWork::HostOperator:
        return runText("host operator");
    case RecordedWork::Annotation:
        return runText("annotation");
    case RecordedWork::Other:
        break;
    }
    return runText("other work");
}

QString nameOf(const TraceRows &rows, std::size_t row, std::size_t span)
{
    const TraceRow &own = rows.rows()[row];
    const RecordedSpans &spans = rows.recording().ranks[own.rank].streams[own.stream].spans;
    return foreignText(QString::fromStdString(rows.recording().names[spans.name[rows.spanOf(row, span)]]));
}

class TracePainter {
public:
    TracePainter(QPainter &painter, const TraceState &state, QSize size)
        : m_painter(painter)
        , m_state(state)
        , m_size(size)
        , m_tracks(TraceState::tracksOf(size))
    {
        for (int work = 0; work < kRecordedWorkCount; ++work)
            m_colors[std::size_t(work)] = recordedColor(RecordedWork(work));
    }

    void paint()
    {
        m_painter.fillRect(QRect(QPoint(), m_size), theme().panel);
        if (!m_state.rows || m_state.range.isEmpty() || m_tracks.width() <= 0)
            return;
        paintRuler();
        m_painter.setClipRect(QRect(0, m_tracks.top(), m_size.width(), m_tracks.height()));
        const int first = m_state.scroll / TraceState::kRow;
        for (int row = first; row < m_state.rowCount(); ++row) {
            const int top = m_tracks.top() + row * TraceState::kRow - m_state.scroll;
            if (top > m_size.height())
                break;
            paintRow(std::size_t(row), { m_tracks.left(), top + 1, m_tracks.width(), TraceState::kRow - 2 });
        }
    }

private:
    void paintRuler()
    {
        m_painter.setFont(uiFont(-2));
        const Nanoseconds step = tickStep(m_state.range, m_tracks.width(), kTickDistance);
        const TimeInterval shown { m_state.range.begin - m_state.whole.begin, m_state.range.end - m_state.whole.begin };
        for (const Nanoseconds time : ticks(shown, step)) {
            const int x = int(timeToX(time, shown, m_tracks.left(), m_tracks.width()));
            m_painter.setPen(theme().grid);
            m_painter.drawLine(x, TraceState::kRuler - 4, x, m_size.height());
            m_painter.setPen(theme().textMuted);
            m_painter.drawText(QRect(x + 3, 0, int(kTickDistance), TraceState::kRuler - 4),
                Qt::AlignLeft | Qt::AlignVCenter, tickLabel(time, step, m_state.whole.length()));
        }
    }

    void paintRow(std::size_t row, const QRect &lane)
    {
        m_painter.setFont(uiFont(-2));
        m_painter.setPen(theme().text);
        const QRect label(4, lane.top(), TraceState::kLabels - 8, lane.height());
        m_painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
            m_painter.fontMetrics().elidedText(traceLabel(*m_state.rows, row), Qt::ElideMiddle, label.width()));
        m_painter.fillRect(lane, recordedIdle());
        const auto [first, last] = m_state.rows->within(row, m_state.range.begin, m_state.range.end);
        if (last - first > std::size_t(lane.width() / kPixelsApart))
            paintColumns(row, lane);
        else
            for (std::size_t span = first; span < last; ++span)
                paintSpan(row, span, lane);
        if (m_state.hovered && m_state.hovered->first == row) {
            m_painter.setPen(theme().accent);
            m_painter.drawRect(barOf(row, m_state.hovered->second, lane).adjusted(0, 0, -1, -1));
        }
    }

    void paintColumns(std::size_t row, const QRect &lane)
    {
        const std::vector<WorkTimes> times =
            m_state.rows->timesOf(row, m_state.range.begin, m_state.range.end, lane.width());
        const double column = double(m_state.range.length()) / lane.width();
        const QColor idle = recordedIdle();
        for (std::size_t x = 0; x < times.size(); ++x) {
            double red = 0, green = 0, blue = 0, left = 1;
            for (std::size_t work = 0; work < times[x].size(); ++work) {
                const double share = std::clamp(double(times[x][work]) / column, 0.0, left);
                left -= share;
                red += share * m_colors[work].redF();
                green += share * m_colors[work].greenF();
                blue += share * m_colors[work].blueF();
            }
            if (left >= 1)
                continue;
            m_painter.fillRect(QRect(lane.left() + int(x), lane.top(), 1, lane.height()),
                QColor::fromRgbF(float(std::min(1.0, red + left * idle.redF())),
                    float(std::min(1.0, green + left * idle.greenF())),
                    float(std::min(1.0, blue + left * idle.blueF()))));
        }
    }

    [[nodiscard]] QRect barOf(std::size_t row, std::size_t span, const QRect &lane) const
    {
        const auto place = [&](Moment at) {
            return std::clamp(timeToX(at, m_state.range, lane.left(), lane.width()), double(lane.left()),
                double(lane.left() + lane.width()));
        };
        const int left = int(place(m_state.rows->startOf(row, span))),
                  right = int(place(m_state.rows->endOf(row, span)));
        return { left, lane.top(), std::max(1, right - left), lane.height() };
    }

    void paintSpan(std::size_t row, std::size_t span, const QRect &lane)
    {
        const QRect bar = barOf(row, span, lane);
        const QColor fill = m_colors[std::size_t(m_state.rows->workOf(row, span))];
        m_painter.fillRect(bar.width() > 2 ? bar.adjusted(0, 0, -1, 0) : bar, fill);
        if (bar.width() < kLeastName)
            return;
        m_painter.setPen(fill.lightnessF() > 0.55F ? Qt::black : Qt::white);
        m_painter.drawText(bar.adjusted(3, 0, -3, 0), Qt::AlignLeft | Qt::AlignVCenter,
            m_painter.fontMetrics().elidedText(
                nameOf(*m_state.rows, row, span), Qt::ElideRight, std::max(0, bar.width() - 6)));
    }

    QPainter &m_painter;
    const TraceState &m_state;
    const QSize m_size;
    const QRect m_tracks;
    std::array<QColor, kRecordedWorkCount> m_colors;
};

} // namespace

int TraceState::rowAt(QSize size, int y) const
{
    const QRect tracks = tracksOf(size);
    if (y < tracks.top() || y >= size.height())
        return -1;
    const int row = (y - tracks.top() + scroll) / kRow;
    return row < rowCount() ? row : -1;
}

std::optional<std::pair<std::size_t, std::size_t>> TraceState::spanAt(QSize size, QPoint point) const
{
    const QRect tracks = tracksOf(size);
    const int row = rowAt(size, point.y());
    if (row < 0 || point.x() < tracks.left() || range.isEmpty())
        return std::nullopt;
    const auto moment = [&](double x) { return xToTime(x, range, tracks.left(), tracks.width()); };
    if (const auto span = rows->at(std::size_t(row), moment(point.x() + 0.5)))
        return std::pair(std::size_t(row), *span);
    const auto [first, last] = rows->within(std::size_t(row), moment(point.x()), moment(point.x() + 1));
    return first < last ? std::optional(std::pair(std::size_t(row), first)) : std::nullopt;
}

QString traceLabel(const TraceRows &rows, std::size_t row)
{
    const TraceRow &own = rows.rows()[row];
    if (own.level > 0)
        return {};
    const RankRecording &rank = rows.recording().ranks[own.rank];
    const RecordedStream &stream = rank.streams[own.stream];
    const QString of = rank.rank >= 0 ? runText("rank %1").arg(rank.rank) : runText("rank ?");
    const QString what = !stream.label.empty() ? foreignText(QString::fromStdString(stream.label), 60)
        : stream.isGpu                         ? runText("stream %1").arg(stream.stream)
                                               : runText("thread %1").arg(stream.stream);
    return of + QStringLiteral(", ") + what;
}

QString traceTip(const TraceRows &rows, std::size_t row, std::size_t span)
{
    const TraceRow &own = rows.rows()[row];
    const RecordedSpans &spans = rows.recording().ranks[own.rank].streams[own.stream].spans;
    const std::uint32_t number = rows.spanOf(row, span);
    const auto seconds = [](std::int64_t nanoseconds) { return formatSeconds(double(nanoseconds) * 1e-9); };
    QStringList lines {
        nameOf(rows, row, span), workText(rows.workOf(row, span)),
        runText("%1, from %2 on").arg(seconds(spans.duration[number]), seconds(rows.startOf(row, span) - rows.begin()))
    };
    if (number < spans.launchedAt.size() && spans.launchedAt[number] != kNoMoment)
        lines << runText("launched %1 before").arg(seconds(spans.start[number] - spans.launchedAt[number]));
    if (number < spans.shape.size() && spans.shape[number] != kNoIndex)
        lines << runText("grid × block: %1")
                     .arg(foreignText(QString::fromStdString(rows.recording().names[spans.shape[number]])));
    return lines.join(u'\n');
}

void paintTrace(QPainter &painter, const TraceState &state, QSize size)
{
    TracePainter(painter, state, size).paint();
}

} // namespace trainyard
