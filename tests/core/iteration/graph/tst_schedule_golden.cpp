// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules against timelines that the engine has no part in: three drawn by hand (tests/data/schedules.json), orders
// followed operation by operation below, and those of an independent implementation where they are
// (validation/test/pipeline_schedule_golden.json, read in place).
#include "core/engine/schedule/generators.h"
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>

#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <span>

using namespace pipelines;
using nlohmann::json;
using namespace Qt::StringLiterals;

namespace {

constexpr double kTick = 3e12; // nanoseconds of one unit: thirds of it are whole

std::optional<ScheduleKind> kindOf(const std::string &name)
{
    if (name == "gpipe")
        return ScheduleKind::GPipe;
    if (name == "1f1b")
        return ScheduleKind::OneFOneB;
    if (name == "interleaved-1f1b")
        return ScheduleKind::Interleaved;
    if (name == "breadth-first")
        return ScheduleKind::BreadthFirst;
    if (name == "zb-h1")
        return ScheduleKind::ZbH1;
    if (name == "zb-h2")
        return ScheduleKind::ZbH2;
    if (name.starts_with("zb-v(handcrafted"))
        return ScheduleKind::ZbV;
    if (name == "dualpipe")
        return ScheduleKind::DualPipe;
    if (name == "dualpipe-v")
        return ScheduleKind::DualPipeV;
    return {};
}

Nanoseconds ticks(double units)
{
    return std::llround(units * kTick);
}

/// The reference lays the end of its hand-made ZB-V by the times, which zb-v itself gives to its list scheduler.
Program programOf(ScheduleKind kind, const json &golden)
{
    if (kind != ScheduleKind::ZbV)
        return program(kind, golden["p"], golden["m"], golden["v"]);
    const json &t = golden["per_chunk_times"];
    const ScheduleShape shape { golden["p"], golden["m"], golden["v"], {} };
    const auto stages = static_cast<std::size_t>(shape.devices * shape.chunks);
    ScheduleTimes times;
    times.stages.assign(stages, { ticks(t["t_f"]), ticks(t["t_b_input"]), ticks(t["t_w"]), 0 });
    times.boundaries.assign(stages - 1, ticks(golden["t_comm"]));
    return schedules::zbVByHand(shape, times);
}

const char *nameOf(OpKind kind)
{
    return kind == OpKind::PairedForward ? "FB"
        : kind == OpKind::Forward        ? "F"
        : kind == OpKind::InputGrad      ? "B"
        : kind == OpKind::WeightGrad     ? "W"
                                         : "BW";
}

/// "F 0 3": operation, virtual stage, micro-batch; in two directions "F d0 3", counted from each end.
QString listed(const Program &program, int device, const Op &op)
{
    const int q = program.virtualStage(device, op.chunk), p = program.shape.devices;
    if (program.placement != ChunkPlacement::Bidirectional)
        return u"%1 %2 %3"_s.arg(QLatin1StringView(nameOf(op.kind))).arg(q).arg(op.microBatch);
    return u"%1 %2%3 %4"_s.arg(QLatin1StringView(nameOf(op.kind)), q < p ? u"d"_s : u"u"_s)
        .arg(q % p)
        .arg(q < p ? op.microBatch : op.microBatch - program.shape.microBatches / 2);
}

QStringList listed(const Program &program, int device)
{
    QStringList list;
    bool isPaired = false;
    for (const Op &op : program.order[static_cast<std::size_t>(device)]) {
        const QString text = listed(program, device, op);
        if (isPaired)
            list.last() += text.sliced(2); // the backward of a pair, without its name
        else
            list.append(text);
        isPaired = op.kind == OpKind::PairedForward;
    }
    return list;
}

QStringList listed(const json &operations)
{
    QStringList list;
    for (const json &operation : operations) {
        QStringList words;
        for (const json &word : operation)
            if (word != "True")
                words.append(
                    QString::fromStdString(word.get<std::string>()).remove(QRegularExpression(u"[^A-Za-z0-9]"_s)));
        list.append(words.join(u' '));
    }
    return list;
}

void compare(Nanoseconds ours, double expected)
{
    const double units = static_cast<double>(ours) / kTick;
    if (std::abs(units - expected) > 1e-9 * std::max(1.0, std::abs(expected)))
        QCOMPARE(units, expected);
}

/// An order followed by hand: each operation when its device is free and what it needs is there.
class Followed {
public:
    Followed(const Program &order, const json &times)
        : m_order(order)
        , m_times(times)
        , m_devices(order.order.size())
    {
        for (bool goesOn = true; goesOn;) {
            goesOn = false;
            for (std::size_t device = 0; device < m_devices.size(); ++device)
                while (advance(device))
                    goesOn = true;
        }
    }

    [[nodiscard]] json expected(double kept) const
    {
        json told { { "w_keeps_memory_fraction", kept } };
        double makespan = 0, longest = 0;
        for (std::size_t device = 0; device < m_devices.size(); ++device) {
            const Device &one = m_devices[device];
            if (one.next < m_order.order[device].size())
                qFatal("an order that nobody can follow");
            makespan = std::max(makespan, one.end);
            longest = std::max(longest, one.end - one.start);
            told["stage_start"].push_back(one.start);
            told["stage_end"].push_back(one.end);
            told["stage_busy"].push_back(one.busy);
            told["peak_inflight_chunks_per_stage"].push_back(mostHeld(m_order.order[device], kept));
        }
        told["makespan"] = makespan;
        told["max_stage_span"] = longest;
        return told;
    }

private:
    struct Device {
        std::size_t next = 0;
        double start = -1, end = 0, busy = 0;
    };
    using Ends = std::map<std::pair<int, int>, double>; // of a virtual stage and a micro-batch

    /// When its input is there; empty: it has not been made.
    [[nodiscard]] std::optional<double> ready(const Op &op, int q) const
    {
        if (op.kind == OpKind::WeightGrad)
            return 0;
        const bool isForward = trainyard::isForward(op.kind);
        if (isForward ? m_order.beginsChain(q) : m_order.endsChain(q))
            return isForward ? 0 : m_forwards.at({ q, op.microBatch });
        const Ends &ends = isForward ? m_forwards : m_gradients;
        const auto made = ends.find({ isForward ? q - 1 : q + 1, op.microBatch });
        return made == ends.end() ? std::nullopt : std::optional(made->second);
    }

    bool advance(std::size_t index)
    {
        Device &device = m_devices[index];
        const auto &order = m_order.order[index];
        if (device.next == order.size())
            return false;
        const bool isPair = order[device.next].kind == OpKind::PairedForward;
        const std::span<const Op> ops(&order[device.next], isPair ? 2 : 1);
        double start = device.end;
        for (const Op &op : ops) {
            const auto at = ready(op, m_order.virtualStage(int(index), op.chunk));
            if (!at)
                return false;
            start = std::max(start, *at);
        }
        const double f = m_times["t_f"], b = m_times["t_b_input"], w = m_times["t_w"];
        const double length = isPair     ? m_times["t_FB_overlapped"].get<double>()
            : isForward(ops[0].kind)     ? f
            : makesGradient(ops[0].kind) ? (ops[0].kind == OpKind::Backward ? b + w : b)
                                         : w;
        device.start = device.start < 0 ? start : device.start;
        device.end = start + length;
        device.busy += length;
        device.next += ops.size();
        for (const Op &op : ops)
            if (op.kind != OpKind::WeightGrad)
                (isForward(op.kind) ? m_forwards
                                    : m_gradients)[{ m_order.virtualStage(int(index), op.chunk), op.microBatch }] =
                    device.end;
        return true;
    }

    static double mostHeld(const std::vector<Op> &order, double kept)
    {
        double held = 0, most = 0;
        for (const Op &op : order) {
            held += isForward(op.kind)         ? 1
                : op.kind == OpKind::Backward  ? -1
                : op.kind == OpKind::InputGrad ? kept - 1
                                               : -kept;
            most = std::max(most, held);
        }
        return most;
    }

    const Program &m_order;
    const json &m_times;
    std::vector<Device> m_devices;
    Ends m_forwards, m_gradients;
};

/// A row in the reference's form. `span`: of the device that takes longest, by the schedule's formula.
json ownRow(const char *schedule, int p, int m, int v, json times, std::optional<double> span)
{
    json row { { "schedule", schedule }, { "p", p }, { "m", m }, { "v", v }, { "t_comm", 0 },
        { "per_chunk_times", std::move(times) } };
    const Program order = programOf(*kindOf(schedule), row);
    row["expected"] = Followed(order, row["per_chunk_times"]).expected(splitsBackward(order) ? 1 : 0);
    if (span)
        row["expected"]["max_stage_span"] = *span;
    return row;
}

json ownRows()
{
    std::ifstream file(TRAINYARD_SOURCE_DIR "/tests/data/schedules.json");
    json rows = json::parse(file).at("rows");
    const json whole { { "t_f", 1 }, { "t_b_input", 1 }, { "t_w", 1 }, { "t_FB_overlapped", nullptr } },
        half { { "t_f", 0.5 }, { "t_b_input", 0.5 }, { "t_w", 0.5 }, { "t_FB_overlapped", nullptr } },
        uneven { { "t_f", 1 }, { "t_b_input", 1.25 }, { "t_w", 0.75 }, { "t_FB_overlapped", nullptr } },
        paired { { "t_f", 1 }, { "t_b_input", 1 }, { "t_w", 1 }, { "t_FB_overlapped", 2.5 } };
    const auto add = [&](const char *schedule, int p, int m, int v, const json &times, std::optional<double> span) {
        rows.push_back(ownRow(schedule, p, m, v, times, span));
    };
    add("gpipe", 3, 5, 1, uneven, (5 + 2) * 3.0); // (m + p - 1) (f + b + w)
    add("1f1b", 4, 6, 1, uneven, (6 + 3) * 3.0);
    add("interleaved-1f1b", 2, 4, 2, half, (4 * 2 + 1) * 1.5); // (m v + p - 1) (f + b + w) of a chunk
    add("breadth-first", 2, 4, 2, half, (4 * 2 + 1) * 1.5);
    add("zb-h1", 4, 8, 1, uneven, 8 * 3 + 3 * (1 + 1.25 - 0.75)); // m (f + b + w) + (p - 1) (f + b - w)
    add("zb-h1", 3, 7, 1, whole, 7 * 3 + 2);
    add("zb-h2", 4, 8, 1, uneven, 8 * 3 + 3 * (1 + 1.25 - 2 * 0.75)); // … - 2 w
    add("zb-h2", 3, 7, 1, whole, 7 * 3); // no bubble
    add("zb-v(handcrafted)", 4, 8, 2, whole, 2 * 8 * 3);
    add("dualpipe", 4, 12, 2, paired, {});
    add("dualpipe-v", 4, 10, 2, paired, {});
    return rows;
}

} // namespace

class ScheduleGolden : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void everyRowAgrees_data();
    void everyRowAgrees();

private:
    json m_rows;
};

void ScheduleGolden::initTestCase()
{
    m_rows = ownRows();
    if (std::ifstream file(TRAINYARD_SHARED_DIR "/validation/test/pipeline_schedule_golden.json"); file)
        for (json &row : json::parse(file).at("rows"))
            m_rows.push_back(std::move(row));
}

void ScheduleGolden::everyRowAgrees_data()
{
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const json &row = m_rows[i];
        if (kindOf(row["schedule"].get<std::string>()))
            QTest::addRow("%s p=%d m=%d v=%d (row %zu)", row["schedule"].get<std::string>().c_str(),
                row["p"].get<int>(), row["m"].get<int>(), row["v"].get<int>(), i)
                << static_cast<int>(i);
    }
}

void ScheduleGolden::everyRowAgrees()
{
    QFETCH(int, row);
    const json &golden = m_rows[static_cast<std::size_t>(row)];
    const json &times = golden["per_chunk_times"], &expected = golden["expected"];
    const Program order = programOf(*kindOf(golden["schedule"].get<std::string>()), golden);
    const Nanoseconds backward = ticks(times["t_b_input"]) + ticks(times["t_w"]);
    IterationCosts costs = even(order, { ticks(times["t_f"]), backward, ticks(golden["t_comm"]) });
    for (OpTimes &op : costs.classes.front().ops) {
        op.inputGrad = ticks(times["t_b_input"]);
        op.weightGrad = ticks(times["t_w"]);
    }
    if (const json &pair = times["t_FB_overlapped"]; !pair.is_null())
        std::ranges::fill(costs.classes.front().pairs, ticks(pair));
    const Timeline timeline = run(costs);

    compare(timeline.duration, expected["makespan"]);
    Nanoseconds longest = 0;
    const std::vector<double> peaks = peakInFlight(order, expected["w_keeps_memory_fraction"]);
    for (std::size_t stage = 0; stage < timeline.tracks.size(); ++stage) {
        const Track &track = timeline.tracks[stage];
        compare(timeline.start[track.first], expected["stage_start"][stage]);
        compare(timeline.end[track.last - 1], expected["stage_end"][stage]);
        compare(busy(timeline, track), expected["stage_busy"][stage]);
        longest = std::max(longest, timeline.end[track.last - 1] - timeline.start[track.first]);
        QCOMPARE(peaks[stage] * order.shape.chunks, expected["peak_inflight_chunks_per_stage"][stage].get<double>());
    }
    compare(longest, expected["max_stage_span"]);

    if (!golden.contains("orders"))
        return;
    const bool isGpipe =
        golden["schedule"] == "gpipe"; // last micro-batch first here; the reference's order takes the same time
    for (std::size_t device = 0; device < order.order.size(); ++device) {
        const QStringList ours = listed(order, static_cast<int>(device)), theirs = listed(golden["orders"][device]);
        QCOMPARE(isGpipe ? ours.filter(u"F"_s) : ours, isGpipe ? theirs.filter(u"F"_s) : theirs);
    }
}

TRAINYARD_APPLESS_TEST(ScheduleGolden)
#include "tst_schedule_golden.moc"
