// SPDX-License-Identifier: GPL-3.0-or-later
// search-brute-force [PROBLEMS [MOST_PLANS [FIRST_SEED]]]: random problems of at most so many plans, each by every
// objective, against every combination through run(). A line each; ends with 1 where an answer was not the best.
// scripts/search-brute-force builds and runs it.
#include "tests/core/planner/search/brute_force.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace trainyard;
using namespace trainyard::test;

int main(int argc, char **argv)
{
    const int wanted = argc > 1 ? std::atoi(argv[1]) : 20;
    const auto most = std::uint64_t(argc > 2 ? std::atoll(argv[2]) : 10'000);
    const auto first = unsigned(argc > 3 ? std::atoi(argv[3]) : 1);
    int problems = 0, wrong = 0;
    std::printf("seed objective plans feasible simulated complete best found verdict seconds\n");
    for (unsigned seed = first; problems < wanted && seed < first + 100'000; ++seed) {
        const auto problem = randomProblem(seed, most);
        if (!problem)
            continue;
        ++problems;
        const BruteForce brute(problem->space);
        const auto feasible = std::ranges::count_if(brute.all, &Reference::isFeasible);
        for (unsigned of = 0; of < 5; ++of) {
            const auto objective = static_cast<Objective>(of);
            SearchOptions options { .objective = objective, .fixed = problem->fixed };
            options.constraints = constraintsFor(seed + of, brute);
            const auto begun = std::chrono::steady_clock::now();
            const auto found = search(problem->plan, builtinCatalogue(), options);
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
            if (!found) {
                std::printf("%u %s error: %s\n", seed, toString(objective), toString(found.error().front()).c_str());
                ++wrong;
                continue;
            }
            const Answer best = brute.best(*problem, objective, options.constraints);
            const double value =
                found->best.empty() ? std::numeric_limits<double>::infinity() : found->rows[found->best.front()].value;
            const bool isRight = found->isComplete ? areNear(value, best.value) : value >= best.value * (1 - 1e-9);
            wrong += !isRight;
            std::printf("%u %s %zu %td %llu %s %.9g %.9g %s %.2f%s\n", seed, toString(objective), brute.all.size(),
                feasible, static_cast<unsigned long long>(found->simulated), found->isComplete ? "yes" : "no",
                best.value, value, isRight ? "same" : "WRONG", seconds, isRight ? "" : (" best: " + best.text).c_str());
            std::fflush(stdout);
        }
    }
    std::printf("%d problems, %d answers that are not the best\n", problems, wrong);
    return wrong == 0 ? 0 : 1;
}
