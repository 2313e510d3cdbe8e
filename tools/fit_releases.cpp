// SPDX-License-Identifier: GPL-3.0-or-later
// How far the releases of a stack lie apart in time, from the published rows of equal plans under several releases
// whose role is "fit". Writes stack_releases.json; which other releases rows name, it lists too.
// tools/fits/release_fit.h has the method.
//
//   fit-releases OUT/stack_releases.json [DATE]

#include "tools/fits/release_fit.h"
#include "tools/today.h"

#include <cstdio>
#include <fstream>
#include <iostream>

using namespace trainyard;

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        std::cerr << "usage: fit-releases resources/catalog/stack_releases.json [DATE]\n";
        return 2;
    }
    std::vector<std::pair<std::string, std::string>> known;
    for (const RowSet &set : builtinRows()) {
        for (const ValidationRow &row : set.rows) {
            if (!row.plan->stack.release.empty())
                known.emplace_back(row.plan->stack.name, row.plan->stack.release);
        }
    }
    const std::vector<ReleaseFit> fits = fitReleases(releaseTimes(builtinRows(), builtinCatalogue()), known);
    for (const ReleaseFit &fit : fits) {
        std::printf("%s: dense models %d rows, %d plans, %d ages, %.3f left; with experts %d rows, %d plans, %d ages, "
                    "%.3f left\n",
            fit.stack.c_str(), fit.dense.rows, fit.dense.plans, fit.dense.ages, fit.dense.deviation, fit.experts.rows,
            fit.experts.plans, fit.experts.ages, fit.experts.deviation);
        for (const StackRelease &r : fit.releases)
            std::printf("  %-10s dense %.3f (%d plans)  experts %.3f (%d plans)\n", r.id.c_str(), r.dense, r.densePlans,
                r.experts, r.expertPlans);
    }
    const std::string path = argv[1], partial = path + ".part";
    {
        std::ofstream out(partial);
        out << releasesJson(fits, argc > 2 ? argv[2] : today());
        if (!out) {
            std::cerr << partial << " cannot be written\n";
            return 1;
        }
    }
    return std::rename(partial.c_str(), path.c_str()) == 0 ? 0 : 1;
}
