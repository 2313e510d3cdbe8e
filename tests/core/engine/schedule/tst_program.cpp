// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/schedule/program.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>

using namespace trainyard;

namespace {

Program program(ScheduleKind kind, ScheduleShape shape)
{
    auto made = makeProgram(kind, shape);
    if (!made)
        qFatal("%s", toString(made.error()).c_str());
    return std::move(*made);
}

Error fault(ScheduleKind kind, const ScheduleShape &shape)
{
    const auto made = makeProgram(kind, shape);
    return made ? Error { ErrorCode::Internal, "", "no fault", "" } : made.error();
}

/// "F0 F1 B0 …", with the chunk as in "F1.0" where there are several.
QString text(const Program &order, int device)
{
    QStringList ops;
    for (const Op &op : order.order[static_cast<std::size_t>(device)])
        ops << (op.kind == OpKind::Forward ? "F" : "B")
                + (order.shape.chunks > 1 ? QString::number(op.chunk) + "." : QString())
                + QString::number(op.microBatch);
    return ops.join(' ');
}

} // namespace

class TestProgram : public QObject {
    Q_OBJECT
private slots:
    void gpipeRunsAllForwardsThenAllBackwardsInReverse();
    void oneFOneBWarmsUpWithAsManyForwardsAsStagesFollow();
    void aLimitOnOneStageShortensTheWarmUpOfThoseBehindIt();
    void interleavedDealsGroupsThroughTheChunks();
    void everyOperationAppearsExactlyOnce_data();
    void everyOperationAppearsExactlyOnce();
    void peakInFlightFollowsItsFormula();
    void virtualStagesAndDevicesAreInverse();
    void theLastStageIsSparedWhatItStillHolds();
    void brokenRulesSayWhatWouldBeRight();
};

void TestProgram::gpipeRunsAllForwardsThenAllBackwardsInReverse()
{
    const Program order = program(ScheduleKind::GPipe, { 2, 3, 1, {} });
    QCOMPARE(text(order, 0), "F0 F1 F2 B2 B1 B0");
    QCOMPARE(text(order, 1), "F0 F1 F2 B2 B1 B0");
}

void TestProgram::oneFOneBWarmsUpWithAsManyForwardsAsStagesFollow()
{
    const Program order = program(ScheduleKind::OneFOneB, { 3, 4, 1, {} });
    QCOMPARE(text(order, 0), "F0 F1 F2 B0 F3 B1 B2 B3");
    QCOMPARE(text(order, 1), "F0 F1 B0 F2 B1 F3 B2 B3");
    QCOMPARE(text(order, 2), "F0 B0 F1 B1 F2 B2 F3 B3");
    QCOMPARE(text(program(ScheduleKind::OneFOneB, { 4, 1, 1, {} }), 0), "F0 B0");
}

void TestProgram::aLimitOnOneStageShortensTheWarmUpOfThoseBehindIt()
{
    const Program order = program(ScheduleKind::OneFOneB, { 4, 8, 1, { 4, 1, 3, 3 } });
    const std::vector<double> expected { 4, 1, 1,
        1 }; // stage 2 gets its second forward after the first backward of stage 1
    QCOMPARE(peakInFlight(order), expected);
    QCOMPARE(peakInFlight(program(ScheduleKind::OneFOneB, { 4, 8, 1, { 2 } })), (std::vector<double> { 2, 2, 2, 1 }));
}

void TestProgram::interleavedDealsGroupsThroughTheChunks()
{
    const Program order = program(ScheduleKind::Interleaved, { 2, 4, 2, {} });
    QCOMPARE(text(order, 0), "F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 B1.2 B1.3 B0.2 B0.3");
    QCOMPARE(text(order, 1), "F0.0 F0.1 F1.0 B1.0 F1.1 B1.1 F0.2 B0.0 F0.3 B0.1 F1.2 B1.2 F1.3 B1.3 B0.2 B0.3");
}

void TestProgram::everyOperationAppearsExactlyOnce_data()
{
    QTest::addColumn<ScheduleKind>("kind");
    QTest::addColumn<int>("p");
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("v");
    for (const int p : { 1, 2, 3, 8 })
        for (const int m : { 1, 2, 8, 24 })
            for (const int v : { 1, 2, 3 }) {
                const auto row = [&](const char *name, ScheduleKind kind) {
                    QTest::addRow("%s %d %d %d", name, p, m, v) << kind << p << m << v;
                };
                if (v == 1) {
                    row("gpipe", ScheduleKind::GPipe);
                    row("1f1b", ScheduleKind::OneFOneB);
                } else if (m % p == 0) {
                    row("interleaved", ScheduleKind::Interleaved);
                }
                row("breadth-first", ScheduleKind::BreadthFirst);
            }
}

void TestProgram::everyOperationAppearsExactlyOnce()
{
    QFETCH(ScheduleKind, kind);
    QFETCH(int, p);
    QFETCH(int, m);
    QFETCH(int, v);
    const Program order = program(kind, { p, m, v, {} });
    QCOMPARE(static_cast<int>(order.order.size()), p);
    for (const std::vector<Op> &ops : order.order) {
        std::map<std::pair<int, int>, int> forwards, backwards;
        for (const Op &op : ops) {
            auto &seen = op.kind == OpKind::Forward ? forwards : backwards;
            ++seen[{ op.chunk, op.microBatch }];
            QVERIFY((forwards[{ op.chunk, op.microBatch }] >= backwards[{ op.chunk, op.microBatch }]));
        }
        QCOMPARE(ops.size(), static_cast<std::size_t>(2 * m * v));
        QCOMPARE(forwards.size(), static_cast<std::size_t>(m * v));
        QCOMPARE(backwards.size(), static_cast<std::size_t>(m * v));
    }
}

void TestProgram::peakInFlightFollowsItsFormula()
{
    for (const int p : { 1, 2, 4, 8 })
        for (const int m : { 8, 16, 64 })
            for (int i = 0; i < p; ++i) {
                const auto at = [&](ScheduleKind kind, int v) {
                    return peakInFlight(program(kind, { p, m, v, {} }))[static_cast<std::size_t>(i)];
                };
                QCOMPARE(at(ScheduleKind::GPipe, 1), m); // m
                QCOMPARE(at(ScheduleKind::BreadthFirst, 2), m); // m
                QCOMPARE(at(ScheduleKind::OneFOneB, 1), std::min(m, p - i)); // min(m, p - i)
                for (const int v : { 2, 3 }) {
                    const double chunks = 2 * (p - 1 - i) + (v - 1) * p + 1; // (2(p-1-i) + (v-1)p + 1) / v, at most m
                    QCOMPARE(at(ScheduleKind::Interleaved, v), std::min<double>(m, chunks / v));
                }
            }
}

void TestProgram::virtualStagesAndDevicesAreInverse()
{
    for (const ChunkPlacement placement : { ChunkPlacement::Loop, ChunkPlacement::V }) {
        const FixedOrder order { { 5, 1, 4, {} }, placement, {} };
        for (int q = 0; q < order.virtualStages(); ++q)
            QCOMPARE(order.virtualStage(order.deviceOf(q), order.chunkOf(q)), q);
    }
    const FixedOrder v { { 4, 1, 2, {} }, ChunkPlacement::V, {} };
    QCOMPARE(v.virtualStage(3, 1), 4); // the way back begins where the way there ends
    QCOMPARE(v.virtualStage(0, 1), 7);
}

void TestProgram::theLastStageIsSparedWhatItStillHolds()
{
    const auto recomputed = [](const Program &order, int device) {
        return static_cast<int>(std::ranges::count_if(order.order[static_cast<std::size_t>(device)], &Op::recomputes));
    };
    const Program oneFOneB = program(ScheduleKind::OneFOneB, { 3, 8, 1, {} });
    QCOMPARE(recomputed(oneFOneB, 0), 8);
    QCOMPARE(recomputed(oneFOneB, 2), 0);
    const Program gpipe = program(ScheduleKind::GPipe, { 3, 8, 1, {} });
    QCOMPARE(recomputed(gpipe, 1), 8);
    QCOMPARE(recomputed(gpipe, 2), 7);
    const Program interleaved = program(ScheduleKind::Interleaved, { 4, 8, 2, {} });
    QCOMPARE(recomputed(interleaved, 0), 16);
    QCOMPARE(recomputed(interleaved, 3), 8); // its first chunk only
}

void TestProgram::brokenRulesSayWhatWouldBeRight()
{
    const Error uneven = fault(ScheduleKind::Interleaved, { 4, 10, 2, {} });
    QCOMPARE(uneven.code, ErrorCode::BadValue);
    QCOMPARE(QString::fromStdString(uneven.right), "8 or 12 micro-batches");
    QCOMPARE(QString::fromStdString(fault(ScheduleKind::Interleaved, { 4, 8, 1, {} }).where),
        "parallelism.virtual_pipeline");
    QCOMPARE(QString::fromStdString(fault(ScheduleKind::GPipe, { 4, 8, 2, {} }).where), "parallelism.virtual_pipeline");
    QCOMPARE(fault(ScheduleKind::OneFOneB, { 0, 8, 1, {} }).code, ErrorCode::BadValue);
    QCOMPARE(fault(ScheduleKind::OneFOneB, { 4, 0, 1, {} }).code, ErrorCode::BadValue);
    QCOMPARE(fault(ScheduleKind::OneFOneB, { 4, 8, 1, { 4, 3 } }).code, ErrorCode::BadValue);
    QCOMPARE(fault(ScheduleKind::OneFOneB, { 4, 8, 1, { 0 } }).code, ErrorCode::BadValue);
    QVERIFY(fault(ScheduleKind::GPipe, { 4, 8, 1, { 6 } }).what.contains("8 micro-batches in flight on stage 1"));
    QVERIFY(makeProgram(ScheduleKind::GPipe, { 4, 8, 1, { 8 } }).has_value());
    QCOMPARE(QString::fromStdString(fault(ScheduleKind::Atlas, { 4, 8, 2, {} }).where), "parallelism.virtual_pipeline");
}

TRAINYARD_APPLESS_TEST(TestProgram)
#include "tst_program.moc"
