// SPDX-License-Identifier: GPL-3.0-or-later
// How releases lie apart, on times made up of plans and releases.

#include "tests/support/test_program.h"
#include "tools/fits/release_fit.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

ReleaseTime timeOf(
    const std::string &plan, const std::string &release, double seconds, bool isMoe = false, double weight = 1)
{
    return { "s", release, plan, isMoe, std::log(seconds), weight };
}

/// Plans of 1, 3 and 7 s, each under every release.
std::vector<ReleaseTime> threePlans(const std::vector<std::pair<std::string, double>> &releases, bool isMoe = false)
{
    std::vector<ReleaseTime> times;
    for (const auto &[plan, seconds] : { std::pair { "a", 1.0 }, { "b", 3.0 }, { "e", 7.0 } })
        for (const auto &[release, factor] : releases)
            times.push_back(timeOf(plan, release, seconds * factor, isMoe));
    return times;
}

double timeOfRelease(const ReleaseFit &fit, const std::string &id)
{
    const auto found = std::ranges::find(fit.releases, id, &StackRelease::id);
    return found == fit.releases.end() ? 0 : found->dense;
}

ReleaseFit fitOf(
    const std::vector<ReleaseTime> &times, const std::vector<std::pair<std::string, std::string>> &known = {})
{
    const auto fits = fitReleases(times, known);
    return fits.size() == 1 ? fits[0] : ReleaseFit {};
}

bool isNear(double a, double b)
{
    return std::abs(a / b - 1) < 1e-9;
}

} // namespace

class TstReleaseFit : public QObject {
    Q_OBJECT

private slots:
    void aPlansOwnTimeIsNotItsReleases()
    {
        // Plans of 1, 3 and 7 s; 2.0 takes 0.95 of 1.0, whatever the plan. Relative to the mean of the rows, the root
        // of 0.95.
        const ReleaseFit fit = fitOf(threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "2.0", 0.95 }, { "2.1", 0.95 } }));
        QCOMPARE(fit.dense.ages, 2);
        QVERIFY(isNear(timeOfRelease(fit, "2.0") / timeOfRelease(fit, "1.0"), 0.95));
        QVERIFY(isNear(timeOfRelease(fit, "2.0") * timeOfRelease(fit, "1.0"), 1));
        QCOMPARE(fit.releases.front().densePlans, 3);
        QVERIFY(fit.dense.deviation < 1e-9);
    }

    void whatOnePlanAloneShowsCouldBeItsOwn()
    {
        auto times = threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "1.2", 1 } });
        times.push_back(timeOf("a", "2.0", 0.7));
        const ReleaseFit fit = fitOf(times);
        QCOMPARE(fit.dense.ages, 1);
        QCOMPARE(timeOfRelease(fit, "2.0"), 1.0);
        times.push_back(timeOf("b", "2.0", 3 * 0.7));
        QVERIFY(isNear(timeOfRelease(fitOf(times), "2.0") / timeOfRelease(fitOf(times), "1.0"), 0.7));
    }

    void releasesThatHardlyDifferAreOfOneAge()
    {
        // Within 1 % at 1.0 to 1.2, each plan another way, and at 2.0 30 % less.
        std::vector<ReleaseTime> times;
        for (const auto &[plan, seconds, wobble] :
            { std::tuple { "a", 1.0, 0.01 }, { "b", 3.0, -0.01 }, { "c", 7.0, 0.003 } })
            for (const auto &[release, factor] :
                { std::pair { "1.0", 1.0 }, { "1.1", 1 + wobble }, { "1.2", 1 - wobble }, { "2.0", 0.7 } })
                times.push_back(timeOf(plan, release, seconds * factor));
        const ReleaseFit fit = fitOf(times);
        QCOMPARE(fit.dense.ages, 2);
        QCOMPARE(timeOfRelease(fit, "1.0"), timeOfRelease(fit, "1.2"));
        QVERIFY(std::abs(timeOfRelease(fit, "2.0") / timeOfRelease(fit, "1.1") - 0.7) < 0.005);
    }

    void fewRowsThatScatterTellNothing()
    {
        // Half of the plans gain 8 %, half lose 2 %: with six rows that is no step.
        const ReleaseFit fit = fitOf({ timeOf("a", "1.0", 1), timeOf("a", "1.1", 0.92), timeOf("a", "2.0", 0.85),
            timeOf("b", "1.0", 3), timeOf("b", "1.1", 3.06), timeOf("b", "2.0", 3.0) });
        QCOMPARE(fit.dense.ages, 1);
        QCOMPARE(timeOfRelease(fit, "2.0"), 1.0);
    }

    void oneStepSeenOnOnePlanEachInTwoReleasesCounts()
    {
        // Nobody measured one plan under 2.0 and 2.1, but two plans tie them to what was before: they are of one age.
        auto times = threePlans({ { "1.0", 1 }, { "1.1", 1 } });
        times.push_back(timeOf("a", "2.0", 0.7));
        times.push_back(timeOf("b", "2.1", 2.1));
        const ReleaseFit fit = fitOf(times);
        QCOMPARE(fit.dense.ages, 2);
        QVERIFY(isNear(timeOfRelease(fit, "2.1") / timeOfRelease(fit, "1.0"), 0.7));
        QCOMPARE(fit.releases.back().densePlans, 1);
    }

    void aReleaseThatNoPlanTiesToOthersIsAsTheOneBeforeIt()
    {
        const ReleaseFit fit = fitOf(threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "2.0", 0.7 } }),
            { { "s", "0.9" }, { "s", "1.5" }, { "s", "2.1" } });
        QCOMPARE(fit.releases.size(), 6u);
        QCOMPARE(timeOfRelease(fit, "0.9"), timeOfRelease(fit, "1.0")); // none before: the oldest
        QCOMPARE(timeOfRelease(fit, "1.5"), timeOfRelease(fit, "1.1"));
        QCOMPARE(timeOfRelease(fit, "2.1"), timeOfRelease(fit, "2.0"));
        QCOMPARE(fit.releases[3].id, std::string("1.5"));
        QCOMPARE(fit.releases[3].densePlans, 0);
    }

    void modelsWithExpertsSayNothingOfThoseWithout()
    {
        auto times = threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "2.0", 0.5 } }, true);
        times.push_back(timeOf("c", "1.0", 2));
        times.push_back(timeOf("d", "2.0", 2));
        const ReleaseFit fit = fitOf(times);
        QCOMPARE(timeOfRelease(fit, "1.0"), 1.0);
        QCOMPARE(timeOfRelease(fit, "2.0"), 1.0);
        QVERIFY(isNear(fit.releases[2].experts / fit.releases[0].experts, 0.5));
    }

    void timesAreRelativeToWhereTheStackWasFitted()
    {
        // Near by the mean: of nine rows of weight 1 three lie 6 % lower, and one more of a plan of its own, of
        // weight 3.
        auto near = threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "2.0", 0.94 } });
        near.push_back(timeOf("c", "2.0", 11, false, 3));
        QVERIFY(isNear(timeOfRelease(fitOf(near), "1.0"), std::pow(0.94, -0.5))); // 6 of 12
        // Far away no further than the limit of 0.075: six rows stay, three pull by 0.075 each.
        const auto far = threePlans({ { "1.0", 1 }, { "1.1", 1 }, { "2.0", 0.5 } });
        QVERIFY(std::abs(timeOfRelease(fitOf(far), "1.0") - std::exp(3 * 0.075 / 6)) < 1e-6);
    }

    void releasesAreOrderedByTheirNumbers()
    {
        QVERIFY(isOlderRelease("25.11", "26.02"));
        QVERIFY(isOlderRelease("26.02", "26.02.01"));
        QVERIFY(isOlderRelease("26.02.01", "26.04"));
        QVERIFY(isOlderRelease("2.9", "2.10"));
        QVERIFY(!isOlderRelease("2.9", "2.9"));
    }

    void onlyRowsToFitToThatNameTheirReleaseCount()
    {
        const auto set = parseRows(R"({"format": "trainyard.validation", "version": 1, "source": "mine", "base": {
          "cluster": {"datacenters": [{"id": "a", "pools": [{"id": "p", "gpu": "a100-sxm-80gb", "nodes": 1}]}]},
          "workload": {"model": "gpt-3-1.3b", "sequence_length": 2048, "global_batch": 8}}, "rows": [
          {"id": "a", "role": "fit", "plan": {"stack": {"base": "megatron-core", "release": "1.0"}}, "published": {"tokens_per_s": 2}},
          {"id": "b", "role": "fit", "plan": {"stack": {"base": "megatron-core", "release": "2.0"}}, "status": "guessed", "published": {"tokens_per_s": 4}},
          {"id": "c", "role": "fit", "plan": {}, "published": {"tokens_per_s": 2}},
          {"id": "d", "role": "fit", "plan": {"stack": {"base": "megatron-core", "release": "1.0"}}, "published": {"memory.peak_bytes": 2}},
          {"id": "e", "plan": {"stack": {"base": "megatron-core", "release": "1.0"}}, "published": {"tokens_per_s": 2}}]})",
            "f.json");
        QVERIFY2(set, set ? "" : toString(set.error().front()).c_str());
        const auto times = releaseTimes(std::span(&*set, 1), builtinCatalogue());
        QCOMPARE(times.size(), 2u);
        QCOMPARE(times[0].plan, times[1].plan);
        QVERIFY(isNear(times[0].logTime - times[1].logTime, std::log(2))); // half the rate is twice the time
        QCOMPARE(times[1].weight, 0.25);
        QVERIFY(!times[0].isMoe);
    }

    void theCatalogueHoldsWhatTheRowsSay()
    {
        std::vector<std::pair<std::string, std::string>> known;
        for (const RowSet &set : builtinRows())
            for (const ValidationRow &row : set.rows)
                if (!row.plan->stack.release.empty())
                    known.emplace_back(row.plan->stack.name, row.plan->stack.release);
        for (const ReleaseFit &fit : fitReleases(releaseTimes(builtinRows(), builtinCatalogue()), known)) {
            const StackSpec *stack = builtinCatalogue().stack(fit.stack);
            QVERIFY(stack);
            QCOMPARE(stack->releases.size(), fit.releases.size());
            for (std::size_t i = 0; i < fit.releases.size(); ++i) {
                const StackRelease &was = stack->releases[i], &is = fit.releases[i];
                QVERIFY2(was.id == is.id && std::abs(was.dense - is.dense) < 1e-3
                        && std::abs(was.experts - is.experts) < 1e-3 && was.densePlans == is.densePlans
                        && was.expertPlans == is.expertPlans,
                    ("resources/catalog/stack_releases.json is stale for " + is.id + ": run scripts/fit").c_str());
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TstReleaseFit)
#include "tst_release_fit.moc"
