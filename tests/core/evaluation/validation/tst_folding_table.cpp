// SPDX-License-Identifier: GPL-3.0-or-later
// The strategies of MoE Parallel Folding (arXiv 2504.14960), five for each of four models on H100: which is faster than
// which. What the paper does not state is guessed, and named, in resources/validation/moe_parallel_folding.json.
#include "core/evaluation/validation/rows.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <array>
#include <map>
#include <optional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const char *const kStrategies[] = { "FSDP", "FSDP and EP", "TP, EP and DP", "5D", "folded" };
constexpr double kTie = 0.05; // of MFU: pairs that lie nearer may come out either way

/// MFU in percent as published, in the order of kStrategies; 0: out of memory.
const std::map<std::string, std::array<double, 5>> kPublished = {
    { "8x22B", { 4.3, 23.4, 36.6, 46.3, 49.3 } },
    { "8x70B", { 0, 19.6, 0, 38.8, 41.6 } },
    { "Qwen2 57B", { 9.9, 25.4, 23.1, 35.3, 39.0 } },
    { "G8T8", { 2.2, 9.0, 8.7, 17.1, 28.8 } },
};

PlanPtr planOf(const std::string &id)
{
    for (const RowSet &set : builtinRows())
        if (set.source == "moe_parallel_folding")
            for (const ValidationRow &row : set.rows)
                if (row.id == id)
                    return row.plan;
    return nullptr;
}

/// Of the two rows that ran out of memory there is no plan: as those of the other models, on the GPUs of this one.
Plan outOfMemory(const std::string &strategy)
{
    Plan plan = *planOf("8x22B, " + strategy);
    const Plan other = *planOf("8x70B, 5D");
    plan.cluster = other.cluster;
    plan.workload = other.workload;
    if (strategy == "TP, EP and DP")
        plan.parallelism.tensor = plan.parallelism.expertTensor = 8; // the tensor degree of its other rows
    return plan;
}

/// Model FLOPs are the same in a column, so the order of the iterations is that of MFU.
std::optional<double> iteration(const Plan &plan)
{
    const EvaluationPtr evaluation = evaluated(plan);
    return evaluation->feasible() ? evaluation->metrics.iterationTime : std::nullopt;
}

} // namespace

class TestFoldingTable : public QObject {
    Q_OBJECT

private slots:
    void strategiesComeInThePublishedOrder_data();
    void strategiesComeInThePublishedOrder();
    void foldingIsFasterAtEveryNumberOfGpus();
    void moreGpusOnOneBatchUseThemLess();
};

void TestFoldingTable::strategiesComeInThePublishedOrder_data()
{
    QTest::addColumn<QString>("model");
    for (const auto &[model, mfu] : kPublished)
        QTest::newRow(model.c_str()) << QString::fromStdString(model);
}

void TestFoldingTable::strategiesComeInThePublishedOrder()
{
    QFETCH(QString, model);
    const std::string name = model.toStdString();
    const std::array<double, 5> &published = kPublished.at(name);
    std::array<std::optional<double>, 5> ours;
    for (std::size_t i = 0; i < 5; ++i) {
        const PlanPtr plan = planOf(name + ", " + kStrategies[i]);
        QCOMPARE(plan != nullptr, published[i] > 0);
        ours[i] = iteration(plan ? *plan : outOfMemory(kStrategies[i]));
        QVERIFY2(ours[i].has_value() == (published[i] > 0), kStrategies[i]);
    }
    for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t j = 0; j < 5; ++j)
            if (ours[i] && ours[j] && published[i] > published[j] * (1 + kTie))
                QVERIFY2(*ours[i] < *ours[j],
                    qPrintable(QStringLiteral("%1: %2 s, %3: %4 s")
                                   .arg(kStrategies[i])
                                   .arg(*ours[i])
                                   .arg(kStrategies[j])
                                   .arg(*ours[j])));
}

void TestFoldingTable::foldingIsFasterAtEveryNumberOfGpus()
{
    for (const int gpus : { 128, 256, 512, 1024 }) {
        const std::string rest = ", " + std::to_string(gpus) + " GPUs, batch 1024";
        const auto folded = iteration(*planOf("8x22B, folded" + rest)), whole = iteration(*planOf("8x22B, 5D" + rest));
        QVERIFY(folded && whole && *folded < *whole);
    }
}

void TestFoldingTable::moreGpusOnOneBatchUseThemLess()
{
    for (const char *model : { "8x22B", "Qwen2 57B", "G8T8" }) {
        double before = 0; // GPU seconds of the batch
        for (const int gpus : { 128, 256, 512, 1024 }) {
            const auto time =
                iteration(*planOf(std::string(model) + ", folded, " + std::to_string(gpus) + " GPUs, batch 1024"));
            QVERIFY(time && *time * gpus > before);
            before = *time * gpus;
        }
    }
}

TRAINYARD_APPLESS_TEST(TestFoldingTable)
#include "tst_folding_table.moc"
