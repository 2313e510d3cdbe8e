// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels by name and shape, and what became of them: sums that can be added up by hand.
#include "core/runs/profile/kernel_table.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/core/runs/telemetry/trace_texts.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using trainyard::test::SmallRecording;
using enum RecordedWork;

namespace {

constexpr double kMicro = 1000;

struct Kind {
    const char *name;
    int count;
    Moment microseconds; // of each
};

Recording madeOf(const std::vector<Kind> &kinds)
{
    SmallRecording small;
    const auto rank = small.rank(0);
    Moment at = 0;
    for (const Kind &kind : kinds)
        for (int i = 0; i < kind.count; ++i, at += kind.microseconds)
            rank.span(Compute, at, at + kind.microseconds, -1, 7, kind.name);
    return small.m_recording;
}

const KernelDifference *rowOf(const KernelDifferences &all, std::string_view name)
{
    for (const KernelDifference &row : all.rows)
        if (row.name == name)
            return &row;
    return nullptr;
}

} // namespace

class TestKernelTable : public QObject {
    Q_OBJECT
private slots:
    void theLongestKernelIsFirst()
    {
        SmallRecording small;
        small.rank(0)
            .span(Compute, 0, 10, -1, 7, "gemm")
            .span(Compute, 10, 24, -1, 7, "gemm")
            .span(Compute, 24, 27, -1, 7, "add");
        small.rank(1)
            .span(Compute, 0, 6, -1, 7, "gemm")
            .span(Communication, 2, 42, -1, 24, "reduce")
            .span(Annotation, 0, 100, -1, 9, "step");
        const KernelTable table = kernelTable(small.m_recording);
        QCOMPARE(table.rows.size(), std::size_t(3));
        QCOMPARE(table.rows[0].name, std::string("reduce"));
        QCOMPARE(table.rows[1], (KernelRow { "gemm", "", Compute, 3, 30 * kMicro, 6000, 14000 }));
        QCOMPARE(table.rows[2].total, 3 * kMicro);
        QCOMPARE(table.total, 73 * kMicro);
        QCOMPARE(table.kinds[std::size_t(Compute)], (KernelTable::Kind { 4, 33 * kMicro }));
        QCOMPARE(table.kinds[std::size_t(Communication)], (KernelTable::Kind { 1, 40 * kMicro }));
        QCOMPARE(table.ranks, std::int64_t(2));
        QCOMPARE(table.rankSteps, std::int64_t(2)); // of a rank that tells none, one
    }

    void kernelsOfOneNameAreToldApartByTheirGridAndBlock()
    {
        const auto shaped = [](const char *start, const char *grid) {
            return testing::kernel(
                "gemm", start, "5", "1", R"("grid": )" + std::string(grid) + R"(, "block": [128,1,1])");
        };
        const auto recording = testing::readText("rank0.json",
            testing::trace({ testing::kernel("copy", "90", "1", "9"), shaped("100", "[4, 1, 1]"),
                shaped("110", "[4,1,1]"), shaped("120", "[8, 2, 1]"), testing::kernel("gemm", "130", "5", "2") }));
        QVERIFY(recording.has_value());
        const KernelTable table = kernelTable(*recording);
        QCOMPARE(table.rows.size(), std::size_t(4));
        QCOMPARE(table.rows[0].shape, std::string("[4, 1, 1] × [128, 1, 1]"));
        QCOMPARE(table.rows[0].count, std::int64_t(2));
        QCOMPARE(table.rows[1].shape, std::string()); // nobody tells it
        QCOMPARE(table.rows[2].shape, std::string("[8, 2, 1] × [128, 1, 1]"));
        QCOMPARE(table.rows[3].name, std::string("copy"));
        const KernelTable byName = kernelTable(*recording, false);
        QCOMPARE(byName.rows.size(), std::size_t(2));
        QCOMPARE(byName.rows[0].count, std::int64_t(4));
    }

    /// 4 × 10 → 5 × 12: one more at 10, and 5 × 2 longer.
    void aDifferenceIsOfNumberAndOfLength()
    {
        const KernelTable before = kernelTable(
                              madeOf({ { "gemm", 4, 10 }, { "old", 2, 5 }, { "add", 3, 4 }, { "mul", 2, 9 } })),
                          after = kernelTable(
                              madeOf({ { "gemm", 5, 12 }, { "new", 1, 7 }, { "add", 6, 4 }, { "mul", 2, 8 } }));
        const KernelDifferences all = kernelDifferences(before, after);
        QCOMPARE(all.rows.size(), std::size_t(5));
        const KernelDifference &gemm = *rowOf(all, "gemm");
        QCOMPARE(gemm.change, KernelChange::Longer);
        QCOMPARE(gemm.byCount, 10 * kMicro);
        QCOMPARE(gemm.byMean, 10 * kMicro);
        QCOMPARE(rowOf(all, "old")->change, KernelChange::Gone);
        QCOMPARE(rowOf(all, "old")->difference(), -10 * kMicro);
        QCOMPARE(rowOf(all, "new")->change, KernelChange::New);
        QCOMPARE(rowOf(all, "new")->byCount, 7 * kMicro);
        QCOMPARE(rowOf(all, "add")->change, KernelChange::Same); // of which there are more
        QCOMPARE(rowOf(all, "add")->byCount, 12 * kMicro);
        QCOMPARE(rowOf(all, "mul")->change, KernelChange::Shorter);
        QCOMPARE(rowOf(all, "mul")->byMean, -2 * kMicro);
        QCOMPARE(all.rows[0].name, std::string("gemm"));
        QCOMPARE(all.after - all.before, (60 + 7 + 24 + 16 - 40 - 10 - 12 - 18) * kMicro);
    }

    /// The same two steps in one run, and one of them in the other.
    void perStepARunOfTwiceTheLengthIsTheSame()
    {
        const auto run = [](int steps) {
            SmallRecording small;
            const auto rank = small.rank(0);
            for (int step = 0; step < steps; ++step)
                rank.span(Compute, 100 * step, 100 * step + 30, -1, 7, "gemm").step(step, 100 * step, 100 * step + 100);
            return kernelTable(small.m_recording);
        };
        const KernelDifferences summed = kernelDifferences(run(1), run(2)),
                                perStep = kernelDifferences(run(1), run(2), true);
        QCOMPARE(summed.rows[0].difference(), 30 * kMicro);
        QCOMPARE(perStep.rows[0].difference(), 0.0);
        QCOMPARE(perStep.rows[0].countAfter, 1.0);
    }

    void differencesConserveWhatTheRunsDifferBy()
    {
        std::mt19937 random(5);
        for (int trial = 0; trial < 100; ++trial) {
            const auto draw = [&](double &sum) {
                static constexpr std::array kNames { "a", "b", "c", "d", "e", "f" };
                std::vector<Kind> kinds;
                for (const char *name : kNames)
                    if (random() % 3 > 0)
                        kinds.push_back({ name, 1 + int(random() % 5), 1 + Moment(random() % 50) });
                kinds.push_back({ "g", 1, 1 });
                for (const Kind &kind : kinds)
                    sum += kind.count * double(kind.microseconds) * kMicro;
                return kernelTable(madeOf(kinds));
            };
            double first = 0, second = 0, told = 0, parts = 0;
            const KernelTable before = draw(first), after = draw(second);
            const KernelDifferences all = kernelDifferences(before, after);
            for (const KernelDifference &row : all.rows) {
                told += row.difference();
                parts += row.byCount + row.byMean;
            }
            QCOMPARE(all.before, first);
            QCOMPARE(all.after, second);
            QVERIFY(std::abs(told - (second - first)) < 1e-6);
            QVERIFY(std::abs(parts - (second - first)) < 1e-6);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestKernelTable)
#include "tst_kernel_table.moc"
