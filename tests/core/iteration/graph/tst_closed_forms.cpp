// SPDX-License-Identifier: GPL-3.0-or-later
// Pipelines whose iteration time is known in closed form.
#include "tests/core/iteration/graph/pipelines.h"
#include "tests/support/test_program.h"

#include <array>
#include <cmath>

using namespace pipelines;

class ClosedForms : public QObject {
    Q_OBJECT
private slots:
    void gpipeAndOneFOneBHaveTheSameBubble();
    void chunksDivideTheBubble();
    void aBubbleShrinksWithMoreMicroBatches();
    void gpipeOverTheWanIsExact_data();
    void gpipeOverTheWanIsExact();
    void referenceRowsOfThreeDatacenters_data();
    void referenceRowsOfThreeDatacenters();
};

void ClosedForms::gpipeAndOneFOneBHaveTheSameBubble()
{
    // T = (m + p - 1)(f + b)
    for (const int p : { 1, 2, 3, 8, 64 })
        for (const int m : { 1, 2, 7, 64 })
            for (const ScheduleKind kind : { ScheduleKind::GPipe, ScheduleKind::OneFOneB })
                QCOMPARE(
                    run(even(program(kind, p, m), { 113, 227, 0 })).duration, Nanoseconds { m + p - 1 } * (113 + 227));
}

void ClosedForms::chunksDivideTheBubble()
{
    // T = m v (f + b) + (p - 1)(f + b), f and b of one chunk
    for (const int p : { 2, 4, 8 })
        for (const int v : { 2, 3, 4 })
            for (const int groups : { 1, 2, 5 })
                for (const ScheduleKind kind : { ScheduleKind::Interleaved, ScheduleKind::BreadthFirst }) {
                    const int m = groups * p;
                    QCOMPARE(run(even(program(kind, p, m, v), { 113, 227, 0 })).duration,
                        Nanoseconds { m * v + p - 1 } * (113 + 227));
                }
}

void ClosedForms::aBubbleShrinksWithMoreMicroBatches()
{
    double before = 1;
    for (const int m : { 4, 8, 16, 32, 64 }) {
        const Timeline timeline = run(even(program(ScheduleKind::OneFOneB, 4, m), { 100, 200, 0 }));
        // bubble share = (p - 1) / (m + p - 1)
        const double bubble =
            1 - static_cast<double>(busy(timeline, timeline.tracks[0])) / static_cast<double>(timeline.duration);
        QCOMPARE(bubble, 3.0 / (m + 3));
        QVERIFY(bubble < before);
        before = bubble;
    }
}

void ClosedForms::gpipeOverTheWanIsExact_data()
{
    QTest::addColumn<int>("p");
    QTest::addColumn<int>("m");
    QTest::addColumn<QList<int>>("cuts");
    QTest::addColumn<qlonglong>("s");
    QTest::addColumn<qlonglong>("recompute");
    for (const qlonglong s : { 100, 1500, 5000 })
        for (const qlonglong recompute : { 0, 700 }) {
            QTest::addRow("one cut, s=%lld r=%lld", s, recompute) << 4 << 6 << QList { 1 } << s << recompute;
            QTest::addRow("two cuts, s=%lld r=%lld", s, recompute) << 6 << 16 << QList { 1, 3 } << s << recompute;
            QTest::addRow("few micro-batches, s=%lld r=%lld", s, recompute)
                << 6 << 2 << QList { 0, 4 } << s << recompute;
            QTest::addRow("one micro-batch, s=%lld r=%lld", s, recompute) << 3 << 1 << QList { 0 } << s << recompute;
        }
}

void ClosedForms::gpipeOverTheWanIsExact()
{
    QFETCH(int, p);
    QFETCH(int, m);
    QFETCH(QList<int>, cuts);
    QFETCH(qlonglong, s);
    QFETCH(qlonglong, recompute);
    const Nanoseconds f = 1000, b = 2037, latency = 203;
    IterationCosts costs = even(program(ScheduleKind::GPipe, p, m), { f, b + recompute, 0 });
    for (OpTimes &times : costs.classes[0].ops)
        times.recompute = recompute;
    for (const int cut : cuts)
        wan(costs.classes[0], cut, s, latency);
    // T = p f + X(s + l) + (m-1) max(f, s) + p(r + b) + X(s + l) + (m-1) max(r + b, s) - r
    const Nanoseconds crossings = cuts.size() * (s + latency);
    const Nanoseconds expected = p * f + crossings + (m - 1) * std::max<Nanoseconds>(f, s) + p * (recompute + b)
        + crossings + (m - 1) * std::max<Nanoseconds>(recompute + b, s) - recompute;
    QCOMPARE(run(costs).duration, expected);
}

void ClosedForms::referenceRowsOfThreeDatacenters_data()
{
    // Iteration seconds of two independent simulators: stages of 1 s forward, 2.0371 s backward and 1.0193 s recompute,
    // one-way latency 0.20346 s, 1.0117 C seconds on a node pair.
    QTest::addColumn<std::array<int, 4>>("shape"); // p, m, C, datacenters
    QTest::addColumn<double>("gpipe");
    QTest::addColumn<double>("oneFOneB");
    QTest::addColumn<double>("varuna"); // of one simulator
    const auto row = [](int p, int m, int c, int datacenters, double gpipe, double oneFOneB, double varuna) {
        QTest::addRow("p=%d m=%d C=%d in %d", p, m, c, datacenters)
            << std::array { p, m, c, datacenters } << gpipe << oneFOneB << varuna;
    };
    row(6, 4, 2, 3, 47.47, 47.85, 46.44);
    row(6, 4, 4, 3, 64.60, 61.99, 58.58);
    row(6, 16, 2, 3, 108.42, 123.25, 103.31);
    row(6, 16, 4, 3, 161.72, 161.67, 122.46);
    row(12, 60, 2, 3, 356.27, 419.60, 316.41);
    row(12, 60, 4, 3, 542.18, 543.00, 372.76);
    row(4, 4, 4, 2, 47.99, 45.38, 41.97);
}

void ClosedForms::referenceRowsOfThreeDatacenters()
{
    using Shape = std::array<int, 4>;
    QFETCH(Shape, shape);
    QFETCH(double, gpipe);
    QFETCH(double, oneFOneB);
    QFETCH(double, varuna);
    const auto [p, m, c, datacenters] = shape;
    const Nanoseconds recompute = 1'019'300'000;
    const auto seconds = [&, p = p, m = m, c = c, n = datacenters](ScheduleKind kind) {
        IterationCosts costs = even(program(kind, p, m), { kSecond, 2'037'100'000 + recompute, 0 });
        for (OpTimes &times : costs.classes[0].ops)
            times.recompute = recompute;
        for (int cut = 1; cut < n; ++cut)
            wan(costs.classes[0], p * cut / n - 1, c * Nanoseconds { 1'011'700'000 }, 203'460'000);
        return static_cast<double>(run(costs).duration) * 1e-9;
    };
    QVERIFY2(std::abs(seconds(ScheduleKind::GPipe) - gpipe) <= 0.005001,
        qPrintable(QString::number(seconds(ScheduleKind::GPipe))));
    QVERIFY2(std::abs(seconds(ScheduleKind::Varuna) - varuna) <= 0.005001,
        qPrintable(QString::number(seconds(ScheduleKind::Varuna))));
    QVERIFY2(std::abs(seconds(ScheduleKind::OneFOneB) - oneFOneB) <= 0.005001,
        qPrintable(QString::number(seconds(ScheduleKind::OneFOneB))));
}

TRAINYARD_APPLESS_TEST(ClosedForms)
#include "tst_closed_forms.moc"
