// SPDX-License-Identifier: GPL-3.0-or-later
// Quitting while hundreds of plans of a thousand datacenters wait to be tried: what is under way ends, nothing begins.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/evaluation/advice/run_pool.h"
#include "tests/support/plans.h"

#include <array>
#include <atomic>
#include <optional>

using namespace trainyard;

namespace {

/// A chain of datacenters of four types of GPUs in turn.
PlanPtr thousandDatacenters()
{
    static constexpr std::array kGpus { "a100-sxm-80gb", "h100-sxm-80gb", "v100-sxm-32gb", "a100-sxm-40gb" };
    Plan plan = test::oneSite(1, 8);
    plan.cluster.datacenters.clear();
    for (std::size_t d = 0; d < 1000; ++d) {
        plan.cluster.datacenters.push_back(test::site("dc" + std::to_string(d), 1 + int(d % 3), kGpus[d % 4]));
        if (d > 0)
            plan.cluster.wanLinks.push_back(
                test::wanLink("dc" + std::to_string(d - 1), "dc" + std::to_string(d), double(20 + d % 30)));
    }
    return std::make_shared<const Plan>(std::move(plan));
}

} // namespace

class ManyDatacentersTest : public QObject {
    Q_OBJECT

private slots:
    void closingBeginsNoFurtherEvaluation()
    {
        std::atomic<std::size_t> begun = 0, begunAfterClosing = 0, ended = 0;
        std::atomic<bool> isClosing = false;
        const auto counted = [&](PlanPtr plan, const Catalogue &catalogue, EvaluationWorkspace &workspace,
                                 std::stop_token stop, Depth depth) {
            ++begun;
            begunAfterClosing += isClosing;
            auto answer = run(
                std::move(plan), depth, { .catalogue = catalogue, .workspace = workspace, .stop = std::move(stop) });
            ++ended;
            return answer;
        };
        IsolatedSettings settings;
        SetAnswers answers;
        PlanDocument document { std::make_shared<const Plan>(), {} };
        EvaluationBridge bridge { builtinCatalogue() };
        std::optional<StrategyEffects> effects(std::in_place, builtinCatalogue(), counted);
        RecentFiles recent;
        std::optional<MainWindow> window(
            std::in_place, WindowModels { document, bridge, *effects, builtinCatalogue() }, recent, answers);
        window->resize(1280, 720);
        window->show();
        document.startNew(thousandDatacenters());
        QVERIFY(test::until([&] { return bridge.evaluation() && bridge.evaluation()->plan == document.plan(); }));
        QCOMPARE(bridge.evaluation()->plan->cluster.datacenters.size(), std::size_t(1000));
        // The plan itself, then strategies and better parts: some of them under way, most of them waiting.
        QVERIFY(test::until([&] { return begun >= 4; }));

        isClosing = true;
        QVERIFY(window->close());
        QVERIFY(!window->isVisible());
        window.reset();
        effects.reset();
        // Each thread may have been about to begin one; none is left behind.
        const std::size_t threads = RunPool::shared().threads().threads();
        QVERIFY2(begunAfterClosing <= threads, qPrintable(QString::number(begunAfterClosing.load())));
        QCOMPARE(ended.load(), begun.load());
    }
};

TRAINYARD_TEST(ManyDatacentersTest)
#include "tst_many_datacenters.moc"
