// SPDX-License-Identifier: GPL-3.0-or-later
// What rules leave out: candidates that are the same as one that is kept, that run() refuses or calls infeasible, or
// that the plan's stack does not offer. None of them is a better plan than all that are kept.
#include "tests/core/planner/search/brute_force.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <map>
#include <set>
#include <thread>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Told by the stack, not by what is modelled: an evaluation takes them.
const std::set<std::string> kOfTheStack { "in a pipeline the stack shards optimizer states alone" };

SearchSpace spaceOf(Plan plan)
{
    auto space = makeSpace(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue());
    if (!space)
        qFatal("%s", toString(space.error().front()).c_str());
    return std::move(*space);
}

} // namespace

class TstRules : public QObject {
    Q_OBJECT

private slots:
    void whatIsLeftOutIsNoBetter()
    {
        std::map<std::string, int> better, seen;
        std::string example;
        EvaluationWorkspace workspace;
        for (unsigned seed = 1, problems = 0; problems < 25 && seed < 1000; ++seed) {
            const auto problem = randomProblem(seed, 300);
            if (!problem)
                continue;
            ++problems;
            const SpaceRules rules(problem->space, builtinCatalogue());
            const BruteForce kept(problem->space);
            const double fastest = kept.best(*problem, Objective::Throughput, { .memoryMargin = 0 }).value;
            for (std::uint64_t i = 0; i < problem->space.size(); ++i) {
                const Candidate candidate = problem->space.candidate(i);
                const std::string *why = rules.whyNot(candidate);
                if (!why || kOfTheStack.contains(*why))
                    continue;
                ++seen[*why];
                const Reference one = referenceOf(problem->space.plan(candidate), workspace);
                if (!one.isFeasible || one.value(Objective::Throughput) >= fastest * (1 - 1e-3))
                    continue;
                ++better[*why];
                example = "seed " + std::to_string(seed) + ", " + *why + ":";
                for (std::size_t a = 0; a < candidate.size(); ++a)
                    example += " " + problem->space.axes()[a].id + " "
                        + problem->space.axes()[a].values[candidate[a]].text + ";";
            }
        }
        for (const auto &[why, count] : seen)
            qInfo("%d of %d: %s", better[why], count, why.c_str());
        QVERIFY2(example.empty(), example.c_str());
        QVERIFY(seen.size() > 8);
    }

    /// visits after a stop = 0, wherever among the candidates it comes.
    void afterAStopNothingIsVisited()
    {
        const SearchSpace space = spaceOf(threeSites(2));
        const SpaceRules rules(space, builtinCatalogue());
        for (const int after : { 0, 1, 2, 100, 2'000 }) {
            std::stop_source stop;
            if (after == 0)
                stop.request_stop();
            std::vector<std::uint64_t> visited;
            const auto left = rules.forEach(
                [&](std::uint64_t number, const Candidate &) {
                    visited.push_back(number);
                    if (int(visited.size()) == after)
                        stop.request_stop();
                    return true;
                },
                stop.get_token());
            QCOMPARE(visited.size(), std::size_t(after));
            // what it tells is of those before: visited + left out = numbers up to the last one visited
            std::uint64_t seen = visited.size();
            for (const SpaceRules::LeftOut &one : left)
                seen += one.count;
            QCOMPARE(seen, visited.empty() ? 0 : visited.back() + 1);
        }
    }

    /// Where rules of the last axes leave out nearly all, the walk meets no candidate for long: a stop ends it there.
    void aStopEndsAWalkThatMeetsNothing()
    {
        constexpr std::uint64_t kAtLeast = 200'000'000;
        const Plan plan = oneSite(2, 4'096); // which is kept all the same
        std::vector<Axis> axes;
        for (int i = 0; i < 12; ++i) { // that no rule knows, before one whose only values break one
            axes.push_back({ "free" + std::to_string(i), {}, "Free", {}, 0 });
            for (int value = 0; value < 5; ++value)
                axes.back().values.push_back({ std::to_string(value), [](Plan &) {} });
        }
        axes.push_back({ "pipeline", { "parallelism.pipeline" }, "Pipeline",
            { { "4096", [](Plan &p) { p.parallelism.pipeline = 4096; } },
                { "8192", [](Plan &p) { p.parallelism.pipeline = 8192; } } },
            0 });
        const SearchSpace space(std::make_shared<const Plan>(plan), std::move(axes));
        QVERIFY(space.size() > kAtLeast);
        const SpaceRules rules(space, builtinCatalogue());
        std::stop_source stop;
        int visits = 0;
        const auto left = rules.forEach(
            [&](std::uint64_t, const Candidate &) {
                ++visits;
                stop.request_stop();
                return true;
            },
            stop.get_token());
        QCOMPARE(visits, 1); // the plan itself, the first
        std::uint64_t out = 0;
        for (const SpaceRules::LeftOut &one : left)
            out += one.count;
        QVERIFY(out < 2);
        // By another thread, while it goes through what is broken: it ends long before all that is.
        std::stop_source later;
        std::jthread asks([&] { later.request_stop(); });
        std::uint64_t broken = 0;
        for (const SpaceRules::LeftOut &one :
            rules.forEach([](std::uint64_t, const Candidate &) { return true; }, later.get_token()))
            broken += one.count;
        QVERIFY(broken < space.size() - 1);
    }
};

TRAINYARD_GUILESS_TEST(TstRules)
#include "tst_rules.moc"
