// SPDX-License-Identifier: GPL-3.0-or-later
// Choices of planners as plans: what the evaluator places is what was chosen, or the plan says what it is not.

#include "core/planner/rivals/planners.h"
#include "tests/core/planner/rivals/cases.h"
#include "tests/support/test_program.h"

#include <map>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Replicas by stage, datacenter, GPU and tensor degree.
using Seats = std::map<std::tuple<int, int, std::string, int>, int>;

Seats seatsOf(const rivals::Choice &choice, const rivals::PlannerInput &input)
{
    Seats seats;
    for (std::size_t i = 0; i < choice.stages.size(); ++i)
        for (const rivals::Replicas &r : choice.stages[i].replicas)
            seats[{ int(i), input.sites[std::size_t(r.site)].datacenter, input.kindOf(r.site).gpu, r.tensor }] +=
                r.count;
    return seats;
}

Seats seatsOf(const Evaluation &evaluation)
{
    Seats seats;
    for (const PipelineClass &pipelines : evaluation.layout.classes) {
        for (std::size_t i = 0; i < pipelines.locations.size(); ++i) {
            const StageLocation at = pipelines.locations[i];
            const Pool &pool =
                evaluation.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)];
            const int tensor = at.tensor > 0 ? at.tensor : evaluation.plan->parallelism.tensor;
            seats[{ int(i), at.datacenter, pool.gpu, tensor }] += pipelines.pipelines;
        }
    }
    return seats;
}

} // namespace

class TstExpress : public QObject {
    Q_OBJECT

private slots:
    void whatIsExpressedWholeIsPlacedSo()
    {
        int whole = 0, near = 0;
        EvaluationWorkspace workspace;
        for (unsigned seed = 0; seed < 20; ++seed) {
            const PlanPtr plan = randomMixed(seed);
            const auto input = rivals::plannerInputOf(plan, builtinCatalogue());
            QVERIFY(input);
            for (const rivals::Ranking &ranking :
                { byAmp(*input), byMetis(*input), byFlashFlex(*input), bySailor(*input) }) {
                for (std::size_t i = 0; i < ranking.choices.size(); i += 1 + ranking.choices.size() / 6) {
                    const rivals::Choice &choice = ranking.choices[i];
                    const rivals::ChoiceAsPlan made = choiceToPlan(choice, *input, plan);
                    QVERIFY(made.plan);
                    const auto evaluation = run(made.plan, Depth::Fit, { builtinCatalogue(), workspace });
                    QVERIFY2(evaluation, evaluation ? "" : toString(evaluation.error().front()).c_str());
                    if (!made.lost.empty() || choice.isBalanced) {
                        ++near;
                        continue;
                    }
                    if ((*evaluation)->layout.data == 0)
                        continue; // links or memory: the evaluator says no
                    ++whole;
                    const Seats chosen = seatsOf(choice, *input), placed = seatsOf(**evaluation);
                    if (chosen != placed)
                        for (const auto &[which, seats] : { std::pair("chosen", chosen), std::pair("placed", placed) })
                            for (const auto &[at, count] : seats)
                                qInfo("%s: stage %d, datacenter %d, %s, tensor %d: %d", which, std::get<0>(at),
                                    std::get<1>(at), std::get<2>(at).c_str(), std::get<3>(at), count);
                    QVERIFY2(chosen == placed,
                        qPrintable(QStringLiteral("seed %1, %2, choice %3")
                                       .arg(seed)
                                       .arg(QString::fromStdString(shapeOf(*made.plan)))
                                       .arg(i)));
                    QCOMPARE((*evaluation)->layout.gpusUsed, gpusOf(choice));
                }
            }
        }
        qInfo("%d expressed whole, %d nearly", whole, near);
        QVERIFY(whole > 100 && near > 5);
    }

    void machinesThatAChoiceLeavesOutAreNotThere()
    {
        const PlanPtr plan = rivalCase("two-zones");
        QVERIFY(plan);
        const auto input = rivals::plannerInputOf(plan, builtinCatalogue());
        QVERIFY(input);
        QCOMPARE(input->sites.size(), std::size_t(4));
        rivals::Choice choice { 2, 8 };
        choice.stages = { { 24, { { 3, 4, 8 } } } }; // 32 GPUs: 8 machines of the last pool
        const rivals::ChoiceAsPlan made = choiceToPlan(choice, *input, plan);
        QCOMPARE(made.plan->cluster.gpus(), 32);
        QCOMPARE(made.plan->cluster.datacenters[1].pools.front().id, std::string("us-central1-b-v100"));
        QVERIFY(made.lost.empty());
    }
};

TRAINYARD_APPLESS_TEST(TstExpress)
#include "tst_choice_to_plan.moc"
