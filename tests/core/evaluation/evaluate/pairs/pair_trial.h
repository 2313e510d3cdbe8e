#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many random plans of one pair of systems, evaluated and checked, with how many of them had both at work. Plans that
// are refused say why and where; what is asked for and idle is said too.
//
//   PairTrial trial(System::Atlas, System::Prefill);
//   trial.run(500);
//   QVERIFY2(trial.findings().empty(), trial.findings().c_str());

#include "core/facts/plan/key_list.h"
#include "tests/core/evaluation/evaluate/pairs/conservation.h"
#include "tests/core/evaluation/evaluate/pairs/job_checks.h"
#include "tests/core/evaluation/evaluate/pairs/job_pair_plans.h"
#include "tests/core/evaluation/evaluate/pairs/pair_plans.h"
#include "tests/core/evaluation/evaluate/pairs/prefill_checks.h"

#include <QTest>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <tuple>

namespace trainyard::test {

/// How many plans of a pair, and the seed of the first; scripts/pairs asks for more and others.
inline unsigned wantedOf(const char *variable, unsigned otherwise)
{
    const char *asked = std::getenv(variable);
    return asked ? unsigned(std::strtoul(asked, nullptr, 10)) : otherwise;
}
inline unsigned plansOfPair()
{
    return wantedOf("TRAINYARD_PAIR_PLANS", 150);
}
inline unsigned firstSeedOfPair()
{
    return wantedOf("TRAINYARD_PAIR_SEED", 0);
}

/// A path of the plan file, or one above such: "wan", "cluster.datacenters[0].pools[1].host.memory_gib".
inline bool isKey(std::string where)
{
    for (std::size_t open; (open = where.find('[')) != std::string::npos;)
        where.replace(open, where.find(']', open) - open + 1, "\1\2");
    std::string path;
    for (const char c : where)
        path += c == '\1' ? '[' : c == '\2' ? ']' : c;
    if (path.empty())
        return false;
    if (path.ends_with("[]"))
        path.resize(path.size() - 2);
    return std::ranges::any_of(planKeys(), [&](const KeyRow &row) {
        return row.path.starts_with(path)
            && (row.path.size() == path.size() || row.path[path.size()] == '.' || row.path[path.size()] == '[');
    });
}

struct PairCounts {
    unsigned plans = 0;
    unsigned together = 0; // ran with both at work
    unsigned apart = 0; // ran, and said why one of them was idle
    unsigned tooLarge = 0; // evaluated: more memory than there is
    unsigned refused = 0; // cannot run for another reason
    unsigned errors = 0; // contradict themselves

    [[nodiscard]] std::string text() const
    {
        char line[200];
        std::snprintf(line, sizeof line,
            "%u plans: %u with both at work, %u with one idle, %u too large, %u refused, %u in error", plans, together,
            apart, tooLarge, refused, errors);
        return line;
    }
};

class PairTrial {
public:
    PairTrial(System a, System b)
        : m_a(a)
        , m_b(b)
    {
    }

    void run(unsigned plans, unsigned firstSeed = 0)
    {
        for (unsigned i = 0; i < plans; ++i)
            look(firstSeed + i);
    }

    [[nodiscard]] std::string findings() const { return m_findings.text(); }
    [[nodiscard]] const PairCounts &counts() const { return m_counts; }
    /// Why plans were refused or a system idle: how often each sentence.
    [[nodiscard]] const std::map<std::string, unsigned> &reasons() const { return m_reasons; }

private:
    void look(unsigned seed)
    {
        const unsigned own = seed + 100'000 * unsigned(int(m_a) * int(kSystems.size()) + int(m_b));
        const PlanPtr plan = std::make_shared<const Plan>(
            m_b == System::Jobs ? JobPairPlan(m_a, own).plan() : PairPlan(m_a, m_b, own).plan());
        ++m_counts.plans;
        const auto evaluation = trainyard::run(plan, Depth::Spans, { builtinCatalogue(), m_workspace });
        if (!evaluation) {
            ++m_counts.errors;
            for (const Error &error : evaluation.error()) {
                m_findings.expect(error.code != ErrorCode::Internal && isKey(error.where) && !error.what.empty(), seed,
                    "an error names a key and says why: " + toString(error));
                ++m_reasons["error: " + error.where + " " + error.what];
            }
            return;
        }
        const Evaluation &e = **evaluation;
        checkAgain(seed, e);
        for (const Problem &problem : e.problems) {
            m_findings.expect(!problem.text.empty() && (problem.where.empty() || isKey(problem.where)), seed,
                "a problem names a key: " + problem.where + ": " + problem.text);
            if (problem.severity == Severity::Blocking)
                m_findings.expect(!problem.where.empty(), seed, "what blocks a plan has a key: " + problem.text);
        }
        m_findings.expect(e.feasible() == std::ranges::none_of(e.problems, isBlocking), seed,
            "a plan that cannot run says why, and one that can does not");
        if (e.metrics.iterationTime)
            check(seed, e);
        if (e.metrics.jobs) {
            checkJobs(m_findings, seed, e);
            checkSchedule(m_findings, seed, plan, m_simulation);
            m_findings.expect(plan->wan == WanStrategy {} || says(e, "wan"), seed, "what jobs set aside is said");
        }
        if (seed % 5 == 0)
            checkDepths(seed, e);
        if (plan->bubbleFill.enabled && (e.metrics.iterationTime || e.metrics.jobs))
            checkWithoutPrefill(seed, e);
        count(seed, e);
    }

    static bool says(const Evaluation &e, const std::string &section)
    {
        return std::ranges::any_of(
            e.problems, [&](const Problem &problem) { return isOfSection(problem.where, section); });
    }
    static bool isBlocking(const Problem &problem) { return problem.severity == Severity::Blocking; }

    void count(unsigned seed, const Evaluation &e)
    {
        if (!e.feasible()) {
            const Feasibility &f = e.feasibility;
            const bool isTooLarge = !f.fitsGpus || !f.fitsHosts;
            ++(isTooLarge ? m_counts.tooLarge : m_counts.refused);
            if (!isTooLarge)
                for (const Problem &problem : e.problems)
                    if (isBlocking(problem))
                        ++m_reasons["refused: " + problem.where + " " + problem.text];
            return;
        }
        bool areBoth = true;
        for (const System system : { m_a, m_b }) {
            if (isAtWork(system, e))
                continue;
            areBoth = false;
            if (system == System::Experts && !hasJobs(*e.plan) && e.plan->moe == MoeStrategy {}
                && degreesOf(*e.plan).expertRanks() == 1)
                continue; // nothing was asked of them
            const auto says = std::ranges::find_if(
                e.problems, [&](const Problem &problem) { return isAbout(problem.where, system); });
            m_findings.expect(says != e.problems.end(), seed,
                std::string("what is asked for and idle is said: ") + toString(system) + " of " + toString(m_a)
                    + " with " + toString(m_b));
            if (says != e.problems.end())
                ++m_reasons[std::string("idle ") + toString(system) + ": " + says->where + " " + says->text];
        }
        ++(areBoth ? m_counts.together : m_counts.apart);
    }

    void check(unsigned seed, const Evaluation &e)
    {
        checkFinite(m_findings, seed, e.metrics);
        checkSums(m_findings, seed, e.metrics);
        checkShares(m_findings, seed, e.metrics);
        if (!e.plan->heterogeneity.isLayered()) // whose operations are those of layers
            checkSpans(m_findings, seed, e);
        checkGpus(m_findings, seed, e);
        checkUse(m_findings, seed, e);
        checkMemory(m_findings, seed, e);
        checkWan(m_findings, seed, e);
        checkOffload(m_findings, seed, e);
        checkSteps(m_findings, seed, e);
        if (e.metrics.experts)
            checkExperts(m_findings, seed, e);
    }

    void checkWithoutPrefill(unsigned seed, const Evaluation &e)
    {
        Plan without = *e.plan;
        without.bubbleFill.enabled = false;
        const auto alone = trainyard::run(
            std::make_shared<const Plan>(std::move(without)), Depth::Spans, { builtinCatalogue(), m_workspace });
        m_findings.expect(alone.has_value(), seed, "a plan evaluates without its prefill too");
        if (alone)
            checkNoDelay(m_findings, seed, e, **alone);
    }

    /// What a glance says holds where it is looked at closely: what fits can run, and memory is no more than was
    /// feared.
    void checkDepths(unsigned seed, const Evaluation &e)
    {
        const auto at = [&](Depth depth) { return trainyard::run(e.plan, depth, { builtinCatalogue(), m_workspace }); };
        const auto score = at(Depth::Score), fit = at(Depth::Fit), rough = at(Depth::Estimate);
        m_findings.expect(score && fit && rough, seed, "a plan that evaluates does so at any depth");
        if (!score || !fit || !rough)
            return;
        m_findings.expect((*score)->metrics.iterationTime == e.metrics.iterationTime
                && (*score)->feasibility == e.feasibility && (*score)->problems.size() == e.problems.size(),
            seed, "spans change no answer");
        m_findings.expect(!(*fit)->feasible() || e.feasible() || hasJobs(*e.plan), seed, "what fits can run");
        if (!(*rough)->metrics.memory || !e.metrics.memory || (*rough)->layout.classes != e.layout.classes
            || e.plan->heterogeneity != Heterogeneity {}) // bounds count with even shares
            return;
        const auto &most = (*rough)->metrics.memory->perStage, &counted = e.metrics.memory->perStage;
        for (std::size_t stage = 0; stage < std::min(most.size(), counted.size()); ++stage)
            m_findings.expect(most[stage].device + 1000 >= counted[stage].device, seed,
                "an estimate bounds the memory: " + differ(double(most[stage].device), double(counted[stage].device)));
    }

    /// The same plan in a workspace of its own: the same numbers and spans.
    void checkAgain(unsigned seed, const Evaluation &e)
    {
        EvaluationWorkspace fresh;
        const auto again = trainyard::run(e.plan, Depth::Spans, { builtinCatalogue(), fresh });
        m_findings.expect(again && numbersOf(**again) == numbersOf(e) && (*again)->timeline.start == e.timeline.start
                && (*again)->timeline.end == e.timeline.end,
            seed, "the same plan gives the same bits");
    }

    System m_a, m_b;
    EvaluationWorkspace m_workspace;
    SimulationWorkspace m_simulation;
    Findings m_findings;
    PairCounts m_counts;
    std::map<std::string, unsigned> m_reasons;
};

/// Columns and rows of theTwoGetAlong(): the name of a pair, and its systems.
inline void addPairs(std::initializer_list<std::tuple<const char *, System, System>> pairs)
{
    QTest::addColumn<int>("a");
    QTest::addColumn<int>("b");
    for (const auto &[name, a, b] : pairs)
        QTest::newRow(name) << int(a) << int(b);
}

/// Of the row: nothing is wrong with any plan, and most have both systems at work.
inline void checkPair()
{
    QFETCH(int, a);
    QFETCH(int, b);
    PairTrial trial { System(a), System(b) };
    trial.run(plansOfPair(), firstSeedOfPair());
    qInfo("%s", trial.counts().text().c_str());
    QVERIFY2(trial.findings().empty(), trial.findings().c_str());
    QVERIFY2(2 * trial.counts().together > trial.counts().plans, "most plans must have both at work");
}

} // namespace trainyard::test
