// SPDX-License-Identifier: GPL-3.0-or-later
// Schedules against an independent implementation (validation/test/pipeline_schedule_golden.json, read in place).
#include "core/schedule/generators.h"
#include "tests/core/iteration/pipelines.h"
#include "tests/support/test_program.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>

#include <cmath>
#include <fstream>
#include <optional>

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
    std::ifstream file(TRAINYARD_SHARED_DIR "/validation/test/pipeline_schedule_golden.json");
    if (!file)
        QSKIP("The reference timelines are not on this machine.");
    m_rows = json::parse(file).at("rows");
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
