// SPDX-License-Identifier: GPL-3.0-or-later
// What rules leave out: candidates that are the same as one that is kept, that run() refuses or calls infeasible, or
// that the plan's stack does not offer. None of them is a better plan than all that are kept.
#include "tests/core/search/brute_force.h"

#include <QTest>

#include <map>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Told by the stack, not by what is modelled: an evaluation takes them.
const std::set<std::string> kOfTheStack { "in a pipeline the stack shards optimizer states alone" };

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
};

QTEST_GUILESS_MAIN(TstRules)
#include "tst_rules.moc"
