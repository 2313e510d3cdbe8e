// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published cases: no rival's plan is better than that of our search, and docs/planner-rivals.md has the table
// that comes out. TRAINYARD_WRITE_PAGE=1 writes it there.

#include "core/base/words.h"
#include "tests/core/planner/rivals/cases.h"
#include "tests/core/planner/rivals/decisions.h"
#include "tests/support/test_program.h"

#include <cstdlib>
#include <cstring>

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char *kBegin = "<!-- rivals: begin -->\n", *kEnd = "<!-- rivals: end -->";

struct Case {
    const char *file, *title;
    RivalWishes wishes;
};

std::vector<Case> cases()
{
    return { { "a100-v100", "128 A100 and 384 V100 in one zone, least time", {} },
        { "five-zones", "128 A100 in each of five zones, least time", {} },
        { "two-zones", "128 A100 and 128 V100 in each of two zones, least time at 1.20 USD an iteration",
            { .mostUsd = 1.2 } },
        { "two-zones", "The same, least cost at 0.2 iterations a second", { .wantsCheap = true, .mostSeconds = 5 } },
        { "five-zones", "128 A100 in each of five zones, least cost at 0.2 iterations a second",
            { .wantsCheap = true, .mostSeconds = 5 } } };
}

std::string row(const char *who, const Evaluation &evaluation, double predicted, std::size_t looked)
{
    const Plan &plan = *evaluation.plan;
    std::string degrees;
    for (const RankPin &pin : plan.heterogeneity.assign)
        degrees += pin.tensor ? ", " + pin.pool + " " + std::to_string(*pin.tensor) : "";
    const char *place = evaluation.layout.mode == PlacementMode::DataAcross ? "whole pipelines" : "stages";
    return formatted("| %s | %d%s | %d | %d | %d | %s | %d | %s | %.3f | %.3f | %s |\n", who, plan.parallelism.tensor,
        degrees.c_str(), plan.parallelism.pipeline, evaluation.layout.data, plan.workload.microBatch, place,
        evaluation.layout.gpusUsed, predicted > 0 ? formatted("%.3f", predicted).c_str() : "",
        *evaluation.metrics.iterationTime, usedUsd(evaluation, builtinCatalogue()),
        plainNumber(double(looked)).c_str());
}

std::string page()
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/planner-rivals.md"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

} // namespace

class TstPage : public QObject {
    Q_OBJECT

private slots:
    void noRivalIsBetterOnSailorsCases()
    {
        std::string table;
        for (const Case &one : cases()) {
            const PlanPtr plan = rivalCase(one.file);
            QVERIFY(plan);
            table += std::string("**") + one.title
                + "**\n\n| planner | tensor | stages | replicas | micro-batch | across zones | GPUs | s, its own "
                  "formula "
                  "| s | USD | looked at |\n|---|---|---|---|---|---|---|---|---|---|---|\n";
            const auto found = search(plan, builtinCatalogue(), sailorsDecisions(*plan, one.wishes));
            QVERIFY(found && !found->best.empty());
            EvaluationWorkspace workspace;
            const auto ours = run(found->plan(found->best.front()), Depth::Score,
                { .catalogue = builtinCatalogue(), .workspace = workspace });
            QVERIFY(ours && (*ours)->feasible());
            const double seconds = *(*ours)->metrics.iterationTime, usd = usedUsd(**ours, builtinCatalogue());
            QVERIFY(seconds <= one.wishes.mostSeconds.value_or(seconds));
            QVERIFY(usd <= one.wishes.mostUsd.value_or(usd));
            table += row("**ours**", **ours, 0, found->scored);
            for (const Rival rival : kRivals) {
                const RivalAnswer answer = planBy(rival, plan, builtinCatalogue(), {}, one.wishes);
                if (!answer.plan) {
                    table += formatted("| %s | %s ||||||||||\n", toString(rival), answer.why.c_str());
                    continue;
                }
                table += row(toString(rival), *answer.evaluation, answer.predictedSeconds, answer.looked);
                const double theirs = one.wishes.wantsCheap ? usedUsd(*answer.evaluation, builtinCatalogue())
                                                            : *answer.evaluation->metrics.iterationTime;
                QVERIFY2((one.wishes.wantsCheap ? usd : seconds) <= theirs * (1 + 1e-9),
                    qPrintable(QStringLiteral("%1: %2 against %3 of %4")
                                   .arg(QLatin1String(one.title))
                                   .arg(one.wishes.wantsCheap ? usd : seconds)
                                   .arg(theirs)
                                   .arg(QLatin1String(toString(rival)))));
            }
            table += "\n";
        }
        const std::string text = page();
        const auto begin = text.find(kBegin), end = text.find(kEnd);
        QVERIFY(begin != std::string::npos && end != std::string::npos);
        const std::string there = text.substr(begin + std::strlen(kBegin), end - begin - std::strlen(kBegin));
        if (std::getenv("TRAINYARD_WRITE_PAGE")) {
            QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/planner-rivals.md"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            const std::string made = text.substr(0, begin) + kBegin + table + text.substr(end);
            QCOMPARE(file.write(made.data(), qint64(made.size())), qint64(made.size()));
            return;
        }
        QCOMPARE(QString::fromStdString(there), QString::fromStdString(table));
    }
};

TRAINYARD_APPLESS_TEST(TstPage)
#include "tst_page.moc"
