// SPDX-License-Identifier: GPL-3.0-or-later
// The planner against brute force: the best of every combination of small spaces, by each objective and under
// constraints, in several worlds and of jobs, is what the search finds, and no answer breaks a constraint.
#include "core/facts/plan/plan_io.h"
#include "tests/core/planner/search/brute_force.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QTest>

#include <algorithm>
#include <array>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const unsigned kProblems = unsigned(trials(10)), kLimited = unsigned(trials(3)), kInWorlds = unsigned(trials(3));
constexpr unsigned kMostSeeds = 100'000; // of which one in many is a problem
constexpr std::uint64_t kMostPlans = 1'000, kMostInWorlds = 150;
constexpr std::array kAll { Objective::Throughput, Objective::Cost, Objective::Energy, Objective::Time,
    Objective::Gpus };

struct Tally {
    unsigned searches = 0, feasible = 0;
    std::uint64_t plans = 0, simulated = 0;
};

SearchResult completed(const PlanPtr &plan, const SearchOptions &options)
{
    auto found = search(plan, builtinCatalogue(), options);
    if (!found)
        qFatal("%s", toString(found.error().front()).c_str());
    if (!found->isComplete)
        qFatal("%s", found->summary.c_str());
    return std::move(*found);
}

/// min over all candidates that keep the constraints of the objective's value = the answer's; or what is wrong
std::string compared(
    const SmallProblem &problem, const BruteForce &brute, Objective objective, Constraints constraints, Tally &tally)
{
    SearchOptions options { .objective = objective, .fixed = problem.fixed };
    constraints.datacenters = problem.datacenters;
    options.constraints = constraints;
    const SearchResult found = completed(problem.plan, options);
    ++tally.searches;
    tally.simulated += found.simulated;
    const Answer best = brute.best(problem, objective, constraints);
    const std::string where = std::string(toString(objective)) + ": " + found.summary + "; brute force "
        + std::to_string(best.value) + ": " + best.text;
    if (found.best.empty() || !std::isfinite(best.value))
        return found.best.empty() == !std::isfinite(best.value) ? std::string() : where;
    ++tally.feasible;
    const SearchRow &row = found.rows[found.best.front()];
    EvaluationWorkspace workspace;
    const bool keeps = referenceOf(found.plan(found.best.front()), workspace, OpenReplicas::Fastest)
                           .keeps(constraints, brute.margin(problem, constraints));
    return keeps && areNear(row.value, best.value) ? std::string() : where + ", found " + std::to_string(row.value);
}

/// A candidate's value over its own world and the scenarios, by the definition; infinite where it is out.
/// A candidate's number of replicas is that of its own world in all of them; the plan that was asked about has the
/// fastest in each.
double valueInWorlds(const PlanPtr &plan, bool isOwn, const std::vector<Scenario> &scenarios, Robustness robustness,
    double margin, EvaluationWorkspace &workspace)
{
    constexpr double kOut = std::numeric_limits<double>::infinity();
    const Reference own = referenceOf(plan, workspace, isOwn ? OpenReplicas::Fastest : OpenReplicas::Most);
    if (!own.keeps({}, margin))
        return kOut;
    double worst = own.value(Objective::Throughput), sum = worst, ran = 1, all = 1;
    for (const Scenario &scenario : scenarios) {
        all += scenario.weight;
        const auto there = inScenario(isOwn ? plan : withReplicas(plan, own.data), scenario);
        const Reference in = there ? referenceOf(*there, workspace, OpenReplicas::Fastest) : Reference {};
        if (robustness == Robustness::WorstCase && !in.keeps({}, margin))
            return kOut;
        if (!in.isFeasible)
            continue;
        worst = std::max(worst, in.value(Objective::Throughput));
        sum += scenario.weight * in.value(Objective::Throughput);
        ran += scenario.weight;
    }
    return robustness == Robustness::WorstCase ? worst : sum / ran / (ran / all);
}

} // namespace

class TstSearchBruteForce : public QObject {
    Q_OBJECT

private slots:
    void theAnswerIsTheBestOfAllCombinations()
    {
        unsigned problems = 0;
        Tally tally;
        for (unsigned seed = 1; problems < kProblems && seed < kMostSeeds; ++seed) {
            const auto problem = randomProblem(seed, kMostPlans);
            if (!problem)
                continue;
            const unsigned turn = problems++;
            const BruteForce brute(problem->space);
            tally.plans += brute.all.size();
            for (unsigned of = 0; of < kAll.size(); ++of) {
                const std::string wrong =
                    compared(*problem, brute, kAll[of], constraintsFor(turn + 2 * of, brute), tally);
                QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ", " + wrong).c_str());
            }
        }
        QCOMPARE(problems, kProblems);
        QVERIFY(tally.feasible > 2 * kProblems);
        qInfo("%llu plans, %llu simulated in %u searches, %u with an answer",
            static_cast<unsigned long long>(tally.plans), static_cast<unsigned long long>(tally.simulated),
            tally.searches, tally.feasible);
    }

    void soItIsWhereDatacentersAreLimited()
    {
        unsigned problems = 0;
        Tally tally;
        for (unsigned seed = 1; problems < kLimited && seed < kMostSeeds; ++seed) {
            const auto problem = randomProblem(seed, kMostPlans, true);
            if (!problem || problem->space.axis("placement") < 0)
                continue;
            ++problems;
            const BruteForce brute(problem->space);
            for (const Objective objective : kAll) {
                const std::string wrong = compared(*problem, brute, objective, {}, tally);
                QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ", " + wrong).c_str());
            }
        }
        QCOMPARE(problems, kLimited);
        QVERIFY(tally.feasible > 0);
    }

    /// min over all candidates of the largest value, or of the mean by weight over the worlds where they run divided by
    /// their share of all weights
    void soItIsInSeveralWorlds()
    {
        unsigned problems = 0, feasible = 0;
        EvaluationWorkspace workspace;
        for (unsigned seed = 1; problems < kInWorlds && seed < kMostSeeds; ++seed) {
            const auto problem = randomProblem(seed, kMostInWorlds);
            if (!problem)
                continue;
            std::vector<Scenario> scenarios;
            for (const NamedScenario &one : namedScenarios(*problem->plan, builtinCatalogue()))
                if (!one.scenario.isSlowEnd && one.scenario.settings.size() + one.scenario.lostDatacenter.size() > 0
                    && scenarios.size() < 2 && !one.text.starts_with("prices"))
                    scenarios.push_back(one.scenario);
            if (scenarios.empty())
                continue;
            scenarios.front().weight = 0.5;
            ++problems;
            const BruteForce brute(problem->space);
            const SpaceRules rules(problem->space, builtinCatalogue());
            for (const Robustness robustness : { Robustness::WorstCase, Robustness::Expectation }) {
                double best = std::numeric_limits<double>::infinity();
                for (std::uint64_t i = 0; i < problem->space.size(); ++i)
                    if (brute.all[i].isFeasible)
                        best = std::min(best,
                            valueInWorlds(problem->space.plan(problem->space.candidate(i)),
                                problem->space.candidate(i) == problem->space.baseCandidate(), scenarios, robustness,
                                brute.margin(*problem, {}), workspace));
                SearchOptions options { .fixed = problem->fixed, .scenarios = scenarios, .robustness = robustness };
                const SearchResult found = completed(problem->plan, options);
                const double value =
                    found.best.empty() ? std::numeric_limits<double>::infinity() : found.rows[found.best.front()].value;
                QVERIFY2(areNear(value, best),
                    ("seed " + std::to_string(seed) + ": " + found.summary + "; brute force " + std::to_string(best)
                        + ", found " + std::to_string(value))
                        .c_str());
                feasible += std::isfinite(best);
            }
        }
        QCOMPARE(problems, kInWorlds);
        QVERIFY(feasible > kInWorlds / 2);
    }

    /// min over all candidates that run every job of the makespan, or of the GPUs on which a job ran and then it, = the
    /// answer's
    void soItIsOfJobs()
    {
        for (const char *name : { "hydra-lab", "all-systems-jobs" }) {
            auto read = readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + name + ".trainyard.json");
            QVERIFY(read);
            const auto plan = std::make_shared<const Plan>(std::move(*read));
            const auto space = makeSpace(plan, builtinCatalogue());
            QVERIFY(space && space->size() <= kMostPlans);
            const SpaceRules rules(*space, builtinCatalogue());
            EvaluationWorkspace workspace;
            double shortest = std::numeric_limits<double>::infinity();
            std::pair fewest { std::numeric_limits<int>::max(), shortest };
            for (std::uint64_t i = 0; i < space->size(); ++i) {
                const Candidate candidate = space->candidate(i);
                if (rules.whyNot(candidate))
                    continue;
                const auto evaluation = run(space->plan(candidate), Depth::Score, { builtinCatalogue(), workspace });
                if (!evaluation || !(*evaluation)->feasible())
                    continue;
                const Metrics &metrics = (*evaluation)->metrics;
                const auto isLeftOut = [](const JobResult &job) { return job.state == JobState::CannotRun; };
                if (std::ranges::any_of(metrics.jobs->perJob, isLeftOut)) // fewer jobs are no answer
                    continue;
                shortest = std::min(shortest, *metrics.jobs->makespan);
                fewest = std::min(fewest, { metrics.gpusUsed, *metrics.jobs->makespan });
            }
            for (const Objective objective : { Objective::Throughput, Objective::Time, Objective::Gpus }) {
                const SearchResult found =
                    completed(plan, { .objective = objective, .constraints = { .memoryMargin = 0 } });
                QVERIFY(!found.best.empty());
                const SearchRow &row = found.rows[found.best.front()];
                const double best = objective == Objective::Gpus ? fewest.second : shortest;
                QVERIFY2(areNear(row.seconds, best),
                    (std::string(name) + ", " + toString(objective) + ": " + std::to_string(row.seconds)
                        + ", brute force " + std::to_string(best))
                        .c_str());
                if (objective == Objective::Gpus)
                    QCOMPARE(row.gpus, fewest.first);
            }
        }
    }
};

TRAINYARD_GUILESS_TEST(TstSearchBruteForce)
#include "tst_search_brute_force.moc"
